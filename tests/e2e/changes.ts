/**
 * What the proxy may change in an answer, held against the server's own.
 * @module
 */
import { expect } from "vitest";
import type { Sluice } from "../../web/src/index.js";
import { longestRun } from "../unit/core/samples.js";
import type { Change } from "./scenarios/scenario.js";
import type { Message } from "./script.js";

/** Longest stretch of letters and digits that the fixture's texts and the references in them have. */
const LONGEST_WORD = 200;

/** The two sides of one answer. */
export interface Sides {
  readonly direct: Message;
  readonly proxied: Message;
}

/** Throws unless the answers differ, and in no other way than `change` says. */
export async function expectChange(change: Change, { direct, proxied }: Sides, sluice: Sluice): Promise<void> {
  expect({ ...proxied, result: null }).toEqual({ ...direct, result: null });
  const sides = { direct: direct["result"] as Message, proxied: proxied["result"] as Message };
  switch (change.how) {
    case "reduced":
    case "inlined":
      return expectReduced(sides, change.how === "inlined", sluice);
    case "tools":
      return expectTools(sides, change);
    case "begin":
      return expectIntroduction(sides);
    case "template":
      return expectTemplate(sides);
    case "refused":
      throw new Error("a refused request has no result");
  }
}

async function expectReduced({ direct, proxied }: Sides, inlined: boolean, sluice: Sluice): Promise<void> {
  const text = JSON.stringify(proxied);
  expect({ changed: text !== JSON.stringify(direct) }).toEqual({ changed: true });
  expect(inlined ? 0 : longestRun(text)).toBeLessThan(LONGEST_WORD);
  // The later revision has a task's result inside the task.
  const inside = "taskId" in direct;
  const reduced = inside ? proxied["result"] : proxied;
  const restored = await sluice.restore(reduced);
  // As text, for the order of keys is kept as well; in one comparison, for it may be megabytes.
  const same = JSON.stringify(inside ? { ...proxied, result: restored } : restored) === JSON.stringify(direct);
  expect({ restored: same }).toEqual({ restored: true });
}

function expectTools({ direct, proxied }: Sides, { added = [], keepsSchemas }: Change): void {
  const [before, after] = [direct, proxied].map(({ tools }) => tools as Message[]) as [Message[], Message[]];
  expect({ ...proxied, tools: null }).toEqual({ ...direct, tools: null });
  expect(after.map(({ name }) => name)).toEqual([...before.map(({ name }) => name), ...added]);
  const own = after.slice(0, before.length);
  if (keepsSchemas === true) expect(own).toEqual(before);
  else expectWidened(own, before);
  for (const tool of after.slice(before.length)) {
    expect(tool).toMatchObject({ inputSchema: { type: "object" }, annotations: { readOnlyHint: true } });
  }
}

/** Schemas may say more than before of the same members; whether results fit them is a test of its own. */
function expectWidened(after: readonly Message[], before: readonly Message[]): void {
  expect(after).not.toEqual(before);
  expect(after.map(outlined)).toEqual(before.map(outlined));
}

function outlined(tool: Message): unknown {
  const { inputSchema, outputSchema, ...others } = tool;
  return { ...others, input: outline(inputSchema), output: outline(outputSchema) };
}

function outline(schema: unknown): unknown {
  if (schema === undefined) return undefined;
  const { type, properties = {}, description } = schema as Message & { readonly properties?: object };
  return { type, description, members: Object.keys(properties) };
}

function expectIntroduction({ direct, proxied }: Sides): void {
  const { instructions: before = "", capabilities: had, ...same } = direct;
  const { instructions: after, capabilities: has, ...others } = proxied;
  expect(others).toEqual(same);
  expect(String(after).startsWith(String(before))).toBe(true);
  expect(String(after).slice(String(before).length).trim()).toMatch(/^[^.]+artifact:\/\/[^.]+\.$/);
  expect(has).toEqual({ ...(had as object), resources: (had as Message)["resources"] ?? {} });
}

function expectTemplate({ direct, proxied }: Sides): void {
  const { resourceTemplates, ttlMs, cacheScope, ...same } = direct;
  const { resourceTemplates: templates, ttlMs: age, cacheScope: whose, ...others } = proxied;
  expect(others).toEqual(same);
  expect((templates as unknown[]).slice(0, -1)).toEqual(resourceTemplates);
  expect((templates as unknown[]).at(-1)).toMatchObject({
    uriTemplate: expect.stringMatching(/^artifact:\/\//) as string,
  });
  expect([age, whose]).toEqual(ttlMs === undefined ? [ttlMs, cacheScope] : [0, "private"]);
}
