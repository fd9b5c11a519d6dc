/**
 * What a planner is given, checked before anything is done with it.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { ANYTHING, checkOptions, FUNCTION, OBJECT, type OptionTest, type OptionTests } from "../errors/options.js";
import type { ReactPlannerOptions, ResumeOptions, RunOptions } from "./react-planner.js";

const COUNT: OptionTest = ["a whole number above 0", isCount];

const PLANNERS = "a ReactPlanner";

/** What is not tested here is tested where it is used. */
const PLANNER: OptionTests<ReactPlannerOptions> = {
  catalog: ["a list of tools, of ToolNodes or of registries", Array.isArray],
  llm: ["a model, such as an OpenAiClient", (value) => typeof (value as { ask?: unknown } | null)?.ask === "function"],
  artifactStore: ANYTHING,
  stateStore: OBJECT,
  leaseSeconds: ANYTHING,
  config: ANYTHING,
  maxStepChars: COUNT,
  absoluteMaxParallel: COUNT,
  budget: OBJECT,
  instructions: ["a text", (value) => typeof value === "string"],
  onEvent: FUNCTION,
  wasm: ANYTHING,
};

const RUN: OptionTests<RunOptions & ResumeOptions> = {
  scope: OBJECT,
  toolContext: OBJECT,
  llmContext: OBJECT,
  planningHints: [
    'an object, such as {"max_parallel": 4}',
    (value) => OBJECT[1](value) && isCount((value as { max_parallel?: unknown }).max_parallel ?? 1),
  ],
  signal: ["an AbortSignal", (value) => value instanceof AbortSignal],
  callSignal: FUNCTION,
  onEvent: FUNCTION,
  answer: ANYTHING,
};

/** Throws E_INVALID_ARGUMENT with the option that is wrong, missing, or that there is not. */
export function checkPlanner(options: Partial<ReactPlannerOptions>): void {
  checkOptions(options, PLANNER, PLANNERS, wrong);
  for (const name of ["catalog", "llm"] as const) {
    if (options[name] === undefined)
      throw wrong(`The option ${name} of ${PLANNERS} must be ${PLANNER[name][0]}.`, name);
  }
}

/** The same for what a run, or a run that goes on, is given. */
export function checkRun(options: RunOptions | ResumeOptions): void {
  checkOptions(options, RUN, "a run", wrong);
}

/** Throws E_INVALID_ARGUMENT for a query that is no text. */
export function checkQuery(query: unknown): void {
  if (typeof query === "string" && query.trim() !== "") return;
  throw wrong("The query must be a text.", "query");
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function wrong(sentence: string, path: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}
