import * as fc from "fast-check";
import { expect, test } from "vitest";
import { requestedSpan } from "../../../web/src/server/artifacts/bytes.js";
import { anyText } from "./any-text.js";

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
