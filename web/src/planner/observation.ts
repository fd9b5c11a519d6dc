/**
 * The one way to the model: every result leaves as JSON within its limit. What does not fit is stored and referred
 * to.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import type { SluiceConfig } from "../config/types.js";
import type { AnswerRef, ClampReport, Sluice } from "../core/types.js";
import { MAX_CALLS } from "./llm/client.js";

/** A result on its way to the model. */
export interface RawResult {
  /** The tool's name in the catalog. */
  readonly tool: string;
  /** Prefix of the ids of what is stored of it. */
  readonly namespace: string;
  /** JSON text. */
  readonly text: string;
  /** How the source's guardrail or the tool's limit cut it before. */
  readonly cut?: ClampReport;
  /** The tool's own limit in characters, if it has one. */
  readonly maxChars: number | undefined;
}

/** What the model sees. */
export interface Observation {
  /** JSON text. */
  readonly text: string;
  /** Code points. */
  readonly chars: number;
  /** What was stored because it did not fit. */
  readonly artifacts: readonly AnswerRef[];
  /** How it was cut. Undefined if the model sees all of it. */
  readonly cut: ClampReport | undefined;
}

/** Limits for what the model sees. */
interface ObservationLimits {
  /** Of one result, in code points of JSON. */
  readonly maxObservationChars: number;
  /** Of all results of a step together. */
  readonly maxStepChars: number;
}

/** Shorter results are repeated: a reference would be as long. */
const LEAST_REPEATED = 400;

/** The way to the model for one run. Knows what the model saw before. */
export class ObservationLimiter {
  readonly #sluices: Sluices;
  readonly #limits: ObservationLimits;
  readonly #scope: ArtifactScope;
  /** Where each text was seen first. */
  readonly #told = new Map<string, string>();

  constructor(sluices: Sluices, limits: ObservationLimits, scope: ArtifactScope) {
    this.#sluices = sluices;
    this.#limits = limits;
    this.#scope = scope;
  }

  /** How many calls of one step have room for results. */
  get mostCalls(): number {
    return Math.min(MAX_CALLS, Math.floor(this.#limits.maxStepChars / LEAST_SHARE));
  }

  /** Remembers what the model saw in a step. */
  remember(text: string, tool: string, step: number): void {
    note(this.#told, text, tool, step);
  }

  /** Limits the results of one step, in order. */
  async limit(step: number, results: readonly RawResult[], signal: AbortSignal): Promise<readonly Observation[]> {
    const own = await Promise.all(
      results.map((result) => {
        const limit = result.maxChars ?? this.#limits.maxObservationChars;
        return this.#fitting(result, limit, () => this.#sluices.within(limit), signal);
      }),
    );
    const observations = await this.#together(this.#once(step, own, results), results, signal);
    // What did not fit into the step was not seen, and may be shown later.
    for (const [at, { text }] of observations.entries()) this.remember(text, (results[at] as RawResult).tool, step);
    return observations;
  }

  /** Stores the longest result first, until all fit: little remains of it, which leaves more for the others. */
  async #together(
    all: readonly Observation[],
    results: readonly RawResult[],
    signal: AbortSignal,
  ): Promise<readonly Observation[]> {
    const { maxStepChars } = this.#limits;
    const observations = [...all];
    for (const at of longestFirst(all)) {
      const shares = shareChars(
        observations.map(({ chars }) => chars),
        maxStepChars,
      );
      observations[at] = await this.#within(
        observations[at] as Observation,
        results[at] as RawResult,
        shares[at] as number,
        signal,
      );
    }
    return observations;
  }

  async #within(seen: Observation, result: RawResult, share: number, signal: AbortSignal): Promise<Observation> {
    if (seen.chars <= share) return seen;
    const sluice = (): Promise<Sluice> => this.#sluices.withinShare(share);
    const { text, chars, artifacts } = await this.#fitting({ ...result, text: seen.text }, share, sluice, signal);
    const originalChars = seen.cut?.originalChars ?? seen.chars;
    return { text, chars, artifacts: [...seen.artifacts, ...artifacts], cut: { originalChars, method: "step" } };
  }

  /** Stores what is longer than the limit, and clamps the rest. Clamps twice, since nothing limits it later. */
  async #fitting(
    { tool, namespace, text, cut }: RawResult,
    limit: number,
    narrow: () => Promise<Sluice>,
    signal: AbortSignal,
  ): Promise<Observation> {
    const whole = countChars(text);
    if (whole <= limit) return { text, chars: whole, artifacts: [], cut };
    const sluice = await narrow();
    const options = { tool, namespace, scope: this.#scope, signal, transformed: true, rewritten: true };
    const { text: reduced, artifacts } = await gateText(sluice, text, options);
    const { text: last, clampedChars: chars, method } = sluice.clampText(reduced, { maxChars: limit });
    return {
      text: last,
      chars,
      artifacts,
      cut: { originalChars: cut?.originalChars ?? whole, method: method === "none" ? "stored" : method },
    };
  }

  /** Shows the same content once. */
  #once(step: number, observations: readonly Observation[], results: readonly RawResult[]): readonly Observation[] {
    const told = new Map(this.#told);
    return observations.map((seen, at) => {
      const before = told.get(seen.text);
      if (before !== undefined) return markRepeated(seen, before);
      note(told, seen.text, (results[at] as RawResult).tool, step);
      return seen;
    });
  }
}

function note(told: Map<string, string>, text: string, tool: string, step: number): void {
  if (text.length >= LEAST_REPEATED && !told.has(text)) told.set(text, `${tool} in step ${step}`);
}

function markRepeated(seen: Observation, before: string): Observation {
  const text = JSON.stringify(`The same as the result of ${before}.`);
  const originalChars = seen.cut?.originalChars ?? seen.chars;
  return { ...seen, text, chars: countChars(text), cut: { originalChars, method: "repeated" } };
}

async function gateText(
  sluice: Sluice,
  text: string,
  options: Parameters<Sluice["open"]>[0],
): Promise<{ readonly text: string; readonly artifacts: readonly AnswerRef[] }> {
  await using stream = sluice.open(options);
  await stream.write(new TextEncoder().encode(text));
  return await stream.close();
}

function longestFirst(observations: readonly Observation[]): readonly number[] {
  return observations
    .map((_, at) => at)
    .sort((a, b) => (observations[b] as Observation).chars - (observations[a] as Observation).chars);
}

/** Code points. */
function countChars(text: string): number {
  let surrogates = 0;
  for (let at = 0; at < text.length; at += 1) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) surrogates += 1;
  return text.length - surrogates;
}

/** Characters: the core clamps to no less (`kMinObservationChars`). */
export const LEAST_SHARE = 256;

/**
 * Distributes `total`: those that need less than an equal share leave the rest to the others. Each gets at least 256
 * if needed, so the sum exceeds `total` only if that is below 256 for each.
 */
export function shareChars(needs: readonly number[], total: number): readonly number[] {
  const most = findLevel(needs, total);
  return needs.map((need) => Math.min(need, most));
}

/** The limit for all. It only rises while needs become smaller, so what was cut to it stays within it. */
function findLevel(needs: readonly number[], total: number): number {
  let left = total;
  for (const [at, need] of needs.toSorted((a, b) => a - b).entries()) {
    const level = Math.max(LEAST_SHARE, Math.floor(left / (needs.length - at)));
    if (need > level) return level;
    left -= need;
  }
  return Infinity;
}

/** One gate for each limit, made at first use: the planner's limit, a tool's own, or a share of a step's. */
export class Sluices {
  readonly #config: SluiceConfig;
  readonly #create: (config: SluiceConfig) => Promise<Sluice>;
  readonly #made = new Map<number, Promise<Sluice>>();

  /** @param create makes a gate, always over the same store. */
  constructor(config: SluiceConfig, create: (config: SluiceConfig) => Promise<Sluice>) {
    this.#config = config;
    this.#create = create;
  }

  /** The gate for observations of at most so many characters. */
  within(maxChars: number): Promise<Sluice> {
    const { guardrail = {} } = this.#config;
    // What is cut is stored: there is no other whole copy of it.
    const threshold = Math.min(guardrail.auto_artifact_threshold ?? maxChars, maxChars);
    const narrow = { ...guardrail, max_observation_chars: maxChars, auto_artifact_threshold: threshold };
    const made = this.#made.get(maxChars) ?? this.#create({ ...this.#config, guardrail: narrow });
    this.#made.set(maxChars, made);
    // Tried again after a failure.
    made.catch(() => this.#made.delete(maxChars));
    return made;
  }

  /** The gate for a share of a step's limit, rounded down to a power of two, so that a run needs few gates. */
  withinShare(maxChars: number): Promise<Sluice> {
    return this.within(LEAST_SHARE * 2 ** Math.floor(Math.log2(Math.max(1, maxChars / LEAST_SHARE))));
  }
}
