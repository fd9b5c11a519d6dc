import { expect, test } from "vitest";
import { rangeCounts, verdictOf } from "../../../web/src/server/artifacts/bytes.js";

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
