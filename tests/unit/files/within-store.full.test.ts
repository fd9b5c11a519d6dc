/** A store in which users' files are found too is a store as any. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { BareMemoryStore, MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactStore } from "../../../web/src/artifacts/store.js";
import { UserFiles } from "../../../web/src/files/user-files.js";
import { listed } from "../artifacts/bytes.js";
import { describeStore, type OpenSubject } from "../artifacts/store-contract.js";
import { emptyFolder } from "../../support/folder.js";

/** As a source's store is; whoever the contract stands for has a file with a content that it puts too. */
async function within(store: ArtifactStore): Promise<ArtifactStore> {
  const userFiles = new UserFiles({ store: new BareMemoryStore() });
  for (const user_id of ["ada", '","']) await userFiles.storage({ user_id }).put("x.txt", "x");
  return userFiles.within(store, "lab");
}

const inMemory: OpenSubject = async (options = {}) => {
  const store = new BareMemoryStore(options);
  return {
    store: await within(store),
    contents: async () => new Set((await listed(store.list())).map(({ sha256 }) => sha256)).size,
    dispose: async () => undefined,
  };
};

const inFolder: OpenSubject = async (options = {}) => {
  const root = await emptyFolder();
  const store = new FileArtifactStore(join(root, "store"), options);
  return {
    store: await within(store),
    contents: async () => new Set((await listed(store.list())).map(({ sha256 }) => sha256)).size,
    dispose: async () => undefined,
  };
};

describeStore("UserFilesView over memory", inMemory);
describeStore("UserFilesView over a folder", inFolder);

test("users' files are read there, and neither listed, changed nor deleted", async () => {
  const [files, own] = [new BareMemoryStore(), new BareMemoryStore()];
  const ada = { user_id: "ada", session_id: "s1" };
  const userFiles = new UserFiles({ store: files });
  const { id } = await userFiles.storage(ada).put("a.txt", "x");
  const store = userFiles.within(own, "lab");
  expect(new TextDecoder().decode((await store.get(id, ada)) ?? undefined)).toBe("x");
  expect(await store.stat(id, ada)).toMatchObject({ id, namespace: "lab", scope: ada, filename: "a.txt" });
  expect(await listed(store.list(ada))).toEqual([]);
  expect(await store.update(id, { filename: "b.txt" }, ada)).toBeNull();
  expect(await store.delete(id, ada)).toBe(false);
  expect(await userFiles.storage(ada).find("a.txt")).toMatchObject({ id });
});

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
