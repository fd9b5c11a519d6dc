/** `docs/telemetry.md` lists every metric as it is made. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { INSTRUMENTS } from "../../../web/src/telemetry/instruments.js";
import { ROOT } from "../cli/command.js";

test("the page has a row for each metric, and no other", async () => {
  const page = await readFile(join(ROOT, "docs/telemetry.md"), "utf8");
  const [, table = ""] = /^\| metric \|.*\n\|[-|]*\n((?:\|.*\n)+)/m.exec(page) ?? [];
  const rows = Object.entries(INSTRUMENTS).map(
    ([name, { kind, unit, description }]) => `| \`${name}\` | ${kind} | \`${unit}\` | ${description} |\n`,
  );
  expect(table).toBe(rows.join(""));
});
