/**
 * What a planner is given, checked before anything is done with it.
 * @module
 */
import { fullScope } from "../artifacts/scope.js";
import { SluiceError } from "../errors/error.js";
import { ANYTHING, checkOptions, FUNCTION, OBJECT, type OptionTest, type OptionTests } from "../errors/options.js";
import { ToolRegistry } from "../tools/registry.js";
import type { UserFilePrompts } from "../tools/user-files/handling.js";
import { checkBudget } from "./budget.js";
import { MAX_RUN_NAME } from "./named-run.js";
import type { ReactPlannerOptions } from "./react-planner.js";
import type { ResumeOptions, RunOptions } from "./run-options.js";
import { LEAST_SHARE } from "./sharing.js";

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
  maxStepChars: [
    `a whole number of at least ${LEAST_SHARE}`,
    (value) => isCount(value) && (value as number) >= LEAST_SHARE,
  ],
  absoluteMaxParallel: COUNT,
  budget: OBJECT,
  instructions: ["a text", (value) => typeof value === "string"],
  userFiles: [
    "an object that has prompt, such as UserFiles",
    (value) => typeof (value as UserFilePrompts | null)?.prompt === "function",
  ],
  onEvent: FUNCTION,
  wasm: ANYTHING,
};

const RUN: OptionTests<RunOptions & ResumeOptions> = {
  scope: OBJECT,
  token: [
    `a text of 1 to ${MAX_RUN_NAME} characters`,
    (value) => typeof value === "string" && value !== "" && value.length <= MAX_RUN_NAME,
  ],
  toolContext: OBJECT,
  llmContext: OBJECT,
  planningHints: [
    'an object, such as {"max_parallel": 4}',
    (value) => OBJECT[1](value) && isCount((value as { max_parallel?: unknown }).max_parallel ?? 1),
  ],
  callTimeoutSeconds: [
    "a number of seconds from 1 to 300",
    (value) => typeof value === "number" && value >= 1 && value <= 300,
  ],
  signal: ["an AbortSignal", (value) => value instanceof AbortSignal],
  callSignal: FUNCTION,
  onEvent: FUNCTION,
  onResult: FUNCTION,
  answer: ANYTHING,
};

/** Throws E_INVALID_ARGUMENT with the option that is wrong, missing, or that there is not. */
export function checkPlanner(options: Partial<ReactPlannerOptions>): void {
  checkOptions(options, PLANNER, PLANNERS, wrong);
  for (const name of ["catalog", "llm"] as const) {
    if (options[name] === undefined)
      throw wrong(`The option ${name} of ${PLANNERS} must be ${PLANNER[name][0]}.`, name);
  }
  options.catalog?.forEach((source: unknown, at) => {
    if (!isSource(source)) throw wrong(`catalog[${at}] must be ${SOURCE}.`, `catalog[${at}]`);
  });
  checkBudget(options.budget ?? {});
}

const SOURCE = "a tool as tool() makes it, a ToolNode, a ToolRegistry, or a single tool of one of these";

function isSource(source: unknown): boolean {
  if (typeof source !== "object" || source === null) return false;
  const { kind, name, run, call, extra, getTools } = source as Readonly<Record<string, unknown>>;
  if (source instanceof ToolRegistry || typeof getTools === "function") return true;
  if (kind === "native") return typeof name === "string" && typeof run === "function";
  return typeof name === "string" && typeof call === "function" && typeof extra === "object" && extra !== null;
}

/** The same for what a run, or a run that goes on, is given. */
export function checkRun(options: RunOptions | ResumeOptions): void {
  checkOptions(options, RUN, "a run", wrong);
  // A field that there is not would be told to the model, call by call.
  fullScope(options.scope ?? {});
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
