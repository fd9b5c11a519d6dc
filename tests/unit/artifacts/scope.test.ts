import * as fc from "fast-check";
import { expect, test } from "vitest";
import { spanOf } from "../../../web/src/artifacts/bytes.js";
import { fullScope, sameScope, scopeKey } from "../../../web/src/artifacts/scope.js";
import { stampOf, Stamps } from "../../../web/src/artifacts/reference.js";

const field = fc.constantFrom(null, "", "a", "null", '"', ",", "a,b", '","', "\0", "\ud800");
const scope = fc.record({ tenant_id: field, user_id: field, session_id: field, trace_id: field });

test("missing is null, and null is nothing else", () => {
  expect(fullScope()).toEqual({ tenant_id: null, user_id: null, session_id: null, trace_id: null });
  expect(sameScope(undefined, { user_id: null })).toBe(true);
  expect(sameScope({ user_id: null }, { user_id: "null" })).toBe(false);
  expect(sameScope({ user_id: "" }, {})).toBe(false);
  expect(sameScope({ user_id: "a" }, { tenant_id: "a" })).toBe(false);
});

test("two scopes have one key only when all four fields are equal", () => {
  fc.assert(
    fc.property(scope, scope, (one, two) => {
      const equal = (["tenant_id", "user_id", "session_id", "trace_id"] as const).every((at) => one[at] === two[at]);
      expect(scopeKey(one) === scopeKey(two)).toBe(equal);
    }),
    { numRuns: 500 },
  );
});

test("a field must be a string", () => {
  const wrong = { session_id: 3 } as unknown as { session_id: string };
  expect(() => scopeKey(wrong)).toThrow(
    expect.objectContaining({ code: "E_INVALID_ARGUMENT", path: "scope.session_id" }),
  );
});

test("a span lies within the size, and is what slice gives", () => {
  const bytes = Uint8Array.from({ length: 20 }, (_, at) => at);
  fc.assert(
    fc.property(fc.nat(30), fc.option(fc.nat(30), { nil: undefined }), fc.nat(20), (start, more, size) => {
      const end = more === undefined ? undefined : start + more;
      const span = spanOf(end === undefined ? { start } : { start, end }, size);
      expect(0 <= span.start && span.start <= span.end && span.end <= size).toBe(true);
      expect(bytes.slice(span.start, span.end)).toEqual(bytes.subarray(0, size).slice(start, end));
    }),
  );
});

test("stamps grow where the clock stands still or goes back", () => {
  let now = 1_000;
  const stamps = new Stamps(() => now);
  const given = [stamps.next(), stamps.next()];
  now = 10;
  given.push(stamps.next());
  now = 2_000;
  given.push(stamps.next());
  expect(given).toEqual([1_000_000, 1_000_001, 1_000_002, 2_000_000]);
});

test.each([Number.NaN, Infinity, -Infinity, 1e300, 9e15, "x", undefined])(
  "a clock that says %s gives no time, and spoils no later one",
  (reading) => {
    let now: unknown = 1_000;
    const stamps = new Stamps(() => now as number);
    stamps.next();
    now = reading;
    expect(stamps.now()).toBeNaN();
    expect(stamps.next()).toBe(1_000_001);
    now = 5_000;
    expect(stamps.next()).toBe(5_000_000);
  },
);

test("a stamp of someone else's is passed, unless it is none", () => {
  const stamps = new Stamps(() => 1);
  stamps.after(7_000);
  expect(stamps.next()).toBe(7_001);
  for (const none of [Number.NaN, Infinity, stampOf(1e14)]) stamps.after(none);
  expect(stamps.next()).toBe(7_002);
});
