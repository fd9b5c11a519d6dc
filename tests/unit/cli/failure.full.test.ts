/** Failure is an answer: what the store refuses is told, and the result is printed all the same. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { COMMAND, listed, Room, type RunOptions, shell, sluice, start } from "./command.js";
import { hugeResult, PDF, PNG, SCREENSHOT, sha256, WORKBOOK } from "./results.js";

const NOBODY = 65_534;
const transform = (room: Room, ...more: string[]): string[] => ["transform", "--store", room.store, ...more];

async function filesNamed(room: Room, wanted: string): Promise<string[]> {
  const found = await readdir(room.store, { recursive: true, withFileTypes: true });
  return found.filter(({ name }) => name === wanted).map(({ parentPath, name }) => join(parentPath, name));
}

describe("transform over a store that refuses", () => {
  test("prints the result with truncated references, the error with its remedy, and exits 73", async () => {
    await using room = await Room.open();
    await room.write("store", "a file where a folder should be");
    for (const dialect of ["observation", "mcp"]) {
      const { code, stdout, stderr } = await sluice(transform(room, "--dialect", dialect), { input: WORKBOOK });
      expect(code).toBe(73);
      expect(stdout).toContain("truncated_");
      expect(stdout).toContain("not stored");
      expect(stdout).not.toContain(PDF.toString("base64").slice(0, 40));
      expect(() => JSON.parse(stdout) as unknown).not.toThrow();
      expect(stderr).toMatch(/^sluice: the store path is a file, .*: use a folder\nThe store is .*\n$/);
      expect(stderr).toContain(room.store);
      expect(stdout).not.toContain(room.store);
    }
  });

  test("goes on with the next line, and tells which lines it was", async () => {
    await using room = await Room.open();
    await room.write("store", "");
    const input = `{"a":1}\n${WORKBOOK}\n[2]\n${SCREENSHOT}\nnope\n`;
    const { code, stdout, stderr } = await sluice(transform(room, "--ndjson"), { input });
    const lines = stdout.trimEnd().split("\n");
    expect(code).toBe(73);
    expect(lines).toHaveLength(5);
    expect([lines[0], lines[2]]).toEqual(['{"a":1}', "[2]"]);
    expect([lines[1], lines[3]]).toEqual([
      expect.stringContaining("truncated_"),
      expect.stringContaining("truncated_"),
    ]);
    expect(lines[4]).toContain("E_JSON_SYNTAX");
    expect(stderr.match(/^sluice: line \d/gm)).toEqual(["sluice: line 2", "sluice: line 4"]);
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(`The store is ${room.store}`);
  });

  test("the first line that fails gives the exit code", async () => {
    await using room = await Room.open();
    await room.write("store", "");
    expect((await sluice(transform(room, "--ndjson"), { input: `nope\n${WORKBOOK}\n` })).code).toBe(65);
  });

  test("what is larger than the store takes is the store's, not the input's", async () => {
    await using room = await Room.open();
    const config = await room.write("limits.json", JSON.stringify({ retention: { max_artifact_bytes: 10_000 } }));
    const { code, stdout, stderr } = await sluice(transform(room, "--config", config), { input: WORKBOOK });
    expect(code).toBe(73);
    expect(stdout).toContain("(E_TOO_LARGE)");
    expect(stderr).toMatch(/^sluice: .*\nThe store is .*\n$/);
    expect(await listed(room.store)).toEqual([]);
  });

  test("what was never stored is not restored, and restore says so", async () => {
    await using room = await Room.open();
    await room.write("file", "");
    const mcp = ["transform", "--dialect", "mcp", "--store", room.path("file")];
    const { stdout: input } = await sluice(mcp, { input: WORKBOOK });
    const restored = await sluice(["restore", "--store", room.store], { input });
    expect(restored).toMatchObject({ code: 1, stdout: "" });
    expect(restored.stderr).toMatch(/truncated_\w+ was never stored.*call the tool again/);
  });

  test("with success nothing is said, and the exit code is 0", async () => {
    await using room = await Room.open();
    expect(await sluice(transform(room), { input: WORKBOOK })).toMatchObject({ code: 0, stderr: "" });
  });
});

// Files above a limit fail as on a full disk, from the middle of a write on; 512 bytes a block.
const limited = (blocks: number, args: readonly string[]): string =>
  `trap '' XFSZ; ulimit -f ${blocks}; exec ${[process.execPath, COMMAND, ...args].map((word) => `'${word}'`).join(" ")}`;

describe.skipIf(process.platform === "win32")("transform where the system refuses", () => {
  test("files above a size: what is small is stored, what is large is told", async () => {
    await using room = await Room.open();
    const large = Buffer.concat([PDF, Buffer.alloc(4_000_000, "x")]);
    const input = JSON.stringify({ large: large.toString("base64"), png: PNG.toString("base64"), note: "kept" });
    const ended = await shell(limited(1_024, transform(room)), { input });
    expect(ended.code).toBe(73);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      note: "kept",
      large: {
        artifact: {
          size_bytes: large.length,
          source: { warning: expect.stringContaining("(E_STORE_FULL)") as string, truncated: true },
        },
      },
    });
    expect(ended.stderr).toMatch(/^sluice: the artifact is larger than the store's file system allows/);
    expect((await listed(room.store)).map(({ sha256: hash }) => hash)).toEqual([sha256(PNG)]);
    expect(await readdir(join(room.store, "tmp"))).toEqual([]);
  });

  test("a folder that this user may not write", async () => {
    await using room = await Room.open();
    await chmod(room.folder, 0o755);
    await mkdir(room.store, { mode: 0o555 });
    const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    const { code, stdout, stderr } = await sluice(transform(room), { input: WORKBOOK, ...user });
    expect(code).toBe(73);
    expect(stdout).toContain("(E_STORE_DENIED)");
    expect(stderr).toMatch(/^sluice: access to the store was denied: /);
  });
});

describe("a damaged artifact", () => {
  test.each([
    ["changed", (blob: string) => readFile(blob).then((bytes) => writeFile(blob, bytes.fill(0x41, 20, 25)))],
    ["shortened", (blob: string) => truncate(blob, 30)],
  ])("that was %s is told with its id by restore and get, and no file is left", async (_, damage) => {
    await using room = await Room.open();
    const { stdout: input } = await sluice(transform(room, "--dialect", "mcp"), { input: SCREENSHOT });
    const [ref] = await listed(room.store);
    const [blob = ""] = await filesNamed(room, "blob");
    await damage(blob);
    const restored = await sluice(["restore", "--store", room.store], { input });
    expect(restored.code).toBe(74);
    expect(restored.stderr).toMatch(new RegExp(`^sluice: artifact ${ref?.id}: .*damaged: delete the artifact`));
    const target = room.path("out.png");
    const got = await sluice(["artifacts", "get", ref?.id ?? "", "--store", room.store, "-o", target]);
    expect(got).toMatchObject({ code: 74, stdout: "" });
    expect(got.stderr).toContain("damaged");
    expect((await readdir(room.folder)).toSorted()).toEqual(["store"]);
    expect(await sluice(["artifacts", "get", ref?.id ?? "", "--store", room.store])).toMatchObject({
      code: 74,
      stdout: "",
    });
  });
});

describe("where few files may be open", () => {
  const commands = [
    ["transform", "--store", "memory"],
    ["sniff"],
    ["artifacts", "list", "--store", "/nowhere"],
    ["run", "--user", "ada", "--", "true"],
    ["proxy", "--store", "memory", "--", "cat"],
    ["serve", "--listen", "127.0.0.1:0"],
  ];

  test.each(commands)("%s says so in one line, and fails", async (...words) => {
    const outcomes = await Promise.all(
      [20, 22, 24].map((limit) =>
        shell(`unset NODE_V8_COVERAGE; ulimit -n ${limit}; exec "${process.execPath}" "${COMMAND}" ${words.join(" ")}`),
      ),
    );
    const stderr = expect.stringMatching(/^sluice: .*raise the limit \(ulimit -n\).*\n$/) as string;
    expect(outcomes).toEqual(outcomes.map(() => ({ code: 1, stdout: "", stderr })));
  });

  test("results are made as soon as node can load what makes them", async () => {
    await using room = await Room.open();
    const command = `exec "${process.execPath}" "${COMMAND}" transform --store "${room.store}"`;
    const { code, stdout, stderr } = await shell(`ulimit -n 64; ${command}`, { input: SCREENSHOT });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).not.toBe("");
  });
});

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
  const others = loaded.filter((file) => !file.startsWith("cli/") && !file.startsWith("errors/"));
  // What was asked for.
  expect(others).toEqual(["server/version.js"]);
});

/** What V8 tells of the scripts of a process. */
interface Report {
  readonly result: readonly { readonly url: string }[];
}
