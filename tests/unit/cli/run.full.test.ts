import { randomBytes } from "node:crypto";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { whyNoSandbox } from "../files/sandboxes.js";
import { COMMAND, ROOT, Room, sluice, start } from "./command.js";

const reason = await whyNoSandbox();
/** There is nothing of /tmp in a sandbox: neither a checkout. */
const isCheckoutSeen = !ROOT.startsWith("/tmp/");

const BASICS = ["run", "--user", "ada", "--tmp"] as const;

/** Processes of this machine that were started with a word in their command line. */
async function withWord(word: string): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return lines.filter((line) => line.includes(word)).length;
}

/** A command that runs and has said so. */
async function running(room: Room, line: string): Promise<ChildProcessWithoutNullStreams> {
  const child = start([...BASICS, room.path("tmp"), "--", "sh", "-c", line]);
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

describe.skipIf(reason !== undefined)("sluice run", () => {
  test("hands on standard input and output as they are, and ends with the command's exit code", async () => {
    await using room = await Room.open();
    const noise = randomBytes(300_000).toString("hex");
    const { code, stdout, stderr } = await sluice(
      [...BASICS, room.path("tmp"), "--", "sh", "-c", "cat; echo aside >&2; exit 7"],
      { input: noise },
    );
    expect([code, stdout === noise, stderr]).toEqual([7, true, "aside\n"]);
  });

  test("logs a write that was denied, with whose it was and when, behind what the command says of it", async () => {
    await using room = await Room.open();
    const line = "echo before >&2; echo x > /etc/planted; printf after >&2";
    const options = ["run", "--user", "ada", "--tenant", "acme", "--tmp", room.path("tmp")];
    const { stdout, stderr } = await sluice([...options, "--", "sh", "-c", line]);
    const [before, said, logged, after, ...rest] = stderr.split("\n");
    expect([stdout, before, after, rest]).toEqual(["", "before", "after", []]);
    expect(said).toMatch(/^sh: .*\/etc\/planted: Read-only file system$/);
    expect(logged).toMatch(
      /^sluice: \d{4}-\d\d-\d\dT[\d:.]+Z sh for "ada" of "acme" was refused a write: .*"\/etc\/planted" was not written\.$/,
    );
  });

  test("gives the command its user's folder, and few variables", async () => {
    await using room = await Room.open();
    const line = "env; cd /tmp; echo */; echo out > $TMPDIR/out";
    const { code, stdout } = await sluice([...BASICS, room.path("tmp"), "--env", "KEY", "--", "sh", "-c", line], {
      env: { KEY: "handed on", SECRET: "kept", XDG_CACHE_HOME: room.path("cache") },
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^KEY=handed on$/m);
    expect(stdout).toMatch(/^TMPDIR=\/tmp\/ada$/m);
    expect(stdout).toMatch(/^ada\/$/m);
    expect(stdout).not.toContain("SECRET");
    expect(await readFile(room.path("tmp/ada/out"), "utf8")).toBe("out\n");
  });

  test.each([
    [[], ["input_files", "out"]],
    [
      ["--persist-files", "true"],
      ["input_files", "out"],
    ],
    [["--persist-files", "false"], []],
  ])("leaves the folder as the command did, or empty: %j", async (options, left) => {
    await using room = await Room.open();
    const { code } = await sluice([...BASICS, room.path("tmp"), ...options, "--", "sh", "-c", "echo x > $TMPDIR/out"]);
    expect([code, (await readdir(room.path("tmp/ada"))).sort()]).toEqual([0, left]);
  });

  test("hides the store that commands use, also one that is not there yet", async () => {
    const cache = `/var/tmp/sluice-cache-${randomBytes(4).toString("hex")}`;
    onTestFinished(() => rm(cache, { recursive: true, force: true }));
    await using room = await Room.open();
    const line = `echo ready; read _; ls -A ${cache}/sluice 2>/dev/null; echo over`;
    const child = start([...BASICS, room.path("tmp"), "--", "sh", "-c", line], { env: { XDG_CACHE_HOME: cache } });
    const said: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => said.push(chunk));
    await vi.waitFor(() => expect(Buffer.concat(said).toString()).toBe("ready\n"));
    await writeFile(join(cache, "sluice", "secret"), "secret");
    child.stdin.end("\n");
    await once(child, "close");
    expect(Buffer.concat(said).toString()).toBe("ready\nover\n");
  });

  test("keeps users and tenants apart", async () => {
    await using room = await Room.open();
    const owners = [["ada"], ["bob"], ["ada", "--tenant", "acme"], ["../ada"]];
    const options = ["run", "--tmp", room.path("tmp"), "--user"];
    await Promise.all(owners.map((who) => sluice([...options, ...who, "--", "true"])));
    const folders = (await readdir(room.path("tmp"))).sort();
    expect(folders).toEqual([
      "ada",
      expect.stringMatching(/^ada-[0-9a-f]{24}$/),
      expect.stringMatching(/^ada-/),
      "bob",
    ]);
    const { stdout } = await sluice([...BASICS, room.path("tmp"), "--", "ls", "/tmp"]);
    expect(stdout).toBe("ada\n");
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("passes %s on to the command", async (signal) => {
    await using room = await Room.open();
    const child = await running(room, `trap 'exit 3' ${signal.slice(3)}; echo ready; sleep 1000 & wait`);
    child.kill(signal);
    expect(await once(child, "close")).toEqual([3, null]);
  });

  test("kills a command that does not hear of SIGTERM, and all that it started", async () => {
    await using room = await Room.open();
    const word = `1000.${Date.now()}1`;
    const child = await running(
      room,
      `trap '' TERM; (setsid sleep ${word} &); echo ready; while :; do sleep ${word}; done`,
    );
    child.kill("SIGTERM");
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    expect([code, signal]).not.toEqual([0, null]);
    await vi.waitFor(async () => expect(await withWord(word)).toBe(0));
  });

  test("takes all that the command started with it, when it is killed itself", async () => {
    await using room = await Room.open();
    const word = `1000.${Date.now()}2`;
    const child = await running(room, `(setsid sleep ${word} &); sleep ${word} & echo ready; wait`);
    expect(await withWord(word)).toBeGreaterThan(1);
    child.kill("SIGKILL");
    await vi.waitFor(async () => expect(await withWord(word)).toBe(0));
  });

  test.skipIf(!isCheckoutSeen)("stands between a client and a real server", async () => {
    await using room = await Room.open();
    const server = join(ROOT, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    const client = new Client({ name: "test", version: "1" });
    const args = [COMMAND, ...BASICS, room.path("tmp"), "--", process.execPath, server, "/tmp/ada", "/var/tmp"];
    await client.connect(new StdioClientTransport({ command: process.execPath, args }));
    onTestFinished(() => client.close());
    const write = (path: string): ReturnType<typeof client.callTool> =>
      client.callTool({ name: "write_file", arguments: { path, content: "by a tool" } });
    expect((await write("/tmp/ada/report.txt")).isError).not.toBe(true);
    expect(await readFile(room.path("tmp/ada/report.txt"), "utf8")).toBe("by a tool");
    const refused = await write("/var/tmp/report.txt");
    expect([refused.isError, JSON.stringify(refused.content)]).toEqual([
      true,
      expect.stringContaining("read-only file system"),
    ]);
  });
});

describe("sluice run starts nothing", () => {
  test("where there is no bubblewrap", async () => {
    await using room = await Room.open();
    const args = [...BASICS, room.path("tmp"), "--", "/bin/sh", "-c", `echo started > ${room.path("proof")}`];
    const { code, stdout, stderr } = await sluice(args, { env: { PATH: room.folder } });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^sluice: the command was not started because it cannot be sandboxed: .*package bubblewrap/);
    expect(await readdir(room.folder)).not.toContain("proof");
  });

  test("where something else has the name of the user's folder", async () => {
    await using room = await Room.open();
    await writeFile(room.path("ada"), "");
    const { code, stderr } = await sluice([...BASICS, room.folder, "--", "true"]);
    expect([code, stderr]).toEqual([
      73,
      expect.stringMatching(/^sluice: something else has the name of the workspace.*\n$/),
    ]);
  });

  test.skipIf(reason !== undefined)("where a folder to hide is not there", async () => {
    await using room = await Room.open();
    const { code, stderr } = await sluice([...BASICS, room.path("tmp"), "--hide", room.path("none"), "--", "true"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("hide names a folder that does not exist")]);
  });
});
