/** The page about the guardrail tells of every setting, with its default and its bounds. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../cli/command.js";

interface Key {
  readonly default: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

const page = await readFile(join(ROOT, "docs/guardrail.md"), "utf8");
const schema = JSON.parse(await readFile(join(ROOT, "dist/config.schema.json"), "utf8")) as {
  readonly properties: { readonly guardrail: { readonly properties: Readonly<Record<string, Key>> } };
};

test.each(Object.entries(schema.properties.guardrail.properties))("%s has a row", (name, key) => {
  const row = page.split("\n").find((line) => line.startsWith(`| \`guardrail.${name}\` |`)) ?? "";
  expect(row).toContain(`\`${JSON.stringify(key.default)}\``);
  const bounds = [key.minimum, key.maximum].filter((bound) => bound !== undefined);
  for (const bound of bounds) expect(row.split("|").at(-2)).toContain(bound.toLocaleString("en"));
});
