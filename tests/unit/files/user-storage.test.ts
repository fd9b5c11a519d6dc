import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactStore } from "../../../web/src/artifacts/store.js";
import { UserStorage } from "../../../web/src/files/user-storage.js";
import { emptyFolder } from "../../support/folder.js";

const ADA = { user_id: "ada" };

async function textOf(storage: UserStorage, name: string): Promise<string> {
  return new Response(await storage.open(name)).text();
}

async function inFolder(): Promise<ArtifactStore> {
  const folder = await emptyFolder();
  return new FileArtifactStore(join(folder, "store"));
}

describe.each([
  ["memory", async () => new MemoryArtifactStore()],
  ["a folder", inFolder],
] as const)("a user's files in %s", (_, opened) => {
  let store: ArtifactStore;
  let files: UserStorage;
  beforeEach(async () => {
    store = await opened();
    files = new UserStorage(store, ADA);
  });

  test("are put, found, read and removed by names that are made fit", async () => {
    expect(await files.list()).toEqual([]);
    const put = await files.put("../../sales.csv", "a,b\n1,2\n", { mime_type: "text/csv" });
    expect(put).toMatchObject({
      name: "sales.csv",
      origin: "uploaded",
      mime_type: "text/csv",
      size_bytes: 8,
      versions: 1,
    });
    expect(await files.find("C:\\data\\sales.csv")).toEqual(put);
    expect(await textOf(files, "sales.csv")).toBe("a,b\n1,2\n");
    expect(await new Response(await files.open("sales.csv", { range: { start: 4, end: 5 } })).text()).toBe("1");
    expect(await files.remove("/sales.csv")).toBe(true);
    expect(await files.remove("sales.csv")).toBe(false);
    expect(await files.list()).toEqual([]);
  });

  test("keep what they were, and what is put again is the newest", async () => {
    await files.put("report.txt", "one");
    await files.put("report.txt", "two", { origin: "generated" });
    expect(await textOf(files, "report.txt")).toBe("two");
    expect((await files.versions("report.txt")).map(({ origin, size_bytes }) => [origin, size_bytes])).toEqual([
      ["generated", 3],
      ["uploaded", 3],
    ]);
    const older = (await files.versions("report.txt")).at(-1);
    expect(older && (await new Response(await files.open(older)).text())).toBe("one");
    expect(await files.list()).toHaveLength(1);
    await files.remove("report.txt");
    const left = [];
    for await (const artifact of store.list()) left.push(artifact);
    expect(left).toEqual([]);
  });

  test("of the same content stay apart, by name", async () => {
    await files.put("a.txt", "same");
    await files.put("b.txt", "same");
    await files.remove("a.txt");
    expect((await files.list()).map(({ name }) => name)).toEqual(["b.txt"]);
    expect(await textOf(files, "b.txt")).toBe("same");
  });

  test("are called otherwise with all versions, and not as another is", async () => {
    await files.put("a.txt", "one");
    await files.put("a.txt", "two");
    await files.put("b.txt", "three");
    await expect(files.rename("a.txt", "x/b.txt")).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
    expect(await files.rename("a.txt", "c.txt")).toMatchObject({ name: "c.txt", versions: 2 });
    expect((await files.list()).map(({ name }) => name)).toEqual(["b.txt", "c.txt"]);
    await files.put("a.txt", "anew");
    expect(await textOf(files, "c.txt")).toBe("two");
    expect(await files.rename("c.txt", "./c.txt")).toMatchObject({ name: "c.txt" });
  });

  test("that there are not are answered with the nearest name", async () => {
    await files.put("quarterly_report.pdf", "x");
    await expect(files.open("quaterly_report.pdf")).rejects.toMatchObject({
      code: "E_NOT_FOUND",
      message: 'There is no file "quaterly_report.pdf": did you mean "quarterly_report.pdf"?',
    });
    await expect(files.rename("nothing", "else")).rejects.toMatchObject({ code: "E_NOT_FOUND" });
  });

  test("are the artifacts that say so, and no others", async () => {
    await store.putText("tool result", { scope: ADA, filename: "a.txt" });
    await store.putText("not a file", { scope: ADA, namespace: "file-0123456789abcdef", filename: "b.txt" });
    await store.putText("odd", {
      scope: ADA,
      namespace: "file-0123456789abcdef",
      source: { user_file: { origin: "stolen" } },
    });
    expect(await files.list()).toEqual([]);
  });

  test("are put while others are slow to come", async () => {
    const slow = new TransformStream<Uint8Array, Uint8Array>();
    const slowly = files.put("slow.txt", slow.readable);
    await files.put("quick.txt", "one");
    await files.rename("quick.txt", "renamed.txt");
    await slow.writable.close();
    await slowly;
    expect((await files.list()).map(({ name }) => name)).toEqual(["renamed.txt", "slow.txt"]);
  });

  test("that are put and renamed at once have one name each", async () => {
    await Promise.all([files.put("a.txt", "one"), files.put("a.txt", "two"), files.put("b.txt", "three")]);
    expect(await files.versions("a.txt")).toHaveLength(2);
    const both = [files.rename("a.txt", "b.txt"), files.rename("b.txt", "a.txt"), files.rename("a.txt", "c.txt")];
    const outcomes = await Promise.allSettled(both);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
    expect((await files.list()).map(({ name }) => name)).toEqual(["b.txt", "c.txt"]);
  });

  test("put at once under one new name are versions of one file", async () => {
    await Promise.all([files.put("a.txt", "one"), new UserStorage(store, ADA).put("a.txt", "two")]);
    expect(await files.list()).toMatchObject([{ name: "a.txt", versions: 2 }]);
    const texts = (await files.versions("a.txt")).map(async (version) =>
      new Response(await files.open(version)).text(),
    );
    expect(new Set(await Promise.all(texts))).toEqual(new Set(["one", "two"]));
  });

  test("are renamed by whoever goes on with a rename that ended half way", async () => {
    for (const text of ["one", "two"]) await files.put("a.txt", text);
    const [, oldest] = await files.versions("a.txt");
    await store.update(oldest?.id ?? "", { filename: "b.txt" }, ADA);
    expect(await files.list()).toMatchObject([
      { name: "a.txt", versions: 1 },
      { name: "b.txt", versions: 1 },
    ]);
    expect(await files.rename("a.txt", "b.txt")).toMatchObject({ name: "b.txt", versions: 2 });
    expect(await textOf(files, "b.txt")).toBe("two");
    expect(await files.find("a.txt")).toBeNull();
  });
});

test.each([{}, { user_id: "" }, { user_id: 7 }])("an owner that is nobody is refused: %j", (owner) => {
  expect(() => new UserStorage(new MemoryArtifactStore(), owner as typeof ADA)).toThrow("user_id must say whose");
});

test("no name and no id leads to another's file, whatever the two are called", async () => {
  const users = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 4 });
  const names = fc.array(fc.string({ maxLength: 20 }), { minLength: 1, maxLength: 5 });
  const property = fc.asyncProperty(users, names, async (ids, given) => {
    const store = new MemoryArtifactStore();
    const own = ids.map((user_id) => [user_id, new UserStorage(store, { user_id })] as const);
    for (const [id, files] of own) for (const name of given) await files.put(name, `of ${id}`);
    for (const [id, files] of own) {
      for (const { name } of await files.list()) expect(await textOf(files, name)).toBe(`of ${id}`);
      await files.remove(given[0] ?? "");
    }
    const [[, first] = []] = own;
    for (const { id } of (await first?.list()) ?? []) {
      for (const [, others] of own.slice(1)) expect(await others.find(id)).toBeNull();
    }
  });
  await fc.assert(property, { numRuns: 50 });
});
