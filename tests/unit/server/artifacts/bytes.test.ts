import { expect, test } from "vitest";
import { rangeCounts, verdictOf, requestedSpan, bodyOf } from "../../../../web/src/server/artifacts/bytes.js";
import * as fc from "fast-check";
import { anyText } from "../any-text.js";

const TAG = '"abc"';

test.each([
  [{}, "proceed"],
  [{ "if-none-match": '"abc"' }, "not_modified"],
  [{ "if-none-match": 'W/"abc"' }, "not_modified"],
  [{ "if-none-match": '"x", W/"y","abc"' }, "not_modified"],
  [{ "if-none-match": "*" }, "not_modified"],
  [{ "if-none-match": '"ab"' }, "proceed"],
  [{ "if-none-match": "abc" }, "proceed"],
  [{ "if-match": '"abc"' }, "proceed"],
  [{ "if-match": "*" }, "proceed"],
  [{ "if-match": '"x", "abc"' }, "proceed"],
  [{ "if-match": 'W/"abc"' }, "failed"],
  [{ "if-match": '"x"' }, "failed"],
  [{ "if-match": "" }, "failed"],
  [{ "if-match": '"x"', "if-none-match": '"abc"' }, "failed"],
  [{ "if-match": '"abc"', "if-none-match": '"abc"' }, "not_modified"],
])("%j", (headers, verdict) => {
  expect(verdictOf(new Headers(headers as Record<string, string>), TAG)).toBe(verdict);
});

test.each([
  [undefined, true],
  ['"abc"', true],
  ['W/"abc"', false],
  ['"x"', false],
  ["Wed, 21 Oct 2026 07:28:00 GMT", false],
])("If-Range %s", (condition, counts) => {
  expect(rangeCounts(new Headers(condition === undefined ? {} : { "if-range": condition }), TAG)).toBe(counts);
});

test.each([
  ["bytes=0-0", { start: 0, end: 1 }],
  ["bytes=2-5", { start: 2, end: 6 }],
  ["bytes=2-", { start: 2, end: 10 }],
  ["bytes=2-500", { start: 2, end: 10 }],
  ["bytes=-3", { start: 7, end: 10 }],
  ["bytes=-500", { start: 0, end: 10 }],
  ["BYTES= 9-9 ", { start: 9, end: 10 }],
  ["bytes=10-", "unsatisfiable"],
  ["bytes=10-20", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  [`bytes=${"9".repeat(400)}-`, "unsatisfiable"],
  [`bytes=-${"9".repeat(400)}`, { start: 0, end: 10 }],
  [null, null],
  ["", null],
  ["bytes=", null],
  ["bytes=-", null],
  ["bytes=5-2", null],
  ["bytes=0-1,3-4", null],
  ["bytes=a-b", null],
  ["bytes=+1-2", null],
  ["bytes=1.5-2", null],
  ["items=0-1", null],
  ["0-1", null],
])("%s of ten bytes", (header, span) => {
  expect(requestedSpan(header, 10)).toEqual(span);
});

test.each(["bytes=0-", "bytes=0-0", "bytes=-1"])("%s of no bytes cannot be had", (header) => {
  expect(requestedSpan(header, 0)).toBe("unsatisfiable");
});

test("any header gives the whole, nothing, or bytes that there are", () => {
  const digits = fc.oneof(fc.constant(""), fc.nat(30).map(String), fc.stringMatching(/^[0-9]{1,30}$/));
  const header = fc.oneof(
    anyText(),
    fc.tuple(digits, digits).map(([first, last]) => `bytes=${first}-${last}`),
  );
  fc.assert(
    fc.property(header, fc.nat(20), (given, size) => {
      const span = requestedSpan(given, size);
      if (span === null || span === "unsatisfiable") return;
      expect(span.start).toBeGreaterThanOrEqual(0);
      expect(span.end).toBeGreaterThan(span.start);
      expect(span.end).toBeLessThanOrEqual(size);
    }),
  );
});

function streamed(...pieces: readonly (string | Error)[]): ReadableStream<Uint8Array> & { cancelled: unknown } {
  const left = [...pieces];
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller): void {
        const piece = left.shift();
        if (piece === undefined) controller.close();
        else if (typeof piece === "string") controller.enqueue(new TextEncoder().encode(piece));
        else controller.error(piece);
      },
      cancel(reason): void {
        noted.cancelled = reason;
      },
    },
    { highWaterMark: 0 },
  );
  const noted: ReadableStream<Uint8Array> & { cancelled: unknown } = Object.assign(stream, { cancelled: null });
  return noted;
}

test("pieces go through, empty ones left out", async () => {
  const body = await bodyOf(streamed("", "ab", "", "c", ""), 3);
  expect(await new Response(body).text()).toBe("abc");
  expect(await new Response(await bodyOf(streamed(), 0)).text()).toBe("");
});

test("what fails before the first byte is thrown, coded and without details", async () => {
  const failing = bodyOf(streamed("", new Error("EIO /home/ada/secret")), 3);
  await expect(failing).rejects.toMatchObject({ code: "E_STORE_READ" });
  await expect(failing).rejects.not.toThrow("secret");
});

test("what fails behind it errors the stream", async () => {
  const reader = (await bodyOf(streamed("ab", new Error("EIO /home/ada/secret")), 3)).getReader();
  expect((await reader.read()).value).toHaveLength(2);
  await expect(reader.read()).rejects.toMatchObject({ code: "E_STORE_READ" });
});

test.each([
  ["fewer", ["ab"]],
  ["more", ["ab", "cd"]],
])("%s bytes than promised error the stream", async (_, pieces) => {
  const reader = (await bodyOf(streamed(...pieces), 3)).getReader();
  await reader.read();
  await expect(reader.read()).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
});

test("no bytes where some were promised are thrown", async () => {
  await expect(bodyOf(streamed(), 3)).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
});

test("who goes away stops the reading", async () => {
  const source = streamed("ab", "c");
  const body = await bodyOf(source, 3);
  await body.cancel("gone");
  expect(source.cancelled).toBe("gone");
});
