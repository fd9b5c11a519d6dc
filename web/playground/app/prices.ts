/**
 * Prices of input tokens in US dollars for a million, as their makers list them: platform.claude.com/docs/about-claude/pricing and
 * developers.openai.com/api/docs/pricing. The first is chosen until the visitor chooses another; no two are equal.
 * @module
 */

/** The month in which the prices were read. */
export const AS_OF = "Nov 2026";

/** A model, or models of the same price. */
interface Price {
  readonly dollars: number;
  readonly model: string;
}

/** The prices to choose from. */
export const PRICES: readonly [Price, ...Price[]] = [
  { dollars: 2, model: "Sonnet 5.5" },
  { dollars: 4, model: "Opus 5.5" },
  { dollars: 10, model: "Fable 5.1" },
  { dollars: 0.1, model: "Haiku 5.5" },
];
