import { chmod, link, lstat, mkdir, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { adas, bytes } from "./rooms.js";

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
