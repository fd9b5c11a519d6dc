/**
 * One gate for each limit: the planner's, a tool's own, or what is left of a step's.
 * @module
 */
import type { SluiceConfig } from "../core/config.js";
import type { Sluice } from "../core/sluice.js";

const LEAST = 256;

/** Makes gates as they are needed, and keeps them. */
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
    return this.within(LEAST * 2 ** Math.floor(Math.log2(Math.max(1, maxChars / LEAST))));
  }
}
