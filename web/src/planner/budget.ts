/**
 * How far a run may go.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { checkOptions, type OptionTest, type OptionTests } from "../errors/arguments.js";
import type { LlmAnswer, LlmMessage } from "./llm/client.js";

/** What ends a run that goes on and on. */
export interface PlannerBudget {
  /** Turns of the model; in the last one it gets no tools, and has to answer. 20 when left out. */
  readonly maxSteps?: number;
  /** Tokens, read and written, over all turns; without an end when left out. */
  readonly maxTokens?: number;
  /** Seconds, those not counted in which it waits for a person; without an end when left out. */
  readonly maxSeconds?: number;
}

/** What was used of it. */
export interface BudgetUsage {
  /** Turns of the model. */
  readonly steps: number;
  /** As the model's server tells, else a token for every four characters. */
  readonly tokens: number;
  /** Without those in which the run waited for a person. */
  readonly seconds: number;
}

/** Which of the limits a run came to. */
export type ExhaustedLimit = "steps" | "tokens" | "seconds";

const STEPS = 20;
const CHARS_A_TOKEN = 4;

const WHOLE: OptionTest = [
  "a whole number above 0, or Infinity",
  (value) => (Number.isSafeInteger(value) || value === Infinity) && (value as number) > 0,
];

const BUDGET: OptionTests<PlannerBudget> = {
  maxSteps: WHOLE,
  maxTokens: WHOLE,
  maxSeconds: ["a number above 0", (value) => typeof value === "number" && value > 0],
};

/** Throws E_INVALID_ARGUMENT for a limit that is none, and for one that there is not: it would lift the limit that was meant. */
export function checkBudget(budget: PlannerBudget): void {
  checkOptions(budget, BUDGET, "a budget", (sentence, name) => {
    const path = name === "options" ? "budget" : `budget.${name}`;
    return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
  });
}

/** Counts. */
export class Meter {
  readonly #limits: Required<PlannerBudget>;
  readonly #begun = performance.now();
  readonly #before: BudgetUsage;
  #steps: number;
  #tokens: number;

  constructor(budget: PlannerBudget, before: BudgetUsage) {
    checkBudget(budget);
    const { maxSteps = STEPS, maxTokens = Infinity, maxSeconds = Infinity } = budget;
    this.#limits = { maxSteps, maxTokens, maxSeconds };
    this.#before = before;
    this.#steps = before.steps;
    this.#tokens = before.tokens;
  }

  /** The step that goes on, from 1. */
  get step(): number {
    return this.#steps;
  }

  /** Whether there is no turn behind the one that goes on. */
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
  add({ text, toolCalls, usage }: LlmAnswer, messages: readonly LlmMessage[]): void {
    if (usage !== undefined) {
      this.#tokens += usage.inputTokens + usage.outputTokens;
      return;
    }
    const asked = messages.reduce((sum, { content }) => sum + content.length, 0);
    const said = toolCalls.reduce((sum, call) => sum + call.arguments.length, text.length);
    this.#tokens += Math.ceil((asked + said) / CHARS_A_TOKEN);
  }
}
