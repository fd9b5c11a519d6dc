import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { TextResult } from "../../../../web/src/mcp/artifact-reader/artifact-reader.js";
import { dataOf, readingOf, URI, wordsOf } from "./artifacts.js";

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
function shown(result: TextResult): string | undefined {
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
  return fields.map((each) => (quoteAll || /[",\r\n]/.test(each) ? `"${each.replaceAll('"', '""')}"` : each)).join(",");
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
        expect(wordsOf(beyond)).toContain("leads as far as");
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
      const result = await readingOf(bytes, { sizes: chunks }).call({ uri: URI, search: "gRÜSSE".replace("SS", "ß") });
      expect(dataOf(result)).toMatch(new RegExp(`^byte ${at}: .*Gr..`));
    }),
  );
});
