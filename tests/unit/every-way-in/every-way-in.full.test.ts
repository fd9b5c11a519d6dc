/**
 * Whatever a model is told, whatever way it came, keeps the same promises. Cases are drawn at random from a seed, for
 * `SECONDS` (10 when left out, 120 in the full run), but not before each way has met each store; in a brief run, every third
 * of them. `SEED=random` draws others than the last run did,
 * `SEED=… CASE=…` one case again, `ONLY=…` those alone whose line this regular expression finds.
 */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { problemsOf, type Problem } from "./checks.js";
import { Random } from "./random.js";
import { link, payload, type Payload } from "./shapes.js";
import { keepsAll, STORES, storeOf, type StoreKind } from "./stores.js";
import {
  Setting,
  uriOf,
  WAYS,
  type Given,
  type GivenCall,
  type Transformer,
  type Told,
  type Untouched,
  type Way,
} from "./ways.js";
import { amount, isFull } from "../../support/full.js";

const { SEED, CASE, SECONDS = amount(5, 120), ONLY } = process.env;
const MIB = 1024 * 1024;

/** The same cases in every run, so that what was green stays green until something changes; `SEED=random` draws others. */
const seed = SEED === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(SEED ?? 20_261_123);
const seconds = Number(SECONDS);

/** How long one case may take: longer than any does on a machine that does much else. */
const LIMIT = 180_000;

/** Of all cases, those with a file above 64 KiB, and above what a message may have. */
const LARGE = 0.04;
const VERY_LARGE = 0.02;

/** What every run has: each way with its stores, with what it may not touch, and with a very large answer among others. */
const COMBINATIONS: readonly Combination[] = combinations(new Random(seed));

interface Combination {
  readonly way: Way;
  readonly store: StoreKind;
  /** Two calls, the first answered with more than a message may have, its `id` last: nobody knows whose it is. */
  readonly isHardest: boolean;
  /** What is given, where nobody may touch it. */
  readonly untouched?: Untouched;
}

function storesOf(way: Way): readonly StoreKind[] {
  return way.stores ?? STORES;
}

/** The stores that a way meets in this run: in a brief one every sixth, others for the next way. */
function metBy(way: Way, number: number): readonly StoreKind[] {
  const stores = storesOf(way);
  return isFull ? stores : stores.filter((_, at) => at % 6 === number % Math.min(6, stores.length));
}

function combinations(random: Random): readonly Combination[] {
  const all = WAYS.flatMap((way, number) => metBy(way, number).map((store) => ({ way, store, isHardest: false })));
  const untouched = WAYS.flatMap((way) =>
    (way.untouched ?? []).map((kind) => ({
      way,
      store: random.pick(storesOf(way)),
      isHardest: false,
      untouched: kind,
    })),
  );
  const hardest = WAYS.filter(({ pairs }) => pairs === true).map((way) => {
    return { way, store: random.pick(storesOf(way).filter((store) => !keepsAll(store))), isHardest: true };
  });
  return random.shuffled([...all, ...hardest, ...untouched]);
}

/** One case, drawn but not begun. */
interface Drawn {
  readonly way: Way;
  readonly store: StoreKind;
  readonly payloads: readonly { readonly payload: Payload; readonly linked?: Payload | undefined }[];
  readonly untouched: Untouched | undefined;
  readonly transformer: Transformer | undefined;
  readonly terms: Pick<Given, "place" | "chunk" | "events" | "isReversed" | "isStrict">;
  readonly random: Random;
  readonly line: string;
}

function draw(number: number): Drawn {
  const random = new Random(seed, number);
  const { way, store, isHardest, untouched } = COMBINATIONS[number] ?? drawnCombination(random);
  const transformer: Transformer | undefined = way.transformers && {
    does: random.pick(way.transformers),
    input: way.name.endsWith("raw") ? "raw" : "reduced",
  };
  const isLarge = untouched === undefined && (isHardest || number >= COMBINATIONS.length);
  const large = isLarge ? largeSize(random, isHardest) : undefined;
  const terms = {
    place: isHardest ? "last" : random.pick(["first", "last"] as const),
    chunk: random.pick([1, 16, 100, 1_000, 65_536, 65_537]),
    events: random.chance(0.4),
    isReversed: random.chance(0.5),
    isStrict: random.chance(0.08),
  };
  const calls = way.pairs === true && untouched === undefined && (isHardest || random.chance(0.35)) ? 2 : 1;
  const payloads = Array.from({ length: calls }, (_, at) =>
    drawnCall(random, way, untouched, transformer, at === 0 ? large : undefined),
  );
  const shapes = payloads.map(({ payload: { shape }, linked }) =>
    linked === undefined ? shape : `${shape} with ${linked.shape}`,
  );
  const line = [
    `SEED=${seed} CASE=${number}`,
    way.name,
    store,
    untouched === undefined ? shapes.join(" and at the same time ") : `untouched: ${untouched}`,
    `id ${terms.place}, pieces of ${terms.chunk}`,
    ...(transformer === undefined ? [] : [`transformer ${transformer.does}`]),
    ...(terms.isStrict ? ["errors asked for"] : []),
    ...(large === undefined ? [] : [`${large} bytes`]),
  ].join(" | ");
  return { way, store, payloads, untouched, transformer, terms, random, line };
}

function drawnCombination(random: Random): Combination {
  const drawn = random.pick(COMBINATIONS);
  return drawn.way.isCostly === true && random.chance(0.85) ? drawnCombination(random) : drawn;
}

function largeSize(random: Random, isHardest: boolean): number | undefined {
  if (isHardest || random.chance(VERY_LARGE)) return random.int(6 * MIB, 9 * MIB);
  return random.chance(LARGE) ? random.int(100_000, 1_000_000) : undefined;
}

function drawnCall(
  random: Random,
  way: Way,
  untouched: Untouched | undefined,
  transformer: Transformer | undefined,
  large: number | undefined,
): Drawn["payloads"][number] {
  if (untouched === "error") return { payload: errorObject(random) };
  if (untouched !== undefined) return { payload: payload(random, { form: untouched === "app" ? "call" : "read" }) };
  const { form, values = false, bodies = false } = way;
  if (way.links === true) {
    const linked = random.chance(0.12) ? oddContents(random) : payload(random, { form: "read", large });
    return { payload: payload(random, { form: "call" }), linked };
  }
  if (transformer?.does === "returns its own") {
    return { payload: payload(random, { form, large }), linked: payload(random, { form: "any", values: true }) };
  }
  return { payload: payload(random, { form, values, bodies, large }) };
}

/** A JSON-RPC error, with a file in its data. */
function errorObject(random: Random): Payload {
  const made = payload(random, { form: "read" });
  const value = { code: -32_000, message: "It failed.", data: made.value };
  return { ...made, value, json: JSON.stringify(value) };
}

/** What a reader gives that is no result of `resources/read`. */
function oddContents(random: Random): Payload {
  const value = random.pick([null, 42, "text", [], {}, { contents: "no list" }]);
  return { shape: "no contents", value, json: JSON.stringify(value), planted: [], marks: [], said: [], hostile: [] };
}

let setting: Setting;
let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "sluice-ways-")));
  setting = new Setting(folder);
});

afterAll(async () => {
  await setting[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** What goes wrong in a case; nothing where all holds. */
async function problemsIn(
  number: number,
  { way, store: kind, payloads, untouched, transformer, terms, random }: Drawn,
): Promise<readonly Problem[]> {
  await using store = await storeOf(kind, { random, folder, most: payloads.length });
  const calls = await Promise.all(payloads.map((each, at) => written(`${number}-${at}`, each, untouched, way, terms)));
  const given: Given = { ...terms, calls, store, transformer, random };
  const found: Problem[] = [];
  let told: readonly Told[] | "late";
  try {
    told = await inTime(way.run(given, setting));
  } catch (error) {
    told = [];
    found.push({
      what: "fails",
      more: error instanceof Error ? (error.stack ?? error.message).slice(0, 600) : String(error),
    });
  }
  if (told === "late") {
    await setting[Symbol.asyncDispose]();
    return [{ what: "is not answered in time", more: `${LIMIT} ms` }];
  }
  for (const [at, each] of told.entries()) found.push(...(await problemsOf(each, calls[at] as GivenCall, way, given)));
  if (CASE !== undefined) for (const each of told) console.log(each.refused ?? each.text?.slice(0, 20_000));
  await Promise.all(calls.map(({ file }) => rm(file, { force: true })));
  return found;
}

/** Puts what a call is answered where the server finds it. */
async function written(
  name: string,
  { payload: whole, linked }: Drawn["payloads"][number],
  untouched: Untouched | undefined,
  way: Way,
  terms: Drawn["terms"],
): Promise<GivenCall> {
  const file = join(folder, `${name}.json`);
  let given = whole;
  if (way.links === true) {
    const at = join(folder, `${name}-linked.json`);
    const text = linked?.json ?? "null";
    await writeFile(at, text);
    given = withLink(whole, uriOf(at, terms), text.length);
  }
  await writeFile(file, given.body ?? given.json ?? "null");
  return { payload: given, linked, file, untouched };
}

/** The result with a link beside what it has. */
function withLink(whole: Payload, uri: string, size: number): Payload {
  const { content, ...rest } = whole.value as { content: readonly object[] };
  const value = { ...rest, content: [...content, link(uri, "linked", size)] };
  return { ...whole, value, json: JSON.stringify(value) };
}

async function inTime<T>(work: Promise<T>): Promise<T | "late"> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => (timer = setTimeout(() => resolve("late"), LIMIT)));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** All that went wrong, each cause once with its first cases. */
class Report {
  readonly #failures = new Map<string, string[]>();
  cases = 0;
  failed = 0;

  add(line: string, problems: readonly Problem[]): void {
    this.cases += 1;
    if (problems.length > 0) this.failed += 1;
    for (const what of new Set(problems.map((problem) => problem.what))) {
      const lines = this.#failures.get(what) ?? [];
      this.#failures.set(what, lines);
      lines.push(
        `  ${line}\n      ${problems.find((problem) => problem.what === what)?.more.replaceAll("\n", " ") ?? ""}`,
      );
    }
  }

  get text(): string {
    const most = Number(process.env["SHOWN"] ?? 5);
    return [...this.#failures]
      .sort(([, one], [, other]) => other.length - one.length)
      .map(([what, lines]) => `${what} (${lines.length} cases)\n${lines.slice(0, most).join("\n")}`)
      .join("\n\n");
  }
}

test("what a model is told keeps every promise, whatever way it came", { timeout: 1_000_000_000 }, async () => {
  const report = new Report();
  console.log(`every way in: SEED=${seed}, ${WAYS.length} ways, ${COMBINATIONS.length} combinations with a store`);
  const one = CASE === undefined ? undefined : Number(CASE);
  const until = Date.now() + seconds * 1000;
  for (let number = one ?? 0; number < COMBINATIONS.length || Date.now() < until; number += 1) {
    const drawn = draw(number);
    if (ONLY === undefined || new RegExp(ONLY).test(drawn.line))
      report.add(drawn.line, await problemsIn(number, drawn));
    if (one !== undefined) break;
    if (ONLY !== undefined && Date.now() > until) break;
  }
  // Told at once, so that it is known also of a run that is given up later.
  console.log([`every way in: ${report.cases} cases, ${report.failed} failed`, report.text].join("\n").trim());
  expect(report.text, `SEED=${seed}: ${report.failed} of ${report.cases} cases failed`).toBe("");
});
