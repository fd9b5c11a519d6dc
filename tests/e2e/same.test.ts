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
import { sha256 } from "../unit/core/samples.js";
import { expectChange } from "./changes.js";
import { bytesOf, KINDS, sha256Of } from "./fixture/bytes.mjs";
import { messagesIn, record, type Command, type Recording } from "./record.js";
import { SCENARIOS } from "./scenarios/all.js";
import type { Change, Scenario } from "./scenarios/scenario.js";
import { ask, call, closing, ERAS, opening, type Message } from "./script.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const FIXTURE = here("fixture/stdio.mjs");
const SLUICE = here("../../dist/cli/main.js");

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
    { program, args: [SLUICE, ...options, "--", program, FIXTURE, ...server] },
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
  const results = (await record(behind, steps)).lines
    .flatMap(messagesIn)
    .map(({ id, result }) => [id, result] as const);
  const resultOf = (wanted: unknown): Message => results.find(([id]) => id === wanted)?.[1] as Message;
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
  const results = lines.flatMap(messagesIn).map(({ result }) => result as { content?: Block[] });
  const [hash, file] = results.flatMap(({ content = [] }) => content);
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
