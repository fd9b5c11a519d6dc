/** What previews make of text does not depend on the pieces in which it comes. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Elements } from "../../../../web/ui/viewer/json.js";
import { Indented } from "../../../../web/ui/viewer/code.js";
import { Lines } from "../../../../web/ui/viewer/text-view.js";

function pieces(text: string, sizes: readonly number[]): string[] {
  const found: string[] = [];
  let at = 0;
  for (const size of sizes) {
    found.push(text.slice(at, at + size));
    at += size;
  }
  return [...found, text.slice(at)];
}
const sizes = fc.array(fc.integer({ min: 0, max: 9 }));

test("elements of any array are found", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), sizes, fc.constantFrom(0, 1), (values, cuts, indent) => {
      const elements = new Elements();
      const found = pieces(JSON.stringify(values, null, indent), cuts).flatMap((piece) => elements.push(piece));
      expect(found.map((source) => JSON.stringify(JSON.parse(source)))).toEqual(
        values.map((value) => JSON.stringify(value)),
      );
    }),
  );
});

test("JSON is laid out as JSON.stringify would", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), sizes, (value, cuts) => {
      const layout = new Indented();
      const laid = pieces(JSON.stringify(value), cuts).map((piece) => layout.push(piece));
      expect(laid.join("")).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

test("any text at all passes, with nothing lost but space", () => {
  fc.assert(
    fc.property(fc.string(), sizes, (text, cuts) => {
      const layout = new Indented();
      const laid = pieces(text, cuts).map((piece) => layout.push(piece));
      expect(laid.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
    }),
  );
});

test("lines are what is between their ends", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "\n", "\r\n", "😀") }), sizes, (text, cuts) => {
      const lines = new Lines();
      for (const piece of pieces(text, cuts)) lines.push(piece);
      lines.end();
      const rows = Array.from({ length: lines.count }, (_, at) => lines.row(at));
      const expected = text === "" ? [""] : text.replace(/\r?\n$/, "").split(/\r?\n/);
      expect(rows.map((row) => row.text)).toEqual(expected);
      expect(rows.map((row) => row.line)).toEqual(expected.map((_, at) => at + 1));
    }),
  );
});

test("a long line becomes rows of whole words and characters", () => {
  const lines = new Lines();
  const text = `${"word ".repeat(500)}${"😀".repeat(2000)}`;
  for (const piece of [text.slice(0, 777), text.slice(777), "\nnext"]) lines.push(piece);
  lines.end();
  const rows = Array.from({ length: lines.count }, (_, at) => lines.row(at));
  expect(rows.map(({ line }) => line).filter((line) => line !== 0)).toEqual([1, 2]);
  expect(
    rows
      .slice(0, -1)
      .map((row) => row.text)
      .join(""),
  ).toBe(text);
  expect(rows.every((row) => row.text.length <= 1000 && !/\p{Cs}/u.test(row.text))).toBe(true);
  expect(rows[0]?.text.endsWith("word ")).toBe(true);
});
