/** The page for those who write a client tells of every event, and of all that it has. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AnswerRef, InterceptorEvent } from "../../../web/src/node.js";
import { ROOT } from "../cli/command.js";

type Members<T> = Readonly<Record<keyof T, true>>;

/** The compiler asks for each kind and each member. */
const EVENTS: {
  readonly [Kind in InterceptorEvent["kind"]]: Members<Extract<InterceptorEvent, { readonly kind: Kind }>>;
} = {
  stored: { kind: true, tool: true, artifacts: true },
  expanded: { kind: true, tool: true, id: true, path: true, form: true },
  failed: { kind: true, error: true },
};
const REF: Members<AnswerRef> = {
  id: true,
  mime_type: true,
  size_bytes: true,
  filename: true,
  sha256: true,
  scope: true,
  namespace: true,
  source: true,
};

const page = await readFile(join(ROOT, "docs/clients.md"), "utf8");
const section = page.slice(page.indexOf("\n## Events\n"));

test.each(Object.entries(EVENTS))("%s has a row with its members", (kind, { kind: _, ...members }) => {
  const row = section.split("\n").find((line) => line.startsWith(`| \`${kind}\` |`)) ?? "";
  expect(named(row)).toEqual(expect.arrayContaining(Object.keys(members)));
});

test("what an artifact of an event has is told", () => {
  const [told = ""] = /^A ref in `artifacts`[\s\S]*?\n\n/m.exec(section) ?? [];
  expect(named(told)).toEqual(expect.arrayContaining(Object.keys(REF)));
});

/** What stands in backticks. */
function named(text: string): string[] {
  return Array.from(text.matchAll(/`(\w+)`/g), ([, name = ""]) => name);
}
