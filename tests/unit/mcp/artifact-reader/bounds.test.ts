import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ArtifactReader, type ReadSource } from "../../../../web/src/mcp/artifact-reader/artifact-reader.js";
import type { ArtifactToolResult } from "../../../../web/src/index.js";
import { amount } from "../../../support/full.js";
import { dataOf, lengthOf, readingOf, refOf, URI, wordsOf } from "./artifacts.js";

describe("bounds", () => {
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
    // Another program may have written the store.
    source: fc.record({ description: fc.oneof(fc.string({ maxLength: 3000 }), fc.anything() as fc.Arbitrary<string>) }),
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
  /** MiB. */
  const SIZE = amount(64, 200);
  /** Near the end. */
  const LATE = SIZE * 950;

  test.each([
    ["lines", String(LATE), LINE, "text/plain", `line ${LATE}.`],
    ["lines", "2-", "no line break ", "text/plain", "has 1 line"],
    ["search", "not there", LINE, "text/plain", "not found"],
    ["search", "not there", "x".repeat(999), "text/plain", "not found"],
    ["rows", `${LATE}-${LATE + 1}`, LINE, "text/csv", `rows ${LATE}-${LATE + 1}`],
    ["rows", "7-8", '"a quote that never closes,', "text/csv", "has no rows"],
  ])(`${SIZE} MiB are read for %s %s in the memory of a window`, async (mode, value, line, type, words) => {
    const source = new Generated(SIZE * MIB, line, type);
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    const result = await new ArtifactReader(source).call({ uri: URI, [mode]: value });
    expect(source.peak - heapUsed - arrayBuffers).toBeLessThan(48 * MIB);
    expect(source.read).toBeGreaterThan(0.9 * SIZE * MIB);
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
    expect(wordsOf(lines)).toContain(
      "line 5000 is beyond the first 1.0 MB, which have 1,024 lines: use bytes or search.",
    );
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
});

describe("beside another reader", () => {
  const encoder = new TextEncoder();
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
  const range = fc.record({ first: fc.integer({ min: 1, max: 8 }), more: fc.integer({ min: 0, max: 4 }) });
  const text = fc
    .array(fc.constantFrom("a", "B", "é", "€", "😀", "\n", "\r\n", "\r", ",", '"', " ", "\u202e"), { maxLength: 40 })
    .map((parts) => parts.join(""));

  /** The part of a list that was asked for; undefined where there is none. */
  function sliced<T>(list: readonly T[], { first, more }: { first: number; more: number }): readonly T[] | undefined {
    const part = list.slice(first - 1, first + more);
    return part.length === 0 ? undefined : part;
  }

  /** What an answer shows, or undefined for one that says what is wrong. */
  function shown(result: ArtifactToolResult): string | undefined {
    return result.isError === true ? undefined : dataOf(result);
  }

  test("lines are those between line breaks, however the bytes come", async () => {
    await fc.assert(
      fc.asyncProperty(text, sizes, range, async (content, chunks, asked) => {
        const lines = content.replaceAll("\r\n", "\n").split("\n");
        if (lines.at(-1) === "") lines.pop();
        const reading = readingOf(content, { sizes: chunks });
        const result = await reading.call({ uri: URI, lines: `${asked.first}-${asked.first + asked.more}` });
        expect(shown(result)).toBe(sliced(lines, asked)?.join("\n"));
        expect(wordsOf(result)).toMatch(
          lines.length === 0 ? "has no lines" : new RegExp(`(?:of|has) ${lines.length}\\b`),
        );
      }),
    );
  });

  test("bytes of a text are the text, without the characters that are not whole", async () => {
    const asked = fc.record({ start: fc.nat(60), length: fc.integer({ min: 1, max: 60 }) });
    await fc.assert(
      fc.asyncProperty(text, sizes, asked, async (content, chunks, { start, length }) => {
        const bytes = encoder.encode(content);
        const result = await readingOf(content, { sizes: chunks }).call({
          uri: URI,
          bytes: `${start}-${start + length - 1}`,
        });
        let from = start;
        let to = Math.min(bytes.length, start + length);
        const continues = (at: number): boolean => at < bytes.length && (bytes[at]! & 0xc0) === 0x80;
        while (continues(from)) from += 1;
        while (continues(to)) to -= 1;
        const whole = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(from, Math.max(from, to)));
        const isHex = shown(result)?.startsWith("0000") === true;
        expect(isHex ? "" : (shown(result) ?? "none")).toBe(start < bytes.length ? whole : "none");
      }),
    );
  });

  test("bytes that are no text are listed as hex, every one of them", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 90 }),
        sizes,
        fc.nat(80),
        async (bytes, chunks, start) => {
          bytes[bytes.length - 1] = 0;
          const result = await readingOf(bytes, { sizes: chunks }).call({ uri: URI, bytes: `${start}-` });
          const lines = shown(result)?.split("\n");
          const hex = lines?.map((line) => line.slice(10, 57).replaceAll(" ", "")).join("");
          expect(hex).toBe(start < bytes.length ? Buffer.from(bytes.subarray(start)).toString("hex") : undefined);
          expect(lines?.map((line) => Number.parseInt(line, 16))).toEqual(lines?.map((_, at) => start + 16 * at));
        },
      ),
    );
  });

  const field = fc
    .array(fc.constantFrom("a", "é", ",", '"', "\n", "\r\n", " ", "7"), { maxLength: 5 })
    .map((parts) => parts.join(""));

  function written(fields: readonly string[], quoteAll: boolean): string {
    return fields
      .map((each) => (quoteAll || /[",\r\n]/.test(each) ? `"${each.replaceAll('"', '""')}"` : each))
      .join(",");
  }

  test("rows of CSV stand below the header as they are written, line breaks in quotes and all", async () => {
    const table = fc.array(fc.array(field, { minLength: 2, maxLength: 3 }), { minLength: 1, maxLength: 8 });
    const broken = fc.constantFrom("\n", "\r\n", "\n\n");
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.boolean(),
        broken,
        fc.boolean(),
        sizes,
        range,
        async (rows, quoteAll, end, mark, chunks, asked) => {
          const [header = "", ...others] = rows.map((row) => written(row, quoteAll));
          const content = (mark ? "\u{feff}" : "") + [header, ...others].map((row) => row + end).join("");
          const reading = readingOf(content, { sizes: chunks, info: { mime_type: "text/csv" } });
          const result = await reading.call({ uri: URI, rows: `${asked.first}-${asked.first + asked.more}` });
          const wanted = sliced(others, asked);
          expect(shown(result)).toBe(wanted && [header, ...wanted].join("\n"));
        },
      ),
    );
  });

  test("rows of NDJSON are its lines that hold something", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(fc.jsonValue()), { maxLength: 8 }),
        sizes,
        range,
        async (values, chunks, asked) => {
          const lines = values.map((value) => (value === null ? "" : JSON.stringify(value)));
          const reading = readingOf(lines.join("\n"), { sizes: chunks, info: { mime_type: "application/x-ndjson" } });
          const result = await reading.call({ uri: URI, rows: `${asked.first}-${asked.first + asked.more}` });
          expect(shown(result)).toBe(
            sliced(
              lines.filter((line) => line !== ""),
              asked,
            )?.join("\n"),
          );
        },
      ),
    );
  });

  const document = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(null, true, false, 0, -1.5e3, "", "a", 'q"\\/~\u{1f600}\n'),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom("a", "b", "", "~", "/", '"', "é\n", "0"), tie("value"), { maxKeys: 4 }),
    ),
  })).value;

  test("rows of a JSON array are its elements as they are written", async () => {
    const indent = fc.constantFrom(0, 1);
    await fc.assert(
      fc.asyncProperty(
        fc.array(document, { maxLength: 6 }),
        indent,
        sizes,
        range,
        async (values, space, chunks, asked) => {
          const info = { mime_type: "application/json" };
          const reading = readingOf(JSON.stringify(values, null, space), { sizes: chunks, info });
          const result = await reading.call({ uri: URI, rows: `${asked.first}-${asked.first + asked.more}` });
          // Inside the array every line of an element stands further to the right.
          const elements = values.map((value) =>
            JSON.stringify(value, null, space).replaceAll("\n", `\n${" ".repeat(space)}`),
          );
          expect(shown(result)).toBe(sliced(elements, asked)?.join("\n"));
        },
      ),
    );
  });

  /** Every value of a document with the pointer to it. */
  function* places(value: unknown, pointer = ""): Generator<[string, unknown]> {
    yield [pointer, value];
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      yield* places(inner, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
    }
  }

  test("a pointer finds every value of a document, and nothing that is not there", async () => {
    await fc.assert(
      fc.asyncProperty(document, fc.constantFrom(0, 2), sizes, async (value, space, chunks) => {
        const reading = readingOf(JSON.stringify(value, null, space), {
          sizes: chunks,
          info: { mime_type: "application/json" },
        });
        for (const [pointer, expected] of places(value)) {
          const result = await reading.call({ uri: URI, pointer });
          expect(JSON.parse(dataOf(result)!)).toEqual(JSON.parse(JSON.stringify(expected)));
          const beyond = await reading.call({ uri: URI, pointer: `${pointer}/none` });
          expect(beyond.isError).toBe(true);
          expect(wordsOf(beyond)).toContain('and has no "none"');
        }
      }),
      { numRuns: 60 },
    );
  });

  test("search finds every place, upper and lower case alike, with its line", async () => {
    const needle = fc.array(fc.constantFrom("a", "b", "É", "€", "😀", "\n", " "), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        text,
        needle.map((parts) => parts.join("")),
        sizes,
        async (content, wanted, chunks) => {
          const folded = content.toLowerCase();
          const expected: string[] = [];
          for (
            let at = folded.indexOf(wanted.toLowerCase());
            at >= 0;
            at = folded.indexOf(wanted.toLowerCase(), at + wanted.length)
          ) {
            const before = content.slice(0, at);
            expected.push(`line ${before.split("\n").length}, byte ${encoder.encode(before).length}`);
          }
          const result = await readingOf(content, { sizes: chunks }).call({ uri: URI, search: wanted });
          const hits = dataOf(result)?.match(/^line \d+, byte \d+(?=: )/gm) ?? [];
          expect(hits).toEqual(expected);
        },
      ),
    );
  });

  test("search finds what lies across the border of its window", async () => {
    const filler = "x\n".repeat(40_000);
    const content = `${filler}Needle${filler}nEEdle`;
    for (const chunk of [1000, 65_536, 1_000_000]) {
      const result = await readingOf(content, { sizes: [chunk] }).call({ uri: URI, search: "needle" });
      expect(dataOf(result)).toBe("line 40001, byte 80000: Needlex\nline 80001, byte 160006: nEEdle");
    }
  });

  test("search finds UTF-8 in an artifact that is no text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.nat(), sizes, async (noise, where, chunks) => {
        const at = where % (noise.length + 1);
        const bytes = Uint8Array.from([...noise.subarray(0, at), ...encoder.encode("Grüße"), ...noise.subarray(at), 0]);
        const result = await readingOf(bytes, { sizes: chunks }).call({
          uri: URI,
          search: "gRÜSSE".replace("SS", "ß"),
        });
        expect(dataOf(result)).toMatch(new RegExp(`^byte ${at}: .*Gr..`));
      }),
    );
  });
});
