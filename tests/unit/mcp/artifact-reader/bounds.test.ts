import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ArtifactReader, type ReadSource } from "../../../../web/src/mcp/artifact-reader/artifact-reader.js";
import { dataOf, lengthOf, readingOf, refOf, URI, wordsOf } from "./artifacts.js";

const MIB = 1024 * 1024;
const encoder = new TextEncoder();

const wide = fc.constantFrom(
  '{"a":',
  "[",
  "]",
  "}",
  ",",
  '"',
  "\\",
  "\n",
  "\u0001",
  "é",
  "😀",
  "x".repeat(3000),
  "0",
  ":",
  "a,b\n",
);
const content = fc.oneof(
  fc.uint8Array({ maxLength: 5000 }),
  fc.array(wide, { maxLength: 60 }).map((parts) => encoder.encode(parts.join(""))),
  fc.jsonValue({ maxDepth: 6 }).map((value) => encoder.encode(JSON.stringify([value, "y".repeat(9000)], null, 1))),
  fc
    .dictionary(fc.string({ maxLength: 400 }), fc.string({ maxLength: 200 }), { minKeys: 30 })
    .map((value) => encoder.encode(JSON.stringify(value))),
);
const argument = fc.oneof(
  fc.tuple(
    fc.constantFrom("bytes", "lines", "rows"),
    fc.constantFrom("0-", "1-", "1-9", "3", "-100", "x".repeat(900), "9-1", "99999999-"),
  ),
  fc.tuple(fc.constant("pointer"), fc.constantFrom("", "/0", "/1", "/a", "/~", `/${"a".repeat(1500)}`, "/0/0/0")),
  fc.tuple(
    fc.constant("search"),
    fc.constantFrom("x", "0", '"', "é", "\u0001", "\n", "z".repeat(200), "z".repeat(201)),
  ),
  fc.tuple(fc.string({ maxLength: 400 }), fc.anything()),
);
const info = fc.record({
  mime_type: fc.option(
    fc.constantFrom("application/json", "text/csv", "application/x-ndjson", "text/plain", "<b>/\n", "a".repeat(999)),
  ),
  filename: fc.option(fc.string({ maxLength: 500 })),
  source: fc.record({ description: fc.oneof(fc.string({ maxLength: 3000 }), fc.anything()) }),
});

test("no answer is longer than the limit, whatever the artifact and the arguments", async () => {
  const maxChars = fc.constantFrom(1, 2000, 4000, 10_000);
  const limit = fc.option(fc.constantFrom(1, 50, 5000, 1e9), { nil: undefined });
  await fc.assert(
    fc.asyncProperty(
      content,
      fc.array(argument, { maxLength: 2 }),
      info,
      maxChars,
      limit,
      async (bytes, given, said, most, less) => {
        const reading = readingOf(bytes, { sizes: [1000, 1], info: said, maxChars: most });
        const result = await reading.call({ uri: URI, limit: less, ...Object.fromEntries(given) });
        expect(lengthOf(result)).toBeLessThanOrEqual(Math.max(2000, most));
        expect(Object.keys(result).every((key) => key === "content" || key === "isError")).toBe(true);
      },
    ),
    { numRuns: 400 },
  );
});

test("arguments of any kind are answered, never thrown at", async () => {
  await fc.assert(
    fc.asyncProperty(fc.anything(), async (args) => {
      expect((await readingOf("x").call(args)).isError).toBe(true);
    }),
  );
});

/** So many bytes that are made as they are read, in one buffer. Notes how many, and the most memory in use meanwhile. */
class Generated implements ReadSource {
  read = 0;
  peak = 0;
  readonly #size: number;
  readonly #line: Uint8Array;
  readonly #mime_type: string;
  constructor(size: number, line: string, mime_type = "text/plain") {
    this.#size = size;
    this.#line = encoder.encode(line);
    this.#mime_type = mime_type;
  }
  stat() {
    return Promise.resolve(refOf(this.#size, { mime_type: this.#mime_type }));
  }
  openReader(_id: string, { start, end = this.#size }: { start: number; end?: number }) {
    const line = this.#line;
    const buffer = new Uint8Array(64 * 1024);
    let at = start;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      const size = Math.min(buffer.length, end - at);
      if (size === 0) {
        controller.close();
        return;
      }
      // As a pattern that is copied, since it would take longest otherwise.
      const shift = at % line.length;
      for (let to = 0; to < size;) {
        const piece = line.subarray(to === 0 ? shift : 0, (to === 0 ? shift : 0) + size - to);
        buffer.set(piece, to);
        to += piece.length;
      }
      at += size;
      this.read += size;
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      this.peak = Math.max(this.peak, heapUsed + arrayBuffers);
      controller.enqueue(buffer.subarray(0, size));
    };
    return Promise.resolve(new ReadableStream({ pull }, { highWaterMark: 0 }));
  }
}

const LINE = `${"0123456789abcdef".repeat(63)}01234567890123\n,`; // 1,024 bytes, the last one a comma behind the break

test.each([
  ["lines", "200000", LINE, "text/plain", "line 200000."],
  ["lines", "2-", "no line break ", "text/plain", "has 1 line"],
  ["search", "not there", LINE, "text/plain", "not found"],
  ["search", "not there", "x".repeat(999), "text/plain", "not found"],
  ["rows", "190000-190001", LINE, "text/csv", "rows 190000-190001"],
  ["rows", "7-8", '"a quote that never closes,', "text/csv", "has no rows"],
])("200 MiB are read for %s %s in the memory of a window", async (mode, value, line, type, words) => {
  const source = new Generated(200 * MIB, line, type);
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  const result = await new ArtifactReader(source).call({ uri: URI, [mode]: value });
  expect(source.peak - heapUsed - arrayBuffers).toBeLessThan(48 * MIB);
  expect(source.read).toBeGreaterThan(180 * MIB);
  expect(wordsOf(result)).toContain(words);
});

test("a pointer is looked up in 60 MiB without holding them", async () => {
  const source = new Generated(60 * MIB, "                 ", "application/json");
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  const result = await new ArtifactReader(source).call({ uri: URI, pointer: "" });
  expect(result.isError).toBe(true);
  expect(source.read).toBe(60 * MIB + 8192);
  expect(source.peak - heapUsed - arrayBuffers).toBeLessThan(48 * MIB);
});

test("no more is read than lines that stand near the start need", async () => {
  const source = new Generated(1024 * MIB, LINE);
  const result = await new ArtifactReader(source).call({ uri: URI, lines: "1-3" });
  expect(dataOf(result)?.split("\n")).toHaveLength(3);
  expect(source.read).toBeLessThan(MIB);
});

test("what lies behind the limit of reading is said to be there", async () => {
  const source = new Generated(10 * MIB, LINE);
  const reading = new ArtifactReader(source, { maxScannedBytes: MIB });
  const lines = await reading.call({ uri: URI, lines: "5000" });
  expect(wordsOf(lines)).toContain("lines 5000 is not within the first 1.0 MB, which have 1,024: use bytes or search.");
  expect(wordsOf(await reading.call({ uri: URI, search: "%" }))).toContain("Only the first 1.0 MB were searched.");
  const huge = await new ArtifactReader(new Generated(65 * MIB, "[1],", "application/json")).call({
    uri: URI,
    pointer: "/0",
  });
  expect(wordsOf(huge)).toContain("larger than 64.0 MB, too large for pointer: use lines, bytes or search");
});

test("a call that is aborted rejects, and lets its source go", async () => {
  const source = new Generated(200 * MIB, LINE);
  const abort = new AbortController();
  const calling = new ArtifactReader(source).call({ uri: URI, search: "not there" }, { signal: abort.signal });
  setTimeout(() => abort.abort(new Error("enough")));
  await expect(calling).rejects.toThrow("enough");
  expect(source.read).toBeLessThan(200 * MIB);
});

test("JSON nested deeper than can be followed is refused", async () => {
  const reading = readingOf("[".repeat(100_000), { sizes: [4096], info: { mime_type: "application/json" } });
  expect(wordsOf(await reading.call({ uri: URI, pointer: "" }))).toContain("nested deeper than 1000 levels");
});
