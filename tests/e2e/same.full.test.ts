/**
 * The fixture behaves behind the proxy as it does directly: every message, byte for byte, but for what a scenario says. The
 * fixture itself says the same when it is asked the same, which the full run asks, so that a difference is the proxy's.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { acrossScopes } from "../../web/src/cli/store/scope.js";
import { createSluice, FileArtifactStore, type Sluice } from "../../web/src/node.js";
import { isFull } from "../support/full.js";
import { COMMAND } from "../unit/cli/command.js";
import { longestRun, sha256 } from "../unit/core/samples.js";
import { bytesOf, KINDS, sha256Of } from "./fixture/bytes.mjs";
import { type Command, messagesIn, record, type Recording } from "./record.js";
import { ends } from "./scenarios/ends.js";
import { LEGACY, MODERN } from "./scenarios/eras.js";
import { results } from "./scenarios/results.js";
import type { Change, Scenario } from "./scenarios/scenario.js";
import { talk } from "./scenarios/talk.js";
import { ask, call, closing, ERAS, type Message, opening } from "./script.js";

/** Under names that tell the era. */
const SCENARIOS: readonly Scenario[] = ERAS.flatMap((era) => {
  const own = era === "2025" ? LEGACY : MODERN;
  return [...results(era), ...talk(era), ...own, ...ends(era)].map((scenario) => ({
    ...scenario,
    name: `${era}: ${scenario.name}`,
  }));
});

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const FIXTURE = here("fixture/stdio.mjs");

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-same-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** The server, and the proxy in front of it. */
function commands({ server = [], proxy = [] }: Partial<Scenario>, store: string): readonly [Command, Command] {
  const program = process.execPath;
  const options = ["proxy", "--store", store, "--namespace", "fixture", ...proxy];
  return [
    { program, args: [FIXTURE, ...server] },
    { program, args: [COMMAND, ...options, "--", program, FIXTURE, ...server] },
  ];
}

/** The scenarios of this run: a brief one has those of both eras in one of them, each in another than the one before. */
function chosen(): readonly (Scenario & { readonly number: number })[] {
  const all = SCENARIOS.map((scenario, number) => ({ ...scenario, number }));
  if (isFull) return all;
  const titles = [...new Set(all.map(({ name }) => name.slice(name.indexOf(":"))))];
  return titles.flatMap((title, at) => {
    const same = all.filter(({ name }) => name.endsWith(title));
    return same.slice(at % same.length).slice(0, 1);
  });
}

test.each(chosen())("$name", async ({ number, ...scenario }) => {
  const store = join(folder, String(number));
  const [alone, behind] = commands(scenario, store);
  const [direct, proxied] = await Promise.all([record(alone, scenario.steps), record(behind, scenario.steps)]);
  expectFixture(scenario, direct);
  const again = isFull ? await record(alone, scenario.steps) : direct;
  expect(comparable(again)).toEqual(comparable(direct));
  const sluice = await createSluice({ store: acrossScopes(new FileArtifactStore(store)) });

  expect({ code: proxied.code, signal: proxied.signal }).toEqual({ code: direct.code, signal: direct.signal });
  // Half a message helps nobody.
  expect(proxied.rest.toString()).toBe("");
  expectRefusals(scenario, proxied);
  await expectLines(scenario, direct, proxied, sluice);
  expectNoise(scenario, direct, proxied);
});

test.each(ERAS)("what comes fits the schema that was listed: %s", async (era) => {
  const sizes = [200, 100_000];
  const calls = ["structured", "structured_only"].flatMap((name) => sizes.map((bytes) => ({ name, bytes })));
  const steps = [
    ...opening(era),
    ...ask(era, "list", "tools/list"),
    ...calls.flatMap(({ name, bytes }, id) => call(era, id, name, { bytes })),
    ...closing,
  ];
  const [, behind] = commands({}, join(folder, `schemas-${era}`));
  const answers = (await record(behind, steps)).lines
    .flatMap(messagesIn)
    .map(({ id, result }) => [id, result] as const);
  const resultOf = (wanted: unknown): Message => answers.find(([id]) => id === wanted)?.[1] as Message;
  const tools = resultOf("list")["tools"] as readonly { readonly name: string; readonly outputSchema?: object }[];
  for (const [id, { name }] of calls.entries()) {
    const validate = new Ajv2020({ strict: false }).compile(
      tools.find((tool) => tool.name === name)?.outputSchema ?? {},
    );
    validate(resultOf(id)["structuredContent"]);
    expect(validate.errors ?? []).toEqual([]);
  }
});

test.each(KINDS)("the tool sha256 tells the hash of what the others give: %s", async (kind) => {
  const bytes = 2_000_000;
  const steps = [
    ...opening("2025"),
    ...call("2025", 1, "sha256", { kind, bytes }),
    ...call("2025", 2, "large", { kind, bytes }),
    ...closing,
  ];
  const [alone] = commands({}, folder);
  const { lines } = await record(alone, steps);
  const answers = lines.flatMap(messagesIn).map(({ result }) => result as { content?: Block[] });
  const [hash, file] = answers.flatMap(({ content = [] }) => content);
  expect(hash?.text).toBe(sha256Of(kind, bytes));
  expect(sha256(Buffer.from(file?.resource?.blob ?? "", "base64"))).toBe(hash?.text);
  expect(sha256(bytesOf(kind, bytes))).toBe(hash?.text);
});

interface Block {
  readonly text?: string;
  readonly resource?: { readonly blob: string };
}

/** A recording in text, which says where it differs from another. */
function comparable({ lines, rest, ...others }: Recording): object {
  return { ...others, lines: lines.map(String), rest: String(rest) };
}

/** What a scenario says of the fixture: which calls it answers, and what it says that is no message. */
function expectFixture({ changes, strays = [] }: Scenario, direct: Recording): void {
  const answered = direct.lines.flatMap(messagesIn).filter(({ method }) => method === undefined);
  const ids = answered.map(({ id }) => id);
  for (const { at, how } of changes) expect([at, ids.includes(at)]).toEqual([at, how !== "refused"]);
  const stray = direct.lines.filter((line) => messagesIn(line).length === 0);
  expect(stray.map(String)).toEqual(strays);
}

/** What the server never answered is answered by an error. */
function expectRefusals({ changes }: Scenario, proxied: Recording): void {
  for (const { at } of changes.filter(({ how }) => how === "refused")) {
    const answers = proxied.lines.flatMap(messagesIn).filter(({ id, method }) => id === at && method === undefined);
    expect(answers).toMatchObject([{ jsonrpc: "2.0", error: { message: expect.any(String) as string } }]);
  }
}

async function expectLines(scenario: Scenario, direct: Recording, proxied: Recording, sluice: Sluice): Promise<void> {
  const changeOf = (line: Buffer): Change | undefined => {
    const [{ id, method } = {} as Message] = messagesIn(line);
    return method === undefined ? scenario.changes.find(({ at }) => at === id) : undefined;
  };
  const before = direct.lines.filter((line) => messagesIn(line).length > 0);
  const after = proxied.lines.filter((line) => changeOf(line)?.how !== "refused");
  for (const [index, line] of before.entries()) {
    const other = after[index] ?? Buffer.alloc(0);
    const change = changeOf(line);
    if (change === undefined) {
      expectSame(other, line);
      continue;
    }
    const [[one], [two]] = [messagesIn(line), messagesIn(other)];
    if (one === undefined || two === undefined) throw new Error(`no answer to ${String(change.at)}`);
    await expectChange(change, { direct: one, proxied: two }, sluice);
  }
  expect(after.slice(before.length).map(shortened)).toEqual([]);
}

/** Equality first, for what differs may be megabytes. */
function expectSame(actual: Buffer, expected: Buffer): void {
  const same = actual.equals(expected);
  expect(same ? "" : shortened(actual)).toBe(same ? "" : shortened(expected));
}

/** What the server wrote itself, its strays, and a line for each artifact. */
function expectNoise({ strays = [], diverted = 0 }: Scenario, direct: Recording, proxied: Recording): void {
  const added = proxied.stderr.split("\n");
  // An empty line among strays may go.
  for (const line of [...direct.stderr.split("\n"), ...strays].filter((own) => own !== "")) {
    expect(added).toContain(line);
    added.splice(added.indexOf(line), 1);
  }
  expect(added.filter((line) => line !== "")).toHaveLength(diverted);
}

/** Around the middle of what may be megabytes. */
function shortened(line: Buffer): string {
  const text = line.toString();
  return text.length < 2_000 ? text : `${text.slice(0, 1_000)} … ${text.slice(-500)} (${text.length})`;
}

/** Longest stretch of letters and digits that the fixture's texts and the references in them have. */
const LONGEST_WORD = 200;

/** The two sides of one answer. */
interface Sides {
  readonly direct: Message;
  readonly proxied: Message;
}

/** Throws unless the answers differ, and in no other way than `change` says. */
async function expectChange(change: Change, { direct, proxied }: Sides, sluice: Sluice): Promise<void> {
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
    expect(tool).toMatchObject({
      inputSchema: { type: "object" },
      annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    });
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
