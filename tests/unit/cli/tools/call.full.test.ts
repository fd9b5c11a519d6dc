/** `sluice tools call`: what a model would see, with everything else on standard error. */
import { readFile, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { isRunning } from "../../../e2e/faults/host.js";
import { listed, ROOT, Room, sluice, start } from "../command.js";
import { sluiceHere } from "../in-process.js";
import { PDF, PNG, sha256 } from "../results.js";
import { overAfter, timeoutResult, waitNotices } from "../../../../web/src/mcp/wait-notices.js";
import { sendJson } from "../../tools/sources/api.js";
import { configOf, everything, filesIn, scripted, unset, weather } from "./sources.js";

const call = (tool: string, args: unknown, ...more: readonly string[]): string[] => [
  "tools",
  "call",
  tool,
  "--args",
  JSON.stringify(args),
  ...more,
];

describe("a result", () => {
  test("with an image is an observation on stdout, a line on stderr, and bytes in the store", async () => {
    await using room = await Room.open();
    await room.write("a.png", PNG);
    const config = await configOf(room, filesIn(room.folder));
    const args = call("files.read_media_file", { path: room.path("a.png") }, "--store", room.store, ...config);
    const { code, stdout, stderr } = await sluiceHere(args);
    expect(code).toBe(0);
    const [ref] = await listed(room.store);
    expect(ref?.sha256).toBe(sha256(PNG));
    expect(stdout).toContain(ref?.id);
    expect(stdout).not.toContain(PNG.toString("base64").slice(0, 40));
    expect(stdout.endsWith("}\n")).toBe(true);
    expect(stderr).toMatch(/^sluice: files\.read_media_file: PNG image, 64 × 48, .*: stored as files_[0-9a-f]{12}\n$/);
    const pretty = await sluiceHere([...args, "--pretty", "--scope", "session=s1"]);
    expect(JSON.parse(pretty.stdout)).toEqual(JSON.parse(stdout));
    expect(pretty.stdout).toMatch(/^\{\n {2}"/);
    expect(await listed(room.store, "--scope", "session=s1")).toHaveLength(1);
  });

  test("of a preset", async () => {
    await using room = await Room.open();
    await room.write("a.txt", "hello");
    const args = call("filesystem.read_text_file", { path: room.path("a.txt") }, "--store", "memory");
    const { code, stdout } = await sluiceHere(args, { cwd: ROOT, env: { FILESYSTEM_ROOT: room.folder } });
    expect(code).toBe(0);
    expect(stdout).toContain("hello");
  });

  test("of an HTTP tool in bytes is stored byte for byte, and nothing else is on stdout", async () => {
    await using room = await Room.open();
    const api = await weather(({ path }, response) => {
      if (path === "/map") response.setHeader("content-type", "application/pdf").end(PDF);
      else sendJson(response, {});
    });
    const config = await configOf(room, api);
    const { code, stdout } = await sluiceHere(call("weather.map", { city: "Oslo" }, "--store", room.store, ...config));
    expect(code).toBe(0);
    expect(() => JSON.parse(stdout) as unknown).not.toThrow();
    expect((await listed(room.store)).map((ref) => ref.sha256)).toEqual([sha256(PDF)]);
  });

  test("of a command is its very bytes", async () => {
    await using room = await Room.open();
    const file = await room.write("a.pdf", PDF);
    const config = await configOf(room, { name: "show", transport: "cli", connection: "cat" });
    const { code, stdout } = await sluiceHere(call("show.run", { args: [file] }, "--store", room.store, ...config));
    expect(code).toBe(0);
    expect(stdout).toContain(`"mime_type":"application/pdf","size_bytes":${PDF.length}`);
    expect((await listed(room.store)).map((ref) => ref.sha256)).toEqual([sha256(PDF)]);
  });

  test("that the tool calls a failure exits 1, and stands on stdout", async () => {
    await using room = await Room.open();
    const config = await configOf(room, filesIn(room.folder));
    const args = call("files.read_text_file", { path: "/no/such/file" }, "--store", "memory", ...config);
    const { code, stdout, stderr } = await sluiceHere(args);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toContain("Access denied");
  });

  test("is printed although the store refuses it; exit 73", async () => {
    await using room = await Room.open();
    await room.write("store", "a file where a folder should be");
    const config = await configOf(room, everything);
    const { code, stdout, stderr } = await sluiceHere(
      call("every.get-tiny-image", {}, "--store", room.store, ...config),
    );
    expect(code).toBe(73);
    expect(stdout).toContain("truncated_");
    expect(stderr).toContain("the store path is a file, or lies inside one: use a folder");
    expect(stderr).toContain(`The store is ${room.store}\n`);
  });

  test("of a generated tool is one as well", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const { code, stdout } = await sluiceHere(call("every.resources_list", {}, "--store", "memory", ...config));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ total: 7 });
  });
});

describe("a call that fails", () => {
  test("since its source is silent for too long says so meanwhile on stderr, and in a result that a model can read", async () => {
    await using room = await Room.open();
    const silent = await scripted(room, { tools: { wait: "await new Promise(() => {});" } });
    const config = await configOf(room, { ...silent, timeout_s: 2, notify_after_s: [1, 10, 20] });
    const tool = `${silent.name}.wait`;
    const { code, stdout, stderr } = await sluiceHere(call(tool, {}, ...config));
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual(timeoutResult(2, null));
    const waits = [...waitNotices([1], 2), overAfter(2)].map(({ message }) => `sluice: ${tool}: ${message}`);
    expect(stderr.split("\n").filter((line) => line.includes(tool))).toEqual(waits);
  });

  test("is tried again where that may help, and each time is told", async () => {
    await using room = await Room.open();
    let requests = 0;
    const api = await weather((_, response) => {
      requests += 1;
      if (requests < 3) response.writeHead(503).end("sk-secret");
      else sendJson(response, { ok: true });
    });
    const { code, stdout, stderr } = await sluiceHere(
      call("weather.echo", {}, "--store", "memory", ...(await configOf(room, api))),
    );
    expect([code, stdout]).toEqual([0, '{"ok":true}\n']);
    expect(stderr.match(/^sluice: .* Trying again in \d\.\d s\.$/gm)).toHaveLength(2);
    expect(stderr).not.toContain("sk-secret");
  });

  test.each([
    [500, 69],
    [429, 69],
    [401, 77],
    [404, 1],
  ])("for the status %i in the end exits %i", async (status, exit) => {
    await using room = await Room.open();
    const api = await weather((_, response) => void response.writeHead(status).end());
    const { code, stdout, stderr } = await sluiceHere(
      call("weather.echo", {}, "--store", "memory", ...(await configOf(room, api))),
    );
    expect([code, stdout]).toEqual([exit, ""]);
    expect(stderr).toMatch(/^sluice: .*weather/);
  });

  test("for want of a tool, or of a variable", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything, unset);
    const noTool = await sluiceHere(call("every.get-tiny-imge", {}, "--store", "memory", ...config));
    expect([noTool.code, noTool.stdout]).toEqual([1, ""]);
    expect(noTool.stderr).toMatch(
      /^sluice: the source every has no tool "get-tiny-imge"; did you mean get-tiny-image\?\n$/,
    );
    expect((await sluiceHere(call("unset.x", {}, "--store", "memory", ...config))).code).toBe(77);
  });
});

describe("arguments", () => {
  test("come from the line, a file, or standard input", async () => {
    await using room = await Room.open();
    const file = await room.write("args.json", '\ufeff{"message": "from a file"}');
    const config = [...(await configOf(room, everything)), "--store", "memory"];
    const said = async (args: string, input = ""): Promise<string> =>
      (await sluice(["tools", "call", "every.echo", "--args", args, ...config], { input })).stdout;
    expect(await said('{"message":"here"}')).toContain("Echo: here");
    expect(await said(`@${file}`)).toContain("Echo: from a file");
    expect(await said("-", '{"message":"from a pipe"}')).toContain("Echo: from a pipe");
  });

  test.each([
    ['{"a":sk-secret}', /--args is not JSON/],
    ["[1]", /must be a JSON object/],
    ["null", /must be a JSON object/],
    ["@", /needs the name of a file/],
    ["-", /standard input is empty/],
  ])("%j exits 2 before anything is started", async (args, sentence) => {
    const { code, stdout, stderr } = await sluice(["tools", "call", "filesystem.x", "--args", args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toContain("sk-secret");
  });

  test("in a file that is not there exit 66", async () => {
    expect((await sluiceHere(["tools", "call", "filesystem.x", "--args", "@/no/such/file"])).code).toBe(66);
  });

  test.each([["echo"], [".echo"], ["every."], [""]])("the name %j exits 2", async (name) => {
    const { code, stderr } = await sluiceHere(["tools", "call", name, "--args", "{}"]);
    expect(code).toBe(2);
    expect(stderr).toContain("SOURCE.TOOL");
  });
});

/** A server that notes its process and what it is told, and answers no call. */
const silent = (room: Room, prelude = "") =>
  scripted(room, {
    tools: { wait: "return undefined;" },
    prelude: `import { appendFileSync } from "node:fs"; ${prelude} const note = (text) => appendFileSync(${JSON.stringify(room.path("notes"))}, text + "\\n"); note("pid " + process.pid);`,
    before: "note(message.method ?? 'answer');",
  });

async function noted(room: Room, text: RegExp): Promise<string> {
  for (;;) {
    const notes = await readFile(room.path("notes"), "utf8").catch(() => "");
    if (text.test(notes)) return notes;
    await delay(50);
  }
}

/** Ids of all processes of the server that were started. */
const pids = (notes: string): number[] => Array.from(notes.matchAll(/^pid (\d+)$/gm), ([, pid]) => Number(pid));

async function gone(room: Room): Promise<void> {
  const all = pids(await readFile(room.path("notes"), "utf8"));
  expect(all.length).toBeGreaterThan(0);
  while (all.some(isRunning)) await delay(50);
}

describe.skipIf(process.platform === "win32")("a signal", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s cancels the call at the server, and leaves no process behind", async (signal, exit) => {
    await using room = await Room.open();
    const config = await configOf(room, await silent(room));
    const child = start(call("scripted.wait", {}, "--store", "memory", ...config));
    const ended = new Promise((resolve) => child.once("close", resolve));
    await noted(room, /tools\/call/);
    child.kill(signal);
    expect(await ended).toBe(exit);
    expect(await noted(room, /notifications\/cancelled/)).toContain("notifications/cancelled");
    await gone(room);
  });

  test("while a server keeps silent at the start, and heeds nothing, leaves no process behind either", async () => {
    await using room = await Room.open();
    const { connection } = await silent(
      room,
      'process.on("SIGTERM", () => undefined); setInterval(() => undefined, 1000);',
    );
    const file = room.path("server.mjs");
    const deaf = (await readFile(file, "utf8")).replace(
      "for await (const line",
      "await new Promise(() => undefined); for await (const line",
    );
    await writeFile(file, deaf);
    const config = await configOf(room, { name: "scripted", transport: "mcp", connection });
    const child = start(["tools", "connect", "scripted", ...config]);
    const ended = new Promise((resolve) => child.once("close", resolve));
    await noted(room, /^pid/m);
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    await gone(room);
  });
});
