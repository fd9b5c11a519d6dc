import { expect, test } from "vitest";
import { factsIn } from "../../../web/src/files/facts.js";

test.each([
  ["CSV, 1.0 KB, 12,000 rows, 8 columns", "12,000 rows"],
  ["CSV, 2.1 GB, 5,000,000 rows, 3 columns", "5M rows"],
  ["CSV, 2.1 GB, 5,240,000 rows", "5.2M rows"],
  ["PNG image, 640 × 480, 1.0 MB", "640 × 480"],
  ["PDF, 2.1 MB, 14 pages", "14 pages"],
  ['PDF, 2.1 MB, untrusted file text: "9 pages"', null],
  ["plain text, 12 B", null],
  [undefined, null],
  [{}, null],
])("of %j it is told %j", (description, facts) => {
  expect(factsIn(description)).toBe(facts);
});
