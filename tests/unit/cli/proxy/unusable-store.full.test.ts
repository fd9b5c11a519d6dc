/** A store that takes nothing is told of before the server gets anything, not when the first artifact is lost. */
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { mounted, unmounted } from "../../artifacts/small-disk.js";
import { Room, sluice, type Ended, type RunOptions } from "../command.js";

const NOBODY = 65_534;
const isLinux = process.platform === "linux";

/** What a proxy in front of a server that leaves a line on standard error says and does. */
function proxy(options: readonly string[], how: RunOptions = {}): Promise<Ended> {
  return sluice(["proxy", ...options, "--", process.execPath, "-e", "console.error('the server ran')"], how);
}

/** One sentence, exit 2, and no answer. The server may have begun to write. */
function refusal(folder: string, why: string): Ended {
  const sentence = `cannot use the store ${folder}: ${why}`.replace(/[.\\+()]/g, "\\$&");
  const remedy = "(use|choose) (a|another) (new or empty )?(folder|store)";
  const stderr = expect.stringMatching(new RegExp(`^(the server ran\n)?sluice: ${sentence}.*${remedy}.*\n$`)) as string;
  return { code: 2, stdout: "", stderr };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("a store that cannot be used", () => {
  test.each([
    ["a file", "store", "it is a file, and a store must be a folder"],
    ["below a file", "store/below", "part of the path is not a folder"],
  ])("is %s", async (_, name, why) => {
    await using room = await Room.open();
    await room.write("store", "");
    expect(await proxy(["--store", room.path(name)])).toEqual(refusal(room.path(name), why));
  });

  test("is a folder that this user may not write, or lies in one", async ({ skip }) => {
    if (process.platform === "win32") skip("folders have no such modes");
    await using room = await Room.open();
    await chmod(room.folder, 0o755);
    await mkdir(room.store, { mode: 0o555 });
    const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    for (const folder of [room.store, room.path("store/below")])
      expect(await proxy(["--store", folder], user)).toEqual(refusal(folder, "permission denied"));
    expect(await readdir(room.store)).toEqual([]);
  });

  test.skipIf(!isLinux)("is where not even root may write", async () => {
    expect(await proxy(["--store", "/proc/sluice"])).toEqual(refusal("/proc/sluice", "the folder cannot be created"));
    expect(await proxy(["--store", "/proc"])).toEqual(refusal("/proc", "the folder cannot be written"));
  });

  test.skipIf(!isLinux)("is the one that is used where none is named", async () => {
    const ended = await proxy([], { env: { XDG_CACHE_HOME: "/proc" } });
    expect(ended).toEqual(refusal("/proc/sluice", "the folder cannot be created"));
    expect(ended.stderr).toContain("--store DIR");
  });

  test("is someone else's folder, or holds what no store does", async () => {
    await using room = await Room.open();
    await mkdir(room.path("photos/blobs"), { recursive: true });
    await mkdir(room.path("odd"));
    await room.write("odd/sluice-store.json", "{}");
    await mkdir(room.path("linked"));
    await symlink(room.folder, room.path("linked/tmp"), "junction");
    for (const [name, why] of [
      ["photos", "the folder is not a Sluice store"],
      ["odd", "the folder's sluice-store.json does not belong"],
      ["linked", "the store folder contains something"],
    ] as const)
      expect(await proxy(["--store", room.path(name)])).toEqual(refusal(room.path(name), why));
  });

  test.skipIf(process.platform === "win32")(
    "is a folder that others may write to, or a link that leads nowhere",
    async () => {
      await using room = await Room.open();
      await mkdir(room.path("shared"));
      await chmod(room.path("shared"), 0o777);
      await symlink("nothing", room.path("link"));
      for (const [name, why] of [
        ["shared", "other users can write to the store folder: run chmod 700 on it"],
        ["link", "the store folder, or a folder above it, is a link that leads to a path that does not exist"],
      ] as const) {
        expect(await proxy(["--store", room.path(name)])).toEqual(refusal(room.path(name), why));
        const serve = await sluice(["serve", "--listen", "127.0.0.1:0", "--store", room.path(name)]);
        expect(serve).toEqual(refusal(room.path(name), why));
      }
      const listed = await sluice(["artifacts", "list", "--store", room.path("link")]);
      expect([listed.code, listed.stdout]).toEqual([74, ""]);
      expect(listed.stderr).toContain("is a link that leads to a path that does not exist");
      expect(listed.stderr).toContain(`The store is ${room.path("link")}\n`);
    },
  );

  test("is told of before the server gets anything; then the server is ended", async () => {
    await using room = await Room.open();
    await room.write("store", "");
    const seen = room.path("seen");
    const server = `const { appendFileSync } = require("node:fs");
      appendFileSync(${JSON.stringify(seen)}, process.pid + " ");
      process.stdin.on("data", (chunk) => appendFileSync(${JSON.stringify(seen)}, chunk));
      setInterval(() => {}, 1000);`;
    const input = ["initialize", "tools/call"].map((method, id) =>
      JSON.stringify({ jsonrpc: "2.0", id, method, params: {} }),
    );
    const command = ["--store", room.store, "--", process.execPath, "-e", server];
    const ended = await sluice(["proxy", ...command], { input: `${input.join("\n")}\n` });
    expect(ended).toEqual(refusal(room.store, "it is a file, and a store must be a folder"));
    const [pid = "", got = ""] = (await readFile(seen, "utf8").catch(() => "")).split(" ");
    expect(got).toBe("");
    expect(pid === "" || !isRunning(Number(pid))).toBe(true);
  });

  test("is told of over HTTP as well, before anybody is listened to", async () => {
    await using room = await Room.open();
    await room.write("store", "");
    const listening = ["--store", room.store, "--listen", "127.0.0.1:0"];
    expect(await proxy(listening)).toEqual(refusal(room.store, "it is a file"));
    const remote = await sluice(["proxy", "--store", room.store, "--url", "http://127.0.0.1:9/mcp"]);
    expect(remote).toEqual(refusal(room.store, "it is a file"));
  });

  test.skipIf(!isLinux)("is one for the session, where temporary files cannot be", async () => {
    const { code, stderr } = await proxy(["--store", "session"], { env: { TMPDIR: "/proc" } });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^(the server ran\n)?sluice: cannot create a folder in \/proc for --store session: .*TMPDIR.*--store DIR\n$/,
    );
  });

  test("does not matter where nothing is stored", async () => {
    await using room = await Room.open();
    await room.write("store", "");
    expect(await proxy(["--store", room.store, "--bypass"])).toMatchObject({ code: 0, stderr: "the server ran\n" });
  });
});

describe("a store that can be used", () => {
  test("is made with the folders above it, and nothing is put into it", async () => {
    await using room = await Room.open();
    const store = room.path("not/there/yet");
    for (let start = 0; start < 2; start += 1)
      expect(await proxy(["--store", store])).toMatchObject({ code: 0, stderr: "the server ran\n" });
    expect((await readdir(store, { recursive: true })).sort()).toEqual([
      "blobs",
      "names",
      "refs",
      "sluice-store.json",
      "tmp",
    ]);
  });

  test("is not made by a command line that is wrong in another way", async () => {
    await using room = await Room.open();
    const config = await room.write("config.json", '{"guardrail":{"max_field_chars":1}}');
    for (const wrong of [
      ["--config", config],
      ["--namespace", "a/b"],
    ])
      expect((await proxy(["--store", room.store, ...wrong])).code).toBe(2);
    expect(existsSync(room.store)).toBe(false);
  });

  test("may be on a disk that is full by now: room can be made while the server runs", async ({ skip }) => {
    const disk = mounted(1) ?? skip("mounting a small disk needs root");
    try {
      await writeFile(join(disk, "filler"), Buffer.alloc(2 * 1024 * 1024)).catch(() => undefined);
      const ended = await proxy(["--store", join(disk, "store")]);
      expect(ended).toMatchObject({ code: 0, stderr: "the server ran\n" });
    } finally {
      unmounted(disk);
    }
  });
});
