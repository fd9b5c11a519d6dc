/**
 * The one exit to the model: whatever tool it came from, what leaves here is JSON within its limit, and what does not fit is
 * stored and referred to.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import type { SluiceConfig } from "../config/types.js";
import type { AnswerRef, ClampReport, Sluice } from "../core/sluice.js";
import { MAX_CALLS } from "./llm/client.js";

/** A result on its way to the model. */
export interface Leaving {
  /** The tool's name in the catalog. */
  readonly tool: string;
  /** Prefix of the ids of what is stored of it. */
  readonly namespace: string;
  /** JSON text. */
  readonly text: string;
  /** How its source's guardrail, or the tool's own limit, cut it before. */
  readonly cut?: ClampReport;
  /** Characters that the tool's own limit allows; undefined where it has none. */
  readonly maxChars: number | undefined;
}

/** What the model sees. */
export interface Left {
  /** JSON text. */
  readonly text: string;
  /** Code points. */
  readonly chars: number;
  /** What was stored since it did not fit. */
  readonly artifacts: readonly AnswerRef[];
  /** Undefined where the model sees all of it. */
  readonly cut: ClampReport | undefined;
}

/** How much the model sees. */
interface ExitLimits {
  /** Of one result, in code points of JSON. */
  readonly maxObservationChars: number;
  /** Of all results of a step together. */
  readonly maxStepChars: number;
}

/** Shorter results are repeated rather than referred to: the reference would be as long. */
const LEAST_REPEATED = 400;

/** Of one run: it knows what the model was told before. */
export class ModelExit {
  readonly #sluices: Sluices;
  readonly #limits: ExitLimits;
  readonly #scope: ArtifactScope;
  /** By text: where it was told first. */
  readonly #told = new Map<string, string>();

  constructor(sluices: Sluices, limits: ExitLimits, scope: ArtifactScope) {
    this.#sluices = sluices;
    this.#limits = limits;
    this.#scope = scope;
  }

  /** Calls of one step whose results fit. */
  get room(): number {
    return Math.min(MAX_CALLS, Math.floor(this.#limits.maxStepChars / LEAST_SHARE));
  }

  /** Notes what the model saw in a step. */
  remember(text: string, tool: string, step: number): void {
    note(this.#told, text, tool, step);
  }

  /** Lets the results of one step out, in their order. */
  async leave(step: number, results: readonly Leaving[], signal: AbortSignal): Promise<readonly Left[]> {
    const own = await Promise.all(
      results.map((result) => {
        const limit = result.maxChars ?? this.#limits.maxObservationChars;
        return this.#fitting(result, limit, () => this.#sluices.within(limit), signal);
      }),
    );
    const lefts = await this.#together(this.#once(step, own, results), results, signal);
    // What did not fit in the step was not seen: it may be told whole in a later one.
    for (const [at, { text }] of lefts.entries()) this.remember(text, (results[at] as Leaving).tool, step);
    return lefts;
  }

  /** The longest goes first, as often as it takes: of what is stored little is left, which is more for the others. */
  async #together(all: readonly Left[], results: readonly Leaving[], signal: AbortSignal): Promise<readonly Left[]> {
    const { maxStepChars } = this.#limits;
    const lefts = [...all];
    for (const at of longestFirst(all)) {
      const shares = shared(
        lefts.map(({ chars }) => chars),
        maxStepChars,
      );
      lefts[at] = await this.#within(lefts[at] as Left, results[at] as Leaving, shares[at] as number, signal);
    }
    return lefts;
  }

  async #within(left: Left, result: Leaving, share: number, signal: AbortSignal): Promise<Left> {
    if (left.chars <= share) return left;
    const sluice = (): Promise<Sluice> => this.#sluices.withinShare(share);
    const { text, chars, artifacts } = await this.#fitting({ ...result, text: left.text }, share, sluice, signal);
    const originalChars = left.cut?.originalChars ?? left.chars;
    return { text, chars, artifacts: [...left.artifacts, ...artifacts], cut: { originalChars, method: "step" } };
  }

  /** Stores what is longer than the limit, and clamps what refers to it: twice, since this is the exit. */
  async #fitting(
    { tool, namespace, text, cut }: Leaving,
    limit: number,
    narrow: () => Promise<Sluice>,
    signal: AbortSignal,
  ): Promise<Left> {
    const whole = charsOf(text);
    if (whole <= limit) return { text, chars: whole, artifacts: [], cut };
    const sluice = await narrow();
    const options = { tool, namespace, scope: this.#scope, signal, transformed: true };
    const { text: reduced, artifacts } = await gated(sluice, text, options);
    const { text: last, clampedChars: chars, method } = sluice.clampText(reduced, { maxChars: limit });
    return {
      text: last,
      chars,
      artifacts,
      cut: { originalChars: cut?.originalChars ?? whole, method: method === "none" ? "stored" : method },
    };
  }

  /** The same content is told once. */
  #once(step: number, lefts: readonly Left[], results: readonly Leaving[]): readonly Left[] {
    const told = new Map(this.#told);
    return lefts.map((left, at) => {
      const before = told.get(left.text);
      if (before !== undefined) return repeated(left, before);
      note(told, left.text, (results[at] as Leaving).tool, step);
      return left;
    });
  }
}

function note(told: Map<string, string>, text: string, tool: string, step: number): void {
  if (text.length >= LEAST_REPEATED && !told.has(text)) told.set(text, `${tool} in step ${step}`);
}

function repeated(left: Left, before: string): Left {
  const text = JSON.stringify(`The same as the result of ${before}.`);
  const originalChars = left.cut?.originalChars ?? left.chars;
  return { ...left, text, chars: charsOf(text), cut: { originalChars, method: "repeated" } };
}

async function gated(
  sluice: Sluice,
  text: string,
  options: Parameters<Sluice["open"]>[0],
): Promise<{ readonly text: string; readonly artifacts: readonly AnswerRef[] }> {
  await using stream = sluice.open(options);
  await stream.write(new TextEncoder().encode(text));
  return await stream.close();
}

function longestFirst(lefts: readonly Left[]): readonly number[] {
  return lefts.map((_, at) => at).sort((a, b) => (lefts[b] as Left).chars - (lefts[a] as Left).chars);
}

/** Code points. */
function charsOf(text: string): number {
  let surrogates = 0;
  for (let at = 0; at < text.length; at += 1) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) surrogates += 1;
  return text.length - surrogates;
}

/** Characters: the core clamps to no less (`kMinObservationChars`). */
export const LEAST_SHARE = 256;

/**
 * The most that each may have, so that together they have no more than there is: who needs less than an equal share leaves the rest to the
 * others. Nobody gets less than 256 who needs it: more than `total` comes only where `total` is below 256 for each.
 */
export function shared(needs: readonly number[], total: number): readonly number[] {
  const most = levelOf(needs, total);
  return needs.map((need) => Math.min(need, most));
}

/** One level for all: while needs become smaller it only rises, so that what was cut to it stays within it. */
function levelOf(needs: readonly number[], total: number): number {
  let left = total;
  for (const [at, need] of needs.toSorted((a, b) => a - b).entries()) {
    const level = Math.max(LEAST_SHARE, Math.floor(left / (needs.length - at)));
    if (need > level) return level;
    left -= need;
  }
  return Infinity;
}

/** One gate for each limit, made when it is needed: the planner's, a tool's own, or what is left of a step's. */
export class Sluices {
  readonly #config: SluiceConfig;
  readonly #create: (config: SluiceConfig) => Promise<Sluice>;
  readonly #made = new Map<number, Promise<Sluice>>();

  /** @param create makes a gate, over the same store always. */
  constructor(config: SluiceConfig, create: (config: SluiceConfig) => Promise<Sluice>) {
    this.#config = config;
    this.#create = create;
  }

  /** One whose observations have at most so many characters. */
  within(maxChars: number): Promise<Sluice> {
    const { guardrail = {} } = this.#config;
    // What is cut here is stored: nobody has the whole of it otherwise.
    const threshold = Math.min(guardrail.auto_artifact_threshold ?? maxChars, maxChars);
    const narrow = { ...guardrail, max_observation_chars: maxChars, auto_artifact_threshold: threshold };
    const made = this.#made.get(maxChars) ?? this.#create({ ...this.#config, guardrail: narrow });
    this.#made.set(maxChars, made);
    // After a failure it is tried again.
    made.catch(() => this.#made.delete(maxChars));
    return made;
  }

  /** One for a share of a step's: the next smaller of a few, so that a run needs few gates. */
  withinShare(maxChars: number): Promise<Sluice> {
    return this.within(LEAST_SHARE * 2 ** Math.floor(Math.log2(Math.max(1, maxChars / LEAST_SHARE))));
  }
}
