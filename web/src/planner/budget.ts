/**
 * The budget of a run: its limits, what a run uses of them, and the limit that ends it.
 * @module
 */
import { z } from "zod";
import { checkOptions, type OptionTest, type OptionTests } from "../errors/arguments.js";
import { wrongOption, type LlmAnswer, type LlmMessage } from "./llm/client.js";

/** The default of `maxSteps`. The other limits have none. */
const MAX_STEPS = 20;
/** Characters that count as one token where the server reports none. */
const CHARS_A_TOKEN = 4;

/** Limits of a run. */
export interface PlannerBudget {
  /**
   * Most turns of the model. In the last one it gets no tools, and has to answer.
   * @defaultValue `20`
   */
  readonly maxSteps?: number;
  /** Most tokens, read and written, over all turns. Unlimited by default. */
  readonly maxTokens?: number;
  /** Most seconds, not counting those in which the run waits for a person. Unlimited by default. */
  readonly maxSeconds?: number;
}

/** What a run used of its budget. */
export interface BudgetUsage {
  /** Turns of the model. */
  readonly steps: number;
  /** As the server reports, else one token for every four characters. */
  readonly tokens: number;
  /** Not counting those in which the run waited for a person. */
  readonly seconds: number;
}

/** The limit that a run reached. */
export type ExhaustedLimit = "steps" | "tokens" | "seconds";

/** A {@link BudgetUsage} as a store gives it. */
export const USAGE = z.object({ steps: z.number(), tokens: z.number(), seconds: z.number() });

const WHOLE: OptionTest = [
  "a whole number above 0, or Infinity",
  (value) => (Number.isSafeInteger(value) || value === Infinity) && (value as number) > 0,
];

const BUDGET: OptionTests<PlannerBudget> = {
  maxSteps: WHOLE,
  maxTokens: WHOLE,
  maxSeconds: ["a number above 0", (value) => typeof value === "number" && value > 0],
};

/** Throws E_INVALID_ARGUMENT for a wrong limit, and for an unknown one, which would lift the limit that was meant. */
export function checkBudget(budget: PlannerBudget): void {
  checkOptions(budget, BUDGET, "a budget", (sentence, name) => {
    return wrongOption(sentence, name === "options" ? "budget" : `budget.${name}`);
  });
}

/** Counts what a run uses of its budget. */
export class BudgetMeter {
  readonly #limits: Required<PlannerBudget>;
  readonly #begun = performance.now();
  readonly #before: BudgetUsage;
  #steps: number;
  #tokens: number;

  constructor(budget: PlannerBudget, before: BudgetUsage) {
    const { maxSteps = MAX_STEPS, maxTokens = Infinity, maxSeconds = Infinity } = budget;
    this.#limits = { maxSteps, maxTokens, maxSeconds };
    this.#before = before;
    this.#steps = before.steps;
    this.#tokens = before.tokens;
  }

  /** The current step, from 1. */
  get step(): number {
    return this.#steps;
  }

  /** Whether the current turn is the last one. */
  get isLast(): boolean {
    return this.#steps >= this.#limits.maxSteps || this.exhausted !== undefined;
  }

  /** Milliseconds that are left. */
  get left(): number {
    return (this.#limits.maxSeconds - this.spent.seconds) * 1000;
  }

  get exhausted(): ExhaustedLimit | undefined {
    const { maxSteps, maxTokens, maxSeconds } = this.#limits;
    const { steps, tokens, seconds } = this.spent;
    if (seconds >= maxSeconds) return "seconds";
    if (tokens >= maxTokens) return "tokens";
    return steps >= maxSteps ? "steps" : undefined;
  }

  get spent(): BudgetUsage {
    const seconds = this.#before.seconds + (performance.now() - this.#begun) / 1000;
    return { steps: this.#steps, tokens: this.#tokens, seconds };
  }

  begin(): void {
    this.#steps += 1;
  }

  /** Counts a turn. */
  add(answer: LlmAnswer, messages: readonly LlmMessage[]): void {
    this.#tokens += countTokens(answer, messages);
  }
}

/** The tokens of a turn, as the server reports them, else one for every four characters. */
export function countTokens(
  { text, toolCalls, usage }: Pick<LlmAnswer, "text" | "toolCalls" | "usage">,
  messages: readonly LlmMessage[],
): number {
  if (usage !== undefined) return usage.inputTokens + usage.outputTokens;
  const asked = messages.reduce((sum, { content }) => sum + content.length, 0);
  const said = toolCalls.reduce((sum, call) => sum + call.arguments.length, text.length);
  return Math.ceil((asked + said) / CHARS_A_TOKEN);
}
