/** A store in which users' files are found too. */
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { UserFiles } from "../../../web/src/files/user-files.js";

test("a scope that is none is refused with its path, for a file's id too", async () => {
  const files = new UserFiles({ store: new MemoryArtifactStore() });
  const { id } = await files.storage({ user_id: "ada" }).put("a.txt", "x");
  const store = files.within(new MemoryArtifactStore(), "lab");
  for (const [scope, path] of [
    [null, "scope"],
    [{ user_id: 7 }, "scope.user_id"],
    [{ user_id: "ada", user: "ada" }, "scope.user"],
  ] as const) {
    await expect(store.stat(id, scope as never)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT", path });
  }
});

test("where the scope does not say whose files, there are none, as there is no artifact", async () => {
  const files = new UserFiles({ store: new MemoryArtifactStore(), persist_files_across_sessions: false });
  const { id } = await files.storage({ user_id: "ada", session_id: "s1" }).put("a.txt", "x");
  const store = files.within(new MemoryArtifactStore(), "lab");
  expect(await store.exists(id, { user_id: "ada", session_id: "s1" })).toBe(true);
  for (const scope of [{}, { user_id: "" }, { user_id: "ada" }, { session_id: "s1" }]) {
    expect(await store.get(id, scope)).toBeNull();
    expect(await store.stat(id, scope)).toBeNull();
    expect(await store.openReader(id, { scope })).toBeNull();
    expect(await store.exists(id, scope)).toBe(false);
  }
});
