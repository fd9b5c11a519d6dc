import { expect, test } from "vitest";
import { inspectBytes, type Inspection } from "../../../../web/src/mcp/artifact-reader/inspection.js";
import { noise } from "../../artifacts/noise.js";
import { dataOf, readingOf, URI, wordsOf } from "./artifacts.js";

function looked(text: string, type = "", filename = ""): Inspection {
  return inspectBytes(new TextEncoder().encode(text), type, filename);
}

test.each([
  ["a,b\n1,2\n", "", "", { kind: "csv", delimiter: 0x2c }],
  ["a;b;c,d\n1;2;3\n", "text/csv", "", { kind: "csv", delimiter: 0x3b }],
  ['"a,b,c"\tb\n1\t2\n', "text/plain", "", { kind: "csv", delimiter: 0x09 }],
  ["a", "text/plain", "A.CSV", { kind: "csv", delimiter: 0x2c }],
  ["a,b", "text/tab-separated-values", "", { kind: "csv", delimiter: 0x09 }],
  ['{"a":1}\n{"a":2}\n', "application/json", "", { kind: "ndjson" }],
  ["[1]\n[2]\n", "text/plain", "", { kind: "ndjson" }],
  ["\u{feff} [1,\n2]", "application/json", "", { kind: "array" }],
  ['{\n"a":1}', "application/json", "", { kind: "none" }],
  ["[section]\nkey=1\n", "text/plain", "", { kind: "none" }],
  ["[link](https://x.example)\n", "text/markdown", "", { kind: "none" }],
  ["One, two,\nthree.", "text/plain", "", { kind: "none" }],
  ["", "text/plain", "", { kind: "none" }],
])("rows of %j (%s %s) are divided as %j", (text, type, filename, layout) => {
  expect(looked(text, type, filename).layout).toEqual(layout);
});

test("JSON is told from what only begins like it", () => {
  expect(looked('{"a": [1, 2').isJson).toBe(true);
  expect(looked("7", "application/json").isJson).toBe(true);
  expect(looked("7", "text/plain").isJson).toBe(false);
  expect(looked("{curly} prose").isJson).toBe(false);
  expect(looked("[section]\nkey=1").isJson).toBe(false);
});

test("text is told from bytes", () => {
  expect(inspectBytes(noise(4096), "text/plain", "a.txt").isText).toBe(false);
  expect(inspectBytes(new Uint8Array([0x61, 0, 0x62]), "", "").isText).toBe(false);
  expect(looked("\u001b[31mred\u001b[0m\r\n").isText).toBe(true);
  expect(inspectBytes(new TextEncoder().encode("é".repeat(5000)).subarray(0, 8191), "", "").isText).toBe(true);
});

test("text of an older encoding is shown, and what could not be read of it is said", async () => {
  const latin = new Uint8Array(Buffer.from("Grüße aus Köln, den 3. März\n", "latin1"));
  const result = await readingOf(latin).call({ uri: URI, lines: "1" });
  expect(dataOf(result)).toBe("Gr\u{fffd}\u{fffd}e aus K\u{fffd}ln, den 3. M\u{fffd}rz");
  expect(wordsOf(result)).toContain('"\u{fffd}" may stand for bytes that are not UTF-8');
});
