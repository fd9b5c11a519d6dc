import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { COMMAND, listed, Room, sluice, start, type RunOptions } from "./command.js";
import { hugeResult, WORKBOOK } from "./results.js";

const MIB = 1024 * 1024;

/** Makes the child write its greatest resident size, in KiB, to a file when it ends. */
const MEASURE = `data:text/javascript,${encodeURIComponent(
  `import{writeFileSync}from"node:fs";process.on("exit",()=>writeFileSync(process.env.RSS_FILE,String(process.resourceUsage().maxRSS)))`,
)}`;

/** Holds what `restore` makes of `reduced` against what is expected, piece by piece, without holding either. */
async function restoresTo(expected: AsyncGenerator<Uint8Array>, room: Room, reduced: string): Promise<string> {
  const file = await room.write("reduced.json", reduced);
  const child = start(["restore", file, "--store", room.store], measured(room));
  const closed = once(child, "close");
  let rest: Uint8Array = new Uint8Array(0);
  let verdict = "the same";
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length && verdict === "the same";) {
      if (rest.length === 0) rest = ((await expected.next()).value as Uint8Array | undefined) ?? new Uint8Array(0);
      const length = Math.min(rest.length, chunk.length - at);
      if (length === 0) verdict = "longer";
      else if (!chunk.subarray(at, at + length).equals(rest.subarray(0, length))) verdict = "different";
      rest = rest.subarray(length);
      at += length;
    }
  }
  if ((await closed)[0] !== 0) verdict = "a failure";
  return verdict === "the same" && (rest.length > 0 || (await expected.next()).done !== true) ? "shorter" : verdict;
}

/** The start options under which a child measures itself. */
function measured(room: Room): RunOptions {
  return { node: ["--import", MEASURE], env: { RSS_FILE: room.path("rss") } };
}

/** The greatest resident size of the child that ended last, in KiB. */
async function greatestSize(room: Room): Promise<number> {
  return Number(await readFile(room.path("rss"), "utf8"));
}

async function* aHugeLine(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('{"a":1}\n');
  yield* hugeResult(64 * MIB);
  yield Buffer.from('\n{"b":2}\n');
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

describe("long work", () => {
  test("64 MiB of bytes stream through in under 160 MB, and back", async () => {
    await using room = await Room.open();
    const mcp = ["transform", "--dialect", "mcp", "--store", room.store];
    const { code, stdout } = await sluice(mcp, { input: hugeResult(64 * MIB), ...measured(room) });
    expect(code).toBe(0);
    expect(stdout.length).toBeLessThan(2000);
    expect((await listed(room.store))[0]?.size_bytes).toBeGreaterThanOrEqual(64 * MIB);
    expect(await greatestSize(room)).toBeLessThan(160_000);
    expect(await restoresTo(hugeResult(64 * MIB), room, stdout)).toBe("the same");
    expect(await greatestSize(room)).toBeLessThan(160_000);
  });

  test("a line of 64 MiB in --ndjson is never held whole", async () => {
    await using room = await Room.open();
    const { code, stdout } = await sluice(["transform", "--ndjson", "--store", room.store], {
      input: aHugeLine(),
      ...measured(room),
    });
    expect(code).toBe(0);
    expect(stdout.split("\n")).toHaveLength(4);
    expect(await greatestSize(room)).toBeLessThan(160_000);
  });
});

describe("an early end", () => {
  test("a reader that goes away ends it quietly", async () => {
    await using room = await Room.open();
    await sluice(["transform", "--store", room.store], { input: hugeResult(8 * MIB) });
    const id = (await listed(room.store))[0]!.id;
    const child = start(["artifacts", "get", id, "--store", room.store]);
    const errors: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
    const closed = once(child, "close");
    child.stdout.once("data", () => child.stdout.destroy());
    expect((await closed)[0]).toBe(0);
    expect(Buffer.concat(errors).toString()).toBe("");
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s ends it with %d and leaves nothing half-written", async (signal, code) => {
    await using room = await Room.open();
    await sluice(["transform", "--store", room.store], { input: WORKBOOK });
    const before = await filesIn(room.store);
    const child = start(["transform", "--store", room.store]);
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const closed = once(child, "close");
    child.stdin.on("error", () => undefined);
    let sent = 0;
    for await (const chunk of hugeResult(4 * MIB)) {
      if (sent > 3 * MIB) break;
      sent += chunk.length;
      if (!child.stdin.write(chunk)) await once(child.stdin, "drain");
    }
    child.kill(signal);
    expect((await closed)[0]).toBe(code);
    expect(stderr).toBe("");
    expect(new Set(await filesIn(room.store))).toEqual(new Set(before));
  });
});

test("starts with what it needs and nothing more", async () => {
  await using room = await Room.open();
  const env = { ...process.env, NODE_V8_COVERAGE: join(room.store, "loaded") };
  await promisify(execFile)(process.execPath, [COMMAND, "--version"], { env });
  const [report = ""] = await readdir(env.NODE_V8_COVERAGE);
  const { result } = JSON.parse(await readFile(join(env.NODE_V8_COVERAGE, report), "utf8")) as Report;
  const loaded = result.map(({ url }) => url.split("/dist/")[1]).filter((file) => file !== undefined);
  expect(loaded).toContain("cli/main.js");
  expect(loaded.length).toBeLessThan(20);
  expect(loaded.filter((file) => !file.startsWith("cli/") && !file.startsWith("errors/"))).toEqual([]);
});

/** What V8 tells of the scripts of a process. */
interface Report {
  readonly result: readonly { readonly url: string }[];
}
