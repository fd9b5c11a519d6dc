/** Output on a terminal: tables, progress, and what goes away again. */
import fc from "fast-check";
import { execFile } from "node:child_process";
import { PassThrough } from "node:stream";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { type Overlong, printRows } from "../../../../web/src/cli/terminal/table.js";
import { deliver } from "../../../../web/src/cli/terminal/delivery.js";
import { onOneLine, Output, type Terminal } from "../../../../web/src/cli/terminal/terminal.js";
import { COMMAND, listed, Room, sluice } from "../command.js";
import { PDF, WORKBOOK } from "../results.js";

const self = `${JSON.stringify(process.execPath)} ${JSON.stringify(COMMAND)}`;

async function onTerminal(room: Room, command: string, typed = ""): Promise<string> {
  const { NO_COLOR: _, ...env } = process.env;
  const options = { cwd: room.folder, env: { ...env, TERM: "xterm" } };
  const running = promisify(execFile)("script", ["-qefc", `stty cols 100; ${command}`, "/dev/null"], options);
  running.child.stdin?.write(typed);
  return (await running).stdout.replaceAll("\r\n", "\n");
}

test("a target that cannot be written leaves nothing of the store open", async () => {
  let isOpen = true;
  const bytes = new ReadableStream<Uint8Array>({ cancel: () => void (isOpen = false) });
  const errors = new Output(Object.assign(new PassThrough(), { isTTY: false }), {});
  const terminal = { errors, output: errors, signal: new AbortController().signal } as unknown as Terminal;
  const what = { name: "a_1", mime_type: "image/png", size: 3, command: "artifacts get" };
  await expect(deliver(bytes, what, "/nowhere/at/all/x", terminal)).rejects.toMatchObject({ exit: 73 });
  expect(isOpen).toBe(false);
});

// util-linux's `script` gives a command a terminal.
describe.runIf(process.platform === "linux")("on a terminal", () => {
  test("list is a table with sizes a person can read", async () => {
    await using room = await Room.open();
    await sluice(["transform", "--store", room.store, "--namespace", "t"], { input: WORKBOOK });
    const text = await onTerminal(room, `${self} artifacts list --store store`);
    expect(text).toMatch(/ID +TYPE +SIZE +AGE +FILE/);
    expect(text).toContain(`${(PDF.length / 1024).toFixed(1)} KB`);
    expect(text).toContain("1 artifact");
  });

  test("NO_COLOR leaves colours out", async () => {
    await using room = await Room.open();
    expect(await onTerminal(room, `${self} --help`)).toContain("\u001b[1m");
    expect(await onTerminal(room, `NO_COLOR=1 ${self} --help`)).not.toContain("\u001b");
  });

  test("get does not spill bytes over the screen", async () => {
    await using room = await Room.open();
    await sluice(["transform", "--store", room.store], { input: WORKBOOK });
    const id = (await listed(room.store))[0]!.id;
    await expect(onTerminal(room, `${self} artifacts get ${id} --store store`)).rejects.toMatchObject({
      code: 2,
      stdout: expect.stringContaining("-o FILE") as string,
    });
  });

  test("purge asks, and believes a no", async () => {
    await using room = await Room.open();
    await sluice(["transform", "--store", room.store], { input: WORKBOOK });
    await expect(onTerminal(room, `${self} artifacts purge --store store`, "n\n")).rejects.toMatchObject({ code: 1 });
    expect(await listed(room.store)).toHaveLength(1);
    expect(await onTerminal(room, `${self} artifacts purge --store store`, "yes\n")).toContain("Delete 1 artifact");
    expect(await listed(room.store)).toHaveLength(0);
  });

  test("long work shows progress and takes it away again", async () => {
    await using room = await Room.open();
    // In pieces, so that work goes on long enough wherever the command is slow to start.
    const slowly = `(printf '{"a":"'; for i in 1 2 3 4 5 6; do sleep 0.5; head -c 500000 /dev/zero | tr '\\0' x; done; printf '"}')`;
    const text = await onTerminal(room, `${slowly} | ${self} transform --store store`);
    expect(text).toMatch(/\r\u001b\[Ktransform: [\d.]+ [KM]?B, [\d.]+ [KM]?B\/s/);
    expect(text).toMatch(/\r\u001b\[K\{/);
  });
});

const COLUMNS = [{ title: "NAME" }, { title: "N", right: true }, { title: "TEXT" }];
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** What is printed, line by line. */
async function printed(
  rows: readonly (readonly string[])[],
  { isTTY, columns = 80 }: { readonly isTTY: boolean; readonly columns?: number },
  overlong?: Overlong,
): Promise<string[]> {
  const stream = Object.assign(new PassThrough(), { isTTY, columns });
  await printRows(COLUMNS, rows, new Output(stream, { NO_COLOR: "1" }), overlong);
  const text = String(stream.read() ?? "");
  expect(text === "" || text.endsWith("\n")).toBe(true);
  return text.split("\n").slice(0, -1);
}

const text = fc.string({
  unit: fc.oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    fc.constantFrom(" ", "\n", "\t", "\u001b", "\u202e", "\u{e0041}"),
  ),
});
const cell = fc.stringMatching(/^[a-z_.-]{0,20}$/);

describe("printRows", () => {
  test("in a pipe gives a line for each row, with all of its text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell, text)), async (rows) => {
        const lines = await printed(rows, { isTTY: false });
        expect(lines).toEqual(rows.map((row) => row.map(onOneLine).join("\t")));
        for (const line of lines) expect(line.replaceAll("\t", "")).not.toMatch(CONTROL);
      }),
    );
  });

  test("on a terminal never goes beyond its width", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, cell, text), { minLength: 1 }),
        fc.constantFrom<Overlong>("cut", "wrap"),
        async (rows, how) => {
          const ascii = rows.map(([name, n, last]) => [name, n, last.replace(/[^ -~]/g, " ")]);
          const lines = await printed(ascii, { isTTY: true, columns: 100 }, how);
          // A word of its own may be longer than the line that is left for it.
          const longest =
            how === "wrap"
              ? Math.max(...ascii.map(([, , last = ""]) => Math.max(...last.split(" ").map((word) => word.length))))
              : 0;
          for (const line of lines) expect(line.length).toBeLessThanOrEqual(100 + longest);
          expect(lines.length).toBeGreaterThanOrEqual(rows.length + 1);
          expect(how === "wrap" || lines.length === rows.length + 1).toBe(true);
        },
      ),
    );
  });

  test("cuts a long last cell, or wraps it below itself", async () => {
    const row = ["a", "1", "one two three four five six seven"];
    expect(await printed([row], { isTTY: true, columns: 34 })).toEqual([
      "NAME  N  TEXT",
      "a     1  one two three four five…",
    ]);
    expect(await printed([row], { isTTY: true, columns: 34 }, "wrap")).toEqual([
      "NAME  N  TEXT",
      "a     1  one two three four five",
      "         six seven",
    ]);
  });

  test("prints no headings over nothing", async () => {
    expect(await printed([], { isTTY: true })).toEqual([]);
  });
});
