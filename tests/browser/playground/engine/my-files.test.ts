import { MemoryArtifactStore } from "mcp-sluice";
import { UserStorage } from "mcp-sluice/files";
import { expect, test } from "vitest";
import { MyFiles } from "../../../../web/playground/engine/my-files.js";
import { fileCount, VISITOR } from "../../../../web/playground/engine/stores.js";

const store = new MemoryArtifactStore();
const storage = new UserStorage(store, VISITOR);
const made: string[] = [];
const files = new MyFiles(store, () => made.push("made"));
const text = (name: string, body: string): File => new File([body], name, { type: "text/plain" });

test("what is put under the same name is a version, the newest is listed, and all go together", async () => {
  await files.keep(text("a.txt", "one"));
  const second = await files.keep(text("../a.txt", "two"));
  expect(await files.list()).toMatchObject([{ id: second.id, filename: "a.txt", versions: 2, origin: "uploaded" }]);
  expect(await fileCount(store)).toBe(1);
  expect((await files.versions(second.id)).map(({ size_bytes }) => size_bytes)).toEqual([3, 3]);
  expect(await files.remove(second.id)).toBe(true);
  expect(await files.remove(second.id)).toBe(false);
  expect(await fileCount(store)).toBe(0);
});

test("a file that is gone is not renamed, and a name that there is is not given twice", async () => {
  const [a, b] = [await files.keep(text("a.txt", "a")), await files.keep(text("b.txt", "b"))];
  await expect(files.rename("nothing", "c.txt")).rejects.toMatchObject({ code: "E_NOT_FOUND" });
  await expect(files.rename(a.id, "b.txt")).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
  await files.rename(b.id, "c.txt");
  expect((await files.list()).map(({ filename }) => filename).toSorted()).toEqual(["a.txt", "c.txt"]);
});

test("what a result stored is kept as generated", async () => {
  const ref = await store.putText("of a tool", { filename: "result.md", mime_type: "text/markdown", scope: VISITOR });
  const [artifact, bytes] = [await store.stat(ref.id, VISITOR), await store.openReader(ref.id, { scope: VISITOR })];
  if (artifact === null || bytes === null) throw new Error("It was not stored.");
  expect(await files.save(artifact, bytes)).toMatchObject({ filename: "result.md", origin: "generated" });
});

test("a draft is listed with why it is one, and is gone when its time is over", async () => {
  const draft = { reason: "needs_editing", next_actions: ["Edit the greeting"] } as const;
  const soon = { ...draft, expires_at: Date.now() + 3_600_000 };
  await storage.put("letter.txt", "Dear all", { origin: "deferred", draft: soon });
  const before = new UserStorage(store, VISITOR, { now: () => Date.now() - 7_200_000 });
  const over = { ...draft, expires_at: Date.now() - 3_600_000 };
  await before.put("old.txt", "Dear nobody", { origin: "deferred", draft: over });
  const drafts = (await files.list()).filter(({ origin }) => origin === "deferred");
  expect(drafts).toMatchObject([{ filename: "letter.txt", draft: soon }]);
});
