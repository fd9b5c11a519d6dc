import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fromStatus } from "../../../../web/src/tools/adapt-error.js";
import {
  ToolAuthError,
  ToolClientError,
  ToolNodeError,
  ToolRateLimitError,
  ToolServerError,
} from "../../../../web/src/tools/errors.js";

const place = { source: "shop", tool: "search" };

test.each([
  [429, ToolRateLimitError, /asks for fewer requests \(HTTP 429\): .*max_concurrency/],
  [500, ToolServerError, /failed \(HTTP 500\): try again later/],
  [504, ToolServerError, /failed \(HTTP 504\)/],
  [401, ToolAuthError, /does not know who asks \(HTTP 401\): check auth_type/],
  [403, ToolAuthError, /refuses access \(HTTP 403\)/],
  [404, ToolClientError, /refuses the request \(HTTP 404\): check the arguments/],
  [418, ToolClientError, /HTTP 418/],
  [302, ToolNodeError, /gave no result \(HTTP 302\)/],
  [529, ToolNodeError, /gave no result \(HTTP 529\)/],
])("%i is an error of its class, and says where and what to do", (status, Class, sentence) => {
  const error = fromStatus(status, undefined, place);
  expect(error.constructor).toBe(Class);
  expect(error.status).toBe(status);
  expect(error.message).toMatch(/^The tool "search" of the source "shop" /);
  expect(error.message).toMatch(sentence);
  expect(error.retryAfterSeconds).toBeUndefined();
});

const after = (headers: Record<string, string>): number | undefined =>
  fromStatus(503, new Headers(headers), place).retryAfterSeconds;

test("Retry-After is seconds, or a date by the source's own clock", () => {
  expect(after({ "Retry-After": "120" })).toBe(120);
  expect(after({ "Retry-After": "0" })).toBe(0);
  const date = "Sun, 06 Nov 1994 08:49:37 GMT";
  expect(after({ "Retry-After": "Sun, 06 Nov 1994 08:50:07 GMT", Date: date })).toBe(30);
  expect(after({ "Retry-After": "Sunday, 06-Nov-94 08:50:07 GMT", Date: date })).toBe(30);
  expect(after({ "Retry-After": "Sun Nov  6 08:50:07 1994 GMT", Date: date })).toBe(30);
  expect(after({ "Retry-After": date })).toBe(0);
  const soon = new Date(Date.now() + 90_000).toUTCString();
  expect(after({ "Retry-After": soon })).toBeGreaterThan(60);
  expect(fromStatus(429, new Headers({ "Retry-After": "1.5" }), place).message).toMatch(/: try again later/);
  expect(fromStatus(429, new Headers({ "Retry-After": "15" }), place).message).toMatch(/: try again in 15 s, or/);
});

test.each(["", "soon", "-1", "1.5", "1e9", "12 monkeys", "9".repeat(400), "Sun, 99 Nov 1994 99:99:99 GMT"])(
  "what Retry-After must not be is overlooked: %s",
  (value) => {
    expect(after({ "Retry-After": value })).toBeUndefined();
    expect(after({ "Retry-After": "2", Date: value })).toBe(2);
  },
);

const canBeWaitedFor = (retry: string, now: string): boolean => {
  const headers = { get: (name: string) => (name === "date" ? now : retry) };
  const { retryAfterSeconds = 0 } = fromStatus(503, headers, place);
  return Number.isFinite(retryAfterSeconds) && retryAfterSeconds >= 0;
};

test("whatever the headers say, what comes of them is a time that can be waited for", () => {
  const date = fc.date({ noInvalidDate: true }).map((day) => day.toUTCString());
  const value = fc.oneof(fc.string(), fc.integer().map(String), date);
  expect(() => fc.assert(fc.property(value, value, canBeWaitedFor))).not.toThrow();
});

test("names that a source chose are shown short, and without what deceives the eye", () => {
  const { message } = fromStatus(500, undefined, {
    source: "shop",
    tool: `a\u202Eb\u0000\n\u{E0041}"${"c".repeat(500)}`,
  });
  expect(message).toMatch(/^The tool "ab\\"c{30,64}…" of the source "shop" failed/);
});
