/** Rows of foreign text: one line each, within the terminal, nothing that a terminal obeys. */
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { onOneLine, Output } from "../../../../web/src/cli/terminal/terminal.js";
import { printRows, type Overlong } from "../../../../web/src/cli/terminal/table.js";

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
