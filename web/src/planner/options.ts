/**
 * What a planner and its runs are given, checked before anything is done with it.
 * @module
 */
import { fullScope } from "../artifacts/scope.js";
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import type { SluiceConfig } from "../core/config.js";
import type { WasmSource } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import { ANYTHING, checkOptions, COUNT, FUNCTION, OBJECT, TEXT, type OptionTests } from "../errors/arguments.js";
import { ToolRegistry } from "../tools/registry.js";
import type { UserFilePrompts } from "../tools/user-files.js";
import { checkBudget, type PlannerBudget } from "./budget.js";
import type { CatalogSource } from "./catalog.js";
import type { CallPlace, PlannerEvent } from "./event.js";
import type { LlmClient } from "./llm/client.js";
import { MAX_RUN_NAME } from "./run-state.js";
import type { PlannerResult } from "./result.js";
import { LEAST_SHARE } from "./observation.js";
import type { HostStateStore } from "./state-store.js";

/** What a planner is made of. */
export interface ReactPlannerOptions {
  /** All tools that the model may call. */
  readonly catalog: readonly CatalogSource[];
  /** Who says what is called, and answers. */
  readonly llm: LlmClient;
  /** Where bytes and large texts go; found in the state store, or nowhere with one warning, when left out. */
  readonly artifactStore?: ArtifactStore;
  /** Where runs that wait are kept; in this process when left out, or where the store cannot. */
  readonly stateStore?: HostStateStore;
  /** Seconds after which a run can go on elsewhere, when the process dies that had it. 60 when left out. */
  readonly leaseSeconds?: number;
  /** How results are reduced and clamped, see `SluiceConfig`; `guardrail` holds for the tools of all sources. */
  readonly config?: SluiceConfig;
  /**
   * Characters of JSON that all results of one step may have together, at least 256; 100,000 when left out. No result gets less than
   * 256 where it needs them: of the calls of one turn as many are made as there is room for so, and 256 at most.
   */
  readonly maxStepChars?: number;
  /** Calls under way at the same time, whatever a query wants. 50 when left out. */
  readonly absoluteMaxParallel?: number;
  /** How far a run may go. */
  readonly budget?: PlannerBudget;
  /** Stands before our own instructions to the model. */
  readonly instructions?: string;
  /** Adds the files of whoever asks to every query: a `UserFiles` of `mcp-sluice/files`. */
  readonly userFiles?: UserFilePrompts;
  /** Told of what happens. What it throws is lost. */
  readonly onEvent?: (event: PlannerEvent) => void;
  /** Where the core is, when a bundler moved it. */
  readonly wasm?: WasmSource;
}

/** What is known of a query before it is run. */
export interface PlanningHints {
  /** Calls under way at the same time, if fewer than the planner allows. */
  readonly max_parallel?: number;
}

/** How one query is run. */
export interface RunOptions {
  /** Whose tokens are used, and whose is what is stored. */
  readonly scope?: ArtifactScope;
  /**
   * By which name the run is kept in the state store from its beginning on: 1 to 900 characters that no other run has. It is
   * saved before its first step and after each, and held by this process with `leaseSeconds`; where the process dies, another
   * goes on behind the last step that was saved, with `resume` of this name. Calls of a step that was not done are made again.
   * Left out: the run is kept where it pauses, and at no other time.
   */
  readonly token?: string;
  /** For native tools alone. */
  readonly toolContext?: Readonly<Record<string, unknown>>;
  /** What the model is to know beside the query: JSON values. */
  readonly llmContext?: Readonly<Record<string, unknown>>;
  /** What is known of the query: see {@link PlanningHints}. */
  readonly planningHints?: PlanningHints;
  /** Seconds of silence that each call of a source's tool is given in place of the source's `timeout_s`, 1 to 300. */
  readonly callTimeoutSeconds?: number;
  /** Gives up: the model is not asked any more, and calls end. */
  readonly signal?: AbortSignal;
  /**
   * Asked at the beginning of each call for what gives up this one: then the model is told that it was cancelled, and the run
   * goes on. A tool is not begun where the signal is aborted already. One that does not heed it is not waited for, and nothing more
   * is told of it, but what it does is not bounded: its turn among `max_parallel` is the next call's. Where this throws, or gives
   * anything but a signal or undefined, the run fails with E_INVALID_ARGUMENT.
   */
  readonly callSignal?: (place: CallPlace) => AbortSignal | undefined;
  /** Told of what happens in this run, as the planner's `onEvent` is of all. What it throws is lost. */
  readonly onEvent?: (event: PlannerEvent) => void;
  /**
   * Given the result while the run is still kept, and waited for: who writes it down here loses it to no crash. Where this
   * throws so does the run, which then waits by its `token`.
   */
  readonly onResult?: (result: PlannerResult) => void | Promise<void>;
}

/** How a run goes on. */
export interface ResumeOptions extends Omit<RunOptions, "llmContext" | "token"> {
  /**
   * What the person answered, as `ToolContext.pause` gives it; null: they declined. Left out: null by the token of a pause; by a
   * run's own name, where it waits for an answer, nothing is answered, and the same pause is given again.
   */
  readonly answer?: unknown;
}

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
    (value) => COUNT[1](value) && (value as number) >= LEAST_SHARE,
  ],
  absoluteMaxParallel: COUNT,
  budget: OBJECT,
  instructions: TEXT,
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
    (value) => OBJECT[1](value) && COUNT[1]((value as { max_parallel?: unknown }).max_parallel ?? 1),
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
  checkOptions(options, PLANNER, "a ReactPlanner", wrong, ["catalog", "llm"]);
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

function wrong(sentence: string, path: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}
