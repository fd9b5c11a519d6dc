/**
 * The result of a run, its trajectory, and the state that another process needs to continue it. JSON.
 * @module
 */
import type { AnswerRef } from "../core/types.js";
import type { PausePayload, PauseReason } from "../tools/context.js";
import type { LlmAnswer, LlmMessage, LlmToolCall } from "./llm/client.js";
import { z } from "zod";
import { scopeKey } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import { USAGE, type BudgetUsage, type ExhaustedLimit } from "./budget.js";
import type { PlannerOutcome } from "./event.js";
import type { RawResult } from "./observation.js";

/** The run is over. */
export interface PlannerResult {
  /** Tells it from a pause. */
  readonly kind: "result";
  /** The model's last text. Complete if `outcome` is `answered`. */
  readonly answer: string;
  /** `answered`, what the answer lacks, or the limit that the run reached. */
  readonly outcome: PlannerOutcome;
  /** What it used. */
  readonly spent: BudgetUsage;
  /** What happened. */
  readonly trajectory: Trajectory;
}

/** A tool waits for a person: `resume` continues the run, in this process or another. */
export interface PlannerPause {
  /** Tells it from a result. */
  readonly kind: "pause";
  /** Why it waits. */
  readonly reason: PauseReason;
  /** The question's data, see `ToolContext.pause`. */
  readonly payload: PausePayload;
  /** The tool's name in the catalog. */
  readonly tool: string;
  /** The token for `resume`. Anyone with it and the scope can continue the run. */
  readonly resumeToken: string;
  /** What happened so far. */
  readonly trajectory: Trajectory;
}

/** A call, and what the model saw of its result. */
export interface TrajectoryCall {
  /** Unique in its step. */
  readonly id: string;
  /** The tool's name in the catalog, or what the model wrote. */
  readonly tool: string;
  /** The arguments, or undefined if the model wrote no JSON object. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
  /** JSON text: what the model sees. */
  readonly observation: string;
  /** Whether the tool failed, or could not be called. */
  readonly isError: boolean;
  /** What was stored of the result. */
  readonly artifacts: readonly AnswerRef[];
}

/** One turn of the model and its calls. */
export interface TrajectoryStep {
  /** What the model wrote besides its calls. */
  readonly text: string;
  /** Its calls, in order. */
  readonly calls: readonly TrajectoryCall[];
}

/** What happened in a run. */
export interface Trajectory {
  /** What was asked. */
  readonly query: string;
  /** The model's turns. The last one has the answer. */
  readonly steps: readonly TrajectoryStep[];
  /** Fields marked `artifact: true` by tool and field, such as `report.totals`. The last value counts. */
  readonly artifacts: Readonly<Record<string, unknown>>;
}

/** The outcome of a run's last turn. What the answer lacks takes precedence over the limit. */
export function decideOutcome(
  { text, stopReason }: Pick<LlmAnswer, "text" | "stopReason">,
  exhausted: ExhaustedLimit | undefined,
): PlannerOutcome {
  if (stopReason === "length" || stopReason === "content_filter" || stopReason === "limit") return stopReason;
  // Without tools a model may have nothing to say: the cause is then the limit of steps.
  if (exhausted !== undefined) return exhausted;
  return text.trim() === "" ? "empty" : "answered";
}

/** The state of a run between two steps. */
export interface RunState {
  readonly query: string;
  readonly llmContext: Readonly<Record<string, unknown>>;
  readonly messages: readonly LlmMessage[];
  readonly steps: readonly TrajectoryStep[];
  /** Fields marked `artifact: true`. */
  readonly artifacts: Readonly<Record<string, unknown>>;
  readonly spent: BudgetUsage;
}

/** A result on its way to the model, and what the host keeps of it. */
export interface Settled extends RawResult {
  readonly isError: boolean;
  readonly artifacts: readonly AnswerRef[];
  /** Fields marked `artifact: true`, by tool and field. */
  readonly kept: Readonly<Record<string, unknown>>;
}

/** A call that waits for a person. It is made again when there is an answer. */
export interface Waiting {
  /** The tool's name in the catalog. */
  readonly tool: string;
  readonly reason: PauseReason;
  readonly payload: PausePayload;
}

/**
 * A step with calls that are not made yet. Lists follow the order of the calls, since ids are the model's to choose.
 */
export interface OpenStep {
  readonly text: string;
  /** Of the model's answer. */
  readonly meta?: unknown;
  readonly calls: readonly LlmToolCall[];
  /** How many further calls it wanted, for which the step has no room. */
  readonly leftOut?: number;
  /** The result of each call, or null. */
  readonly settled: readonly (Settled | null)[];
  /** The answers of people so far, for each call. */
  readonly answers: readonly (readonly unknown[])[];
}

/** A step with calls that wait for a person. */
interface PausedStep extends OpenStep {
  /** Which call is answered next. */
  readonly waiting: number;
}

/** A call that waits for a person, by its index in the step. */
export interface WaitingCall extends Waiting {
  readonly at: number;
}

/** The stored state of a run that waits, under the token of its pause. */
export interface PausedRun {
  readonly version: 2;
  /** Whose run it is, as `scopeKey` writes it. */
  readonly scope: string;
  readonly run: RunState;
  readonly step: PausedStep;
}

// We wrote the parts ourselves: checking the outline is enough.
/** A {@link RunState} as a store gives it. */
const RUN = z.object({
  query: z.string(),
  llmContext: z.record(z.string(), z.unknown()),
  messages: z.array(z.looseObject({ role: z.string() })),
  steps: z.array(z.looseObject({ text: z.string() })),
  artifacts: z.record(z.string(), z.unknown()),
  spent: USAGE,
});

/** An {@link OpenStep} as a store gives it. */
const STEP = z.object({
  text: z.string(),
  meta: z.unknown().optional(),
  calls: z.array(z.looseObject({ id: z.string(), name: z.string(), arguments: z.string() })),
  leftOut: z.int().positive().optional(),
  settled: z.array(z.looseObject({ text: z.string() }).nullable()),
  answers: z.array(z.array(z.unknown())),
});

const PAUSED = z.object({
  version: z.literal(2),
  scope: z.string(),
  run: RUN,
  step: STEP.extend({ waiting: z.int().nonnegative() }),
});

/**
 * Reads a paused run.
 *
 * @throws SluiceError E_NOT_FOUND if there is none, or it belongs to another scope: with the same message.
 */
export function readPausedRun(kept: unknown, scope: ArtifactScope): PausedRun {
  const read = PAUSED.safeParse(kept);
  if (read.success && read.data.scope === scopeKey(scope)) return read.data as unknown as PausedRun;
  throw noSuchRun();
}

/** The step with an answer for the call that waited. */
export function answerStep({ waiting, ...step }: PausedStep, answer: unknown): OpenStep {
  const answers = step.calls.map((_, at) => [...(step.answers[at] ?? []), ...(at === waiting ? [answer] : [])]);
  return { ...step, answers };
}

/** E_NOT_FOUND. The same message for running and for deleted runs. */
export function noSuchRun(): SluiceError {
  return new SluiceError(
    "E_NOT_FOUND",
    "No run is waiting for this token: it has gone on already, was deleted, or never existed. " +
      "If the process that resumed it died, try again when its lease has ended; otherwise run the query again.",
  );
}

/** A call that waits for a person, and the id of this pause. */
interface NamedPause extends WaitingCall {
  readonly id: string;
}

/** The stored state of a run with a name of the caller's choice. */
export interface NamedRun {
  readonly version: 3;
  /** Whose run it is, as `scopeKey` writes it. */
  readonly scope: string;
  readonly run: RunState;
  /** Null between two steps. */
  readonly step: OpenStep | null;
  /** The pause of the step, or null. */
  readonly pause: NamedPause | null;
}

const NAMED = z.object({
  version: z.literal(3),
  scope: z.string(),
  run: RUN,
  step: STEP.nullable(),
  pause: z.looseObject({ id: z.string(), at: z.int().nonnegative(), tool: z.string(), reason: z.string() }).nullable(),
});

/** A run's name and the id of a pause, a UUID. */
const PAUSE = /^([^]+) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Most UTF-16 units of a name: a store takes 1,024, and the id of a pause is appended. */
export const MAX_RUN_NAME = 900;

/** The token of one pause of a run. */
export function pauseToken(name: string, { id }: NamedPause): string {
  return `${name} ${id}`;
}

/** The run's name and the pause's id of such a token, or undefined. */
export function splitToken(token: string): readonly [name: string, pause: string] | undefined {
  const [, name, pause] = PAUSE.exec(token) ?? [];
  return name === undefined || pause === undefined ? undefined : [name, pause];
}

/** What a stored run with a name waits for, or null. */
export function pauseIn(name: string, kept: unknown): PlannerPause | null {
  const read = NAMED.safeParse(kept);
  if (!read.success || read.data.pause === null) return null;
  const { run, pause } = read.data as unknown as NamedRun & { readonly pause: NamedPause };
  return toPause(name, run, pause);
}

/** Whether a stored value is a run with a name. */
export function isNamedRun(kept: unknown): boolean {
  return (kept as { readonly version?: unknown } | null)?.version === 3;
}

/**
 * Reads a run with a name.
 *
 * @throws SluiceError E_NOT_FOUND if there is none, it belongs to another scope, or does not wait by this pause: with
 * the same message.
 */
export function readNamedRun(kept: unknown, scope: ArtifactScope, pause: string | undefined): NamedRun {
  const read = NAMED.safeParse(kept);
  const isOwn = read.success && read.data.scope === scopeKey(scope);
  if (isOwn && (pause === undefined || read.data.pause?.id === pause)) return read.data as unknown as NamedRun;
  throw noSuchRun();
}

/** The pause of a run that waits. */
export function toPause(name: string, run: RunState, pause: NamedPause): PlannerPause {
  const { reason, payload, tool } = pause;
  const { query, steps, artifacts } = run;
  const trajectory = { query, steps, artifacts };
  return { kind: "pause", reason, payload, tool, resumeToken: pauseToken(name, pause), trajectory };
}

/** The run with an answer for the call that waits. */
export function withAnswer(kept: NamedRun, answer: unknown): NamedRun {
  const { step, pause } = kept;
  if (step === null || pause === null) return kept;
  return { ...kept, step: answerStep({ ...step, waiting: pause.at }, answer), pause: null };
}
