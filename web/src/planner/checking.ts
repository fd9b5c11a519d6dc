/**
 * What a planner is given, checked before anything is done with it.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { nearest } from "../errors/nearest.js";
import type { ReactPlannerOptions, ResumeOptions, RunOptions } from "./react-planner.js";

type Test = readonly [expected: string, holds: (value: unknown) => boolean];
type Tests<T> = Readonly<Record<keyof T, Test>>;

const ANYTHING: Test = ["", () => true];
const OBJECT: Test = ["an object", (value) => typeof value === "object" && value !== null && !Array.isArray(value)];
const FUNCTION: Test = ["a function", (value) => typeof value === "function"];
const COUNT: Test = ["a whole number above 0", isCount];

/** What is not tested here is tested where it is used. */
const PLANNER: Tests<ReactPlannerOptions> = {
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

const RUN: Tests<RunOptions & ResumeOptions> = {
  scope: OBJECT,
  toolContext: OBJECT,
  llmContext: OBJECT,
  planningHints: [
    'an object, such as {"max_parallel": 4}',
    (value) => OBJECT[1](value) && isCount((value as { max_parallel?: unknown }).max_parallel ?? 1),
  ],
  signal: ["an AbortSignal", (value) => value instanceof AbortSignal],
  onEvent: FUNCTION,
  answer: ANYTHING,
};

/** Throws E_INVALID_ARGUMENT with the option that is wrong, missing, or that there is not. */
export function checkPlanner(options: Partial<ReactPlannerOptions>): void {
  check(options, PLANNER, "a ReactPlanner");
  for (const name of ["catalog", "llm"] as const) {
    if (options[name] === undefined) throw wrong(name, "a ReactPlanner", PLANNER[name][0]);
  }
}

/** The same for what a run, or a run that goes on, is given. */
export function checkRun(options: RunOptions | ResumeOptions): void {
  check(options, RUN, "a run");
}

/** Throws E_INVALID_ARGUMENT for a query that is no text. */
export function checkQuery(query: unknown): void {
  if (typeof query === "string" && query.trim() !== "") return;
  throw new SluiceError("E_INVALID_ARGUMENT", "The query must be a text.", { path: "query" });
}

function check<T extends object>(options: Partial<T>, tests: Tests<T>, owner: string): void {
  if (!OBJECT[1](options)) {
    throw new SluiceError("E_INVALID_ARGUMENT", `The options of ${owner} must be an object.`, { path: "options" });
  }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(tests, name)) throw unknown(name, Object.keys(tests), owner);
    const [expected, holds] = tests[name as keyof T];
    if (value !== undefined && !holds(value)) throw wrong(name, owner, expected);
  }
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function wrong(name: string, owner: string, expected: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `The option ${name} of ${owner} must be ${expected}.`, { path: name });
}

function unknown(name: string, known: readonly string[], owner: string): SluiceError {
  const shown = name.slice(0, 64);
  const meant = nearest(shown, known);
  const remedy = meant === undefined ? `there are ${known.join(", ")}.` : `did you mean ${meant}?`;
  const sentence = `${JSON.stringify(shown)} is no option of ${owner}: ${remedy}`;
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path: shown });
}
