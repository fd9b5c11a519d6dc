import { execFile } from "node:child_process";
import { chmod, chown, link, lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { workspaceName } from "../../../../web/src/files/names.js";
import { emptyDirectory, OpenFolder } from "../../../../web/src/files/workspace/open-folder.js";
import { Workspace } from "../../../../web/src/files/workspace/workspace.js";
import { emptyFolder } from "../../../support/folder.js";
import { adas, bytes } from "./rooms.js";

const isRoot = process.getuid?.() === 0;

describe("a workspace", () => {
  test("is opened again as it was left", async () => {
    const first = await adas();
    await first.input({ name: "a", id: "1", size_bytes: 1 }, bytes("a"));
    const again = await Workspace.open({ root: join(first.folder, ".."), name: "ada" });
    expect(await readdir(join(again.folder, "input_files"))).toEqual(["a"]);
  });

  test("is made ours alone where it was open to others", async () => {
    const root = await emptyFolder();
    await mkdir(join(root, "ada"));
    await chmod(join(root, "ada"), 0o777);
    const { folder } = await Workspace.open({ root, name: "ada" });
    expect((await lstat(folder)).mode & 0o777).toBe(0o700);
  });

  test("is refused if its name is a link, a file, or a folder with other things", async () => {
    const root = await emptyFolder();
    await mkdir(join(root, "elsewhere"));
    await symlink(join(root, "elsewhere"), join(root, "linked"));
    await writeFile(join(root, "file"), "");
    await mkdir(join(root, "full"));
    await writeFile(join(root, "full", "thesis.txt"), "");
    for (const name of ["linked", "file", "full"]) {
      const refused = await Workspace.open({ root, name }).catch((error: unknown) => error as Error);
      expect(refused).toMatchObject({ code: "E_STORE_DENIED" });
      expect((refused as Error).message).not.toContain(root);
    }
    expect(await readdir(join(root, "elsewhere"))).toEqual([]);
  });

  test.skipIf(!isRoot)("is refused if it belongs to another user", async () => {
    const root = await emptyFolder();
    await mkdir(join(root, "ada"));
    await chown(join(root, "ada"), 12_345, 12_345);
    await expect(Workspace.open({ root, name: "ada" })).rejects.toMatchObject({ code: "E_STORE_DENIED" });
  });

  test("is refused in a root in which anybody may exchange it", async () => {
    const root = await emptyFolder();
    await chmod(root, 0o777);
    await expect(Workspace.open({ root, name: "ada" })).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
    await chmod(root, 0o1777);
    await expect(Workspace.open({ root, name: "ada" })).resolves.toBeInstanceOf(Workspace);
  });

  test.each(["", ".", "..", "../ada", "a/b", "Ada", ".ada", "a\0", "a."])("has no name like %j", async (name) => {
    const root = await emptyFolder();
    await expect(Workspace.open({ root, name })).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT", path: "name" });
    expect(await readdir(root)).toEqual([]);
  });
});

describe.each([
  ["held open", true],
  ["found by its path", false],
] as const)("a folder %s, when it is emptied", (_, anchored) => {
  test.skipIf(anchored && process.platform !== "linux")("loses all that is in it and nothing else", async () => {
    const root = await emptyFolder();
    const [inside, outside] = [join(root, "ada"), join(root, "outside")];
    await mkdir(join(outside, "deep"), { recursive: true });
    await writeFile(join(outside, "deep", "keep"), "keep");
    await mkdir(join(inside, "a", "b", "c"), { recursive: true });
    await writeFile(join(inside, "a", "b", "c", "file"), "");
    await writeFile(join(inside, ".hidden"), "");
    await symlink(outside, join(inside, "link"));
    await symlink(join(outside, "deep"), join(inside, "a", "b", "link"));
    await promisify(execFile)("mkfifo", [join(inside, "a", "pipe")]);
    await chmod(join(inside, "a", "b", "c"), 0);
    await chmod(join(inside, "a", "b"), 0);
    await chmod(join(inside, "a"), 0);

    await using folder = await OpenFolder.open(inside, anchored);
    await emptyDirectory(folder);
    expect(await readdir(inside)).toEqual([]);
    expect(await readdir(join(outside, "deep"))).toEqual(["keep"]);
  });

  test.skipIf(anchored && process.platform !== "linux")("may be deeper than any path is long", async () => {
    const root = await emptyFolder();
    const long = `${"d".repeat(200)}/`.repeat(15);
    const make = `mkdir -p ${long} && cd ${long} && mkdir -p ${long}`;
    await promisify(execFile)("sh", ["-c", make], { cwd: root });
    await using folder = await OpenFolder.open(root, anchored);
    await emptyDirectory(folder);
    expect(await readdir(root)).toEqual([]);
  });
});

test("a workspace is there, and ours, after it was emptied", async () => {
  const workspace = await adas();
  await workspace.input({ name: "a", id: "1", size_bytes: 1 }, bytes("a"));
  await workspace.clear();
  expect(await readdir(workspace.folder)).toEqual([]);
  await workspace.input({ name: "a", id: "1", size_bytes: 1 }, bytes("a"));
  expect(await readdir(join(workspace.folder, "input_files"))).toEqual(["a"]);
});

test("a folder that is written to without end does not keep whoever empties it", async () => {
  const root = await emptyFolder();
  await writeFile(join(root, "a"), "");
  await using folder = await OpenFolder.open(root);
  await expect(emptyDirectory(folder, -1)).rejects.toMatchObject({ code: "E_STORE_WRITE" });
});

describe("the name of a user's folder", () => {
  test("is the id itself where that is a plain name", async () => {
    for (const id of ["ada", "ada.lovelace", "ada_99", "7"]) expect(await workspaceName({ user_id: id })).toBe(id);
  });

  test.each([
    "Ada",
    "ada@example.org",
    "../ada",
    "",
    ".",
    "..",
    ".ssh",
    "a/b",
    "a\0b",
    "nul",
    "com1.x",
    "ädä",
    "a.",
    "-a",
  ])("has a hash for %j", async (id) => {
    expect(await workspaceName({ user_id: id })).toMatch(/^[a-z0-9][a-z0-9-]*-[0-9a-f]{24}$/);
  });

  test("is another for another tenant, session or spelling, and cannot be taken by choosing an id", async () => {
    const hashed = await workspaceName({ user_id: "ada", tenant_id: "acme" });
    const names = await Promise.all([
      workspaceName({ user_id: "ada" }),
      workspaceName({ user_id: "Ada" }),
      workspaceName({ user_id: "ADA" }),
      workspaceName({ user_id: "ada", tenant_id: "acme2" }),
      workspaceName({ user_id: "ada", session_id: "acme" }),
      workspaceName({ user_id: hashed }),
    ]);
    expect(new Set([hashed, ...names]).size).toBe(7);
    expect(await workspaceName({ user_id: "ada", tenant_id: "acme" })).toBe(hashed);
    expect(await workspaceName({ user_id: "ada", tenant_id: null, session_id: null })).toBe("ada");
  });

  test("is one folder of any system, and nobody else's, whatever the ids are", async () => {
    const owner = fc.record({
      user_id: fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[aA]{1,3}-?[0-9a-f]{0,24}$/)),
      tenant_id: fc.option(fc.string({ maxLength: 2 })),
    });
    const seen = new Map<string, string>();
    await fc.assert(
      fc.asyncProperty(owner, async (each) => {
        const name = await workspaceName(each);
        expect(name).toMatch(/^[a-z0-9][a-z0-9._-]{0,63}$/);
        const said = JSON.stringify([each.user_id, each.tenant_id]);
        expect(seen.get(name) ?? said).toBe(said);
        seen.set(name, said);
      }),
    );
  });
});

const FILE = { name: "sales.csv", id: "one", size_bytes: 5 };

async function failing(): Promise<ReadableStream<Uint8Array>> {
  return new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) });
}

describe("a user's file for a tool", () => {
  test("is told by the path of the specification, and is there to be read", async () => {
    const workspace = await adas();
    expect(workspace.prefix).toBe("/tmp/ada/");
    expect(await workspace.input(FILE, bytes("a,b\n1"))).toBe("/tmp/ada/input_files/sales.csv");
    const path = join(workspace.folder, "input_files", "sales.csv");
    expect(await readFile(path, "utf8")).toBe("a,b\n1");
    expect((await lstat(path)).mode & 0o777).toBe(0o400);
    for (const folder of [workspace.folder, join(workspace.folder, "input_files")]) {
      expect((await lstat(folder)).mode & 0o777).toBe(0o700);
    }
  });

  test("is fetched once, also by calls at the same time, and again where it is another version", async () => {
    const workspace = await adas();
    const open = vi.fn<() => Promise<ReadableStream<Uint8Array>>>(bytes("a,b\n1"));
    await Promise.all([1, 2, 3].map(() => workspace.input(FILE, open)));
    expect(open).toHaveBeenCalledTimes(1);
    await workspace.input({ ...FILE, id: "two" }, bytes("a,b\n2"));
    expect(await readFile(join(workspace.folder, "input_files", "sales.csv"), "utf8")).toBe("a,b\n2");
    expect(await readdir(join(workspace.folder, "input_files"))).toEqual(["sales.csv"]);
  });

  test.each([
    ["writes into it", async (path: string) => (await chmod(path, 0o600), await writeFile(path, "x,y\n1"))],
    ["removes it", (path: string) => rm(path)],
    [
      "makes a folder of it",
      async (path: string) => (await rm(path), await mkdir(join(path, "deep"), { recursive: true })),
    ],
    ["removes the folder", (path: string) => rm(join(path, ".."), { recursive: true })],
    ["closes the folder", (path: string) => chmod(join(path, ".."), 0)],
  ])("is there again when a tool %s", async (_, tamper) => {
    const workspace = await adas();
    await workspace.input(FILE, bytes("a,b\n1"));
    const path = join(workspace.folder, "input_files", "sales.csv");
    await tamper(path);
    await workspace.input(FILE, bytes("a,b\n1"));
    expect(await readFile(path, "utf8")).toBe("a,b\n1");
    expect(await readdir(join(workspace.folder, "input_files"))).toEqual(["sales.csv"]);
  });

  test("is never written through links or into files that a tool put in its way", async () => {
    const workspace = await adas();
    const inputs = join(workspace.folder, "input_files");
    const outside = join(workspace.folder, "..", "outside");
    await mkdir(outside);
    await writeFile(join(outside, "sales.csv"), "keep");

    await symlink(join(outside, "sales.csv"), join(inputs, "sales.csv"));
    await workspace.input(FILE, bytes("a,b\n1"));
    await rm(join(inputs, "sales.csv"));
    await link(join(outside, "sales.csv"), join(inputs, "sales.csv"));
    await workspace.input(FILE, bytes("a,b\n1"));
    await rm(inputs, { recursive: true });
    await symlink(outside, inputs);
    await workspace.input(FILE, bytes("a,b\n1"));

    expect(await readFile(join(outside, "sales.csv"), "utf8")).toBe("keep");
    expect((await lstat(join(outside, "sales.csv"))).mode & 0o777).toBe(0o644);
    expect(await readdir(outside)).toEqual(["sales.csv"]);
    expect((await lstat(inputs)).isDirectory()).toBe(true);
    expect(await readFile(join(inputs, "sales.csv"), "utf8")).toBe("a,b\n1");
  });

  test("leaves nothing behind when its bytes fail, are too many, too few, or are no longer wanted", async () => {
    const workspace = await adas();
    await expect(workspace.input(FILE, failing)).rejects.toThrow("gone");
    for (const text of ["", "a", "a,b\n1\n"]) {
      await expect(workspace.input(FILE, bytes(text))).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
    }
    const stuck = new AbortController();
    const never = async (): Promise<ReadableStream<Uint8Array>> =>
      new ReadableStream({ pull: () => stuck.abort(new Error("enough")) });
    await expect(workspace.input(FILE, never, stuck.signal)).rejects.toThrow("enough");
    expect(await readdir(join(workspace.folder, "input_files"))).toEqual([]);
  });

  test("has a name that is made fit, whatever it is asked for by", async () => {
    const workspace = await adas();
    expect(await workspace.input({ ...FILE, name: "../../x/..\\.sales.csv" }, bytes("a,b\n1"))).toBe(
      "/tmp/ada/input_files/sales.csv",
    );
  });

  test("can be empty", async () => {
    const workspace = await adas();
    await workspace.input({ ...FILE, size_bytes: 0 }, bytes(""));
    expect(await readFile(join(workspace.folder, "input_files", "sales.csv"), "utf8")).toBe("");
  });
});
