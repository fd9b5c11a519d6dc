/** What the package weighs as it travels: scripts/size.mjs has the budgets. */
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { BUDGETS, kilo, measure, type Part } from "../../scripts/size.mjs";

const parts = Object.keys(BUDGETS) as Part[];
let sizes: Awaited<ReturnType<typeof measure>>;

beforeAll(async () => {
  sizes = await measure(inject("tarball"), join(inject("app"), "node_modules", "mcp-sluice"));
  const lines = parts.map((part) => `${part} ${kilo(sizes[part])} of ${kilo(BUDGETS[part])}`);
  console.log(`size, gzipped: ${lines.join(", ")}`);
});

test.each(parts)("%s keeps to its budget", (part) => {
  expect(sizes[part]).toBeLessThan(BUDGETS[part]);
  // A budget that is far too wide would let anything in; so would a measure that misses most of it.
  expect(sizes[part]).toBeGreaterThan(BUDGETS[part] / 2);
});
