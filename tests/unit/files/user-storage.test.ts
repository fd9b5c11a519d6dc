import { link, mkdir, open, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactStore } from "../../../web/src/artifacts/store.js";
import { localWorkspaces } from "../../../web/src/files/local-workspaces.js";
import { FLAGS, MAX_FILE_BYTES } from "../../../web/src/files/options.js";
import { UserFiles } from "../../../web/src/files/user-files.js";
import { UserStorage } from "../../../web/src/files/user-storage.js";
import { artifactHandler } from "../../../web/src/server/artifacts/handler.js";
import { emptyFolder } from "../../support/folder.js";
import { ADA as ADA_SCOPE, BOB, type Lab, openLab } from "./lab.js";

describe("user storage", () => {
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
    expect(() => new UserStorage(new MemoryArtifactStore(), owner as typeof ADA)).toThrow(
      "user_id must name the owner",
    );
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
});

/** Flags with their defaults, and options of folders on this machine. */
describe("options", () => {
  const made = (options: object): UserFiles => new UserFiles({ store: new MemoryArtifactStore(), ...options });

  describe("flags", () => {
    test("have the defaults of the specification", () => {
      expect(FLAGS).toEqual({
        persist_files_across_sessions: true,
        base64_size_limit_mb: 300,
        max_file_size_mb: 51_200,
      });
      expect(FLAGS.max_file_size_mb * 1024 ** 2).toBe(MAX_FILE_BYTES);
    });

    test.each([
      ["persist_files_across_sessions", "true"],
      ["base64_size_limit_mb", 0],
      ["base64_size_limit_mb", "300"],
      ["max_file_size_mb", Number.NaN],
      ["openWorkspace", "/tmp"],
      ["largeStore", 1],
      ["base64_size_limit", 300],
    ])("that are wrong are refused by name: %s is %j", (name, value) => {
      const refused = (): unknown => made({ [name]: value });
      expect(refused).toThrow(name);
      expect(refused).toThrow(expect.objectContaining({ code: "E_INVALID_ARGUMENT" }) as Error);
    });

    test("may be left out, but for a store", () => {
      expect(made({}).storage({ user_id: "ada" })).toBeDefined();
      expect(() => new UserFiles({} as never)).toThrow("store");
    });
  });

  test("how large a file may be is said by max_file_size_mb alone, also above what is taken by default", async () => {
    const root = await emptyFolder();
    const workspace = await localWorkspaces({ root }).openWorkspace("ada");
    const size = 51 * 1024 ** 3;
    await using file = await open(join(root, "ada", "sparse.bin"), "w");
    await file.truncate(size);
    await using found = await workspace.openOutput(`${workspace.prefix}sparse.bin`);
    expect(found.size_bytes).toBe(size);
  });

  test.each([
    [{ sandboxed: true }, '"sandboxed" is not an option of localWorkspaces; did you mean sandbox?'],
    [{ sandbox: "yes" }, "The option sandbox of localWorkspaces must be true or false."],
    [{ hide: "./store" }, "The option hide of localWorkspaces must be a list of paths of folders."],
  ])("a slip leaves no server without its sandbox: %j", (options, message) => {
    expect(() => localWorkspaces(options as never)).toThrow(message);
  });
});

/** No user reaches another's bytes: by names, ids, paths, arguments, results or addresses. */
describe("users", () => {
  const SECRET = "the-secret-of-bob";
  const MARK = /the-secret-of-bob|dGhlLXNlY3JldC1vZi1ib2/;

  /** What belongs to bob: names, ids, paths and addresses of it. */
  interface Bobs {
    readonly names: readonly string[];
    readonly ids: readonly string[];
    readonly paths: readonly string[];
  }

  async function bobs({ userFiles, call, root }: Lab): Promise<Bobs> {
    const files = userFiles.storage(BOB);
    await files.put("secret.txt", SECRET);
    await files.put("plan.csv", `id,${SECRET}\n`);
    await call("write", { name: "made.txt", content: SECRET }, BOB);
    await call("echo", { filename: "secret.txt" }, BOB);
    const list = await files.list();
    return {
      names: list.map(({ name }) => name),
      ids: list.map(({ id }) => id),
      paths: [`${root}/bob/made.txt`, `${root}/bob/input_files/secret.txt`],
    };
  }

  /** Ways that lead to bob's folder from ada's own. */
  async function planted(root: string, paths: readonly string[]): Promise<string[]> {
    await mkdir(`${root}/ada`, { recursive: true, mode: 0o700 });
    const own = paths.map((_, at) => [`${root}/ada/soft${at}`, `${root}/ada/hard${at}`] as const);
    for (const [at, [soft, hard]] of own.entries()) {
      await symlink(paths[at] ?? "", soft);
      await link(paths[at] ?? "", hard);
    }
    await symlink(`${root}/bob`, `${root}/ada/folder`);
    const through = [`${root}/ada/folder/made.txt`, `${root}/ada/../bob/made.txt`, `${root}/ada/./../bob/made.txt`];
    return [...own.flat(), ...through, ...paths];
  }

  describe("ada", () => {
    let ours: Lab & AsyncDisposable;
    let theirs: Bobs;
    let ways: readonly string[];
    beforeAll(async () => {
      ours = await openLab();
      theirs = await bobs(ours);
      ways = await planted(ours.root, theirs.paths);
      await writeFile(`${ours.root}/ada/own.txt`, "ada's own");
    });
    afterAll(() => ours[Symbol.asyncDispose]());

    test("reaches nothing of bob's, whatever she names, and bob's stays as it is", async () => {
      const word = fc.oneof(
        fc.constantFrom(...theirs.names, ...theirs.ids, ...ways),
        fc.constantFrom(...theirs.ids).map((id) => `artifact://${id}`),
        fc.constantFrom(...theirs.ids).map((id) => `artifact://${id}?as=text`),
        fc
          .constantFrom(...theirs.names)
          .chain((name) => fc.constantFrom(`../bob/${name}`, `/tmp/bob/${name}`, `..\\bob\\${name}`)),
      );
      const attempts = fc.oneof(
        word.map((filename) => ["echo", { filename }] as const),
        word.map((filename) => ["length", { filename, username: "bob" }] as const),
        word.map((name) => ["echo", { filenames: [name, "own.txt"] }] as const),
        word.map((note) => ["echo", { note, username: "bob" }] as const),
        word.map((path) => ["path", { path, username: "bob" }] as const),
        word.map((id) => ["forge", { id }] as const),
        word.map((uri) => ["artifact_read", { uri, bytes: "0-100" }] as const),
        word.map((uri) => ["artifact_read", { uri }] as const),
      );
      await fc.assert(
        fc.asyncProperty(attempts, async ([tool, args]) => {
          const result = await ours
            .call(tool, args, ADA_SCOPE)
            .catch((error: unknown) => ({ text: String(error), display: [] }));
          expect(`${result.text}${JSON.stringify(result.display ?? "")}`).not.toMatch(MARK);
          for (const { name } of await ours.userFiles.storage(ADA_SCOPE).list()) {
            const kept = await new Response(await ours.userFiles.storage(ADA_SCOPE).open(name)).text();
            expect(kept).not.toMatch(MARK);
          }
        }),
        { numRuns: 150 },
      );
      const still = await ours.userFiles.storage(BOB).list();
      expect(still.map(({ id }) => id)).toEqual(theirs.ids);
    });

    test("is served nothing of bob's by an address", async () => {
      const store = ours.userFiles.within(ours.store, "files");
      const handle = artifactHandler({
        store,
        scope: (request) => (request.headers.has("bob") ? BOB : ADA_SCOPE),
        base: "/",
      });
      for (const id of theirs.ids) {
        for (const part of ["", "/meta", "?download"]) {
          const url = `https://example.com/artifacts/${id}${part}`;
          const response = await handle(new Request(url));
          expect(response?.status).toBe(404);
          expect(await response?.text()).not.toMatch(MARK);
          expect((await handle(new Request(url, { headers: { bob: "" } })))?.status).toBe(200);
        }
      }
    });

    test("has a session context and a list without bob's names", async () => {
      const prompt = await ours.userFiles.prompt("?", ADA_SCOPE);
      for (const name of theirs.names) expect(prompt).not.toContain(name);
    });

    test("can neither remove, rename nor overwrite what is bob's", async () => {
      const files = ours.userFiles.storage(ADA_SCOPE);
      for (const name of [...theirs.names, ...theirs.ids, ...theirs.paths]) {
        expect(await files.remove(name)).toBe(false);
        await expect(files.rename(name, "mine.txt")).rejects.toMatchObject({ code: "E_NOT_FOUND" });
      }
      await files.put("secret.txt", "ada's");
      expect(await new Response(await ours.userFiles.storage(BOB).open("secret.txt")).text()).toBe(SECRET);
      await files.remove("secret.txt");
    });

    test("of one tenant is another than ada of another", async () => {
      await ours.userFiles.storage({ user_id: "ada", tenant_id: "acme" }).put("acme.txt", SECRET);
      for (const tenant_id of [null, "globex", "acme "]) {
        expect(await ours.userFiles.storage({ user_id: "ada", tenant_id }).find("acme.txt")).toBeNull();
      }
    });
  });
});
