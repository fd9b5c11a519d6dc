/**
 * What a run comes to, what happened in it, and all that another process needs to go on with it, as JSON.
 * @module
 */
import type { AnswerRef } from "../core/sluice.js";
import type { PauseReason } from "../tools/options.js";
import type { LlmAnswer, LlmMessage, LlmToolCall } from "./llm/client.js";
import { z } from "zod";
import { scopeKey } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import type { Settled, Waiting } from "./call.js";

/** The run is over. */
export interface PlannerResult {
  /** Told apart from a pause by this. */
  readonly kind: "result";
  /** What the model said last: all of it where `outcome` is `answered`. */
  readonly answer: string;
  /** `answered`, or what the answer lacks, or which limit the run came to. */
  readonly outcome: PlannerOutcome;
  /** What it took. */
  readonly spent: BudgetUsage;
  /** What happened. */
  readonly trajectory: Trajectory;
}

/** A tool waits for a person: `resume` goes on, in this process or another. */
export interface PlannerPause {
  /** Told apart from a result by this. */
  readonly kind: "pause";
  /** Why it waits. */
  readonly reason: PauseReason;
  /** What is wanted, see `ToolContext.pause`. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** The tool's name in the catalog. */
  readonly tool: string;
  /** What `resume` is given. Whoever has it and the scope can go on with the run. */
  readonly resumeToken: string;
  /** What happened so far. */
  readonly trajectory: Trajectory;
}

/** A call, and what the model saw of its result. */
export interface TrajectoryCall {
  /** Unique in its step. */
  readonly id: string;
  /** The tool's name in the catalog; what the model wrote, where there is none. */
  readonly tool: string;
  /** As the model wrote them; undefined where that was no JSON object. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
  /** JSON text: what the model sees. */
  readonly observation: string;
  /** Whether the tool failed, or could not be called. */
  readonly isError: boolean;
  /** What was stored of the result. */
  readonly artifacts: readonly AnswerRef[];
}

/** One turn of the model, and what came of it. */
export interface TrajectoryStep {
  /** What the model wrote beside its calls. */
  readonly text: string;
  /** In the order in which it wrote them. */
  readonly calls: readonly TrajectoryCall[];
}

/** What happened in a run. */
export interface Trajectory {
  /** What was asked. */
  readonly query: string;
  /** The model's turns; the last one has the answer. */
  readonly steps: readonly TrajectoryStep[];
  /** Fields of results that are marked `artifact: true`, by tool and field: `report.totals`; the last one counts. */
  readonly artifacts: Readonly<Record<string, unknown>>;
}

/**
 * How a run ended. `answered`: with an answer that is whole.
 *
 * What the answer lacks: `length`, it is cut, since the model came to the limit of its own tokens, as its server or the client has
 * it; `content_filter`, its server cut it or kept it back; `empty`, the model said nothing.
 *
 * Which limit of the budget it came to, so that the answer is what the model made of what it had: `steps`, `tokens`, `seconds`.
 */
export type PlannerOutcome = "answered" | "length" | "content_filter" | "empty" | ExhaustedLimit;

/** What the last turn of a run comes to. What the answer lacks itself goes before the limit that the run came to. */
export function outcomeOf(
  { text, stopReason }: Pick<LlmAnswer, "text" | "stopReason">,
  exhausted: ExhaustedLimit | undefined,
): PlannerOutcome {
  if (stopReason === "length" || stopReason === "content_filter") return stopReason;
  // A model that has no tools any more may have nothing to say: then that is for want of steps.
  if (exhausted !== undefined) return exhausted;
  return text.trim() === "" ? "empty" : "answered";
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

/** What is known of a run. */
export interface RunState {
  readonly query: string;
  readonly llmContext: Readonly<Record<string, unknown>>;
  readonly messages: readonly LlmMessage[];
  readonly steps: readonly TrajectoryStep[];
  /** Fields that are marked `artifact: true`. */
  readonly artifacts: Readonly<Record<string, unknown>>;
  readonly spent: BudgetUsage;
}

/** A step whose calls are not all made. What is known of each call stands at its place: ids are the model's to choose. */
export interface OpenStep {
  readonly text: string;
  /** Of the model's answer. */
  readonly meta?: unknown;
  readonly calls: readonly LlmToolCall[];
  /** How many calls it wanted beyond these, for which a step has no room; none when left out. */
  readonly leftOut?: number;
  /** What came of each; null where it is not made. */
  readonly settled: readonly (Settled | null)[];
  /** What people answered so far to each that paused. */
  readonly answers: readonly (readonly unknown[])[];
}

/** A step of which some calls wait for a person. */
interface PausedStep extends OpenStep {
  /** Which call is answered next. */
  readonly waiting: number;
}

/** A call of a step that waits for a person, by its place among the step's calls. */
export interface WaitingCall extends Waiting {
  readonly at: number;
}

/** What a state store keeps of a run that waits, by the token of its pause. */
export interface PausedRun {
  readonly version: 2;
  /** Whose run it is, as `scopeKey` writes it. */
  readonly scope: string;
  readonly run: RunState;
  readonly step: PausedStep;
}

// The parts were written by us: it is enough to know that this is what they are.
/** A {@link RunState} as a store gives it. */
const RUN = z.object({
  query: z.string(),
  llmContext: z.record(z.string(), z.unknown()),
  messages: z.array(z.looseObject({ role: z.string() })),
  steps: z.array(z.looseObject({ text: z.string() })),
  artifacts: z.record(z.string(), z.unknown()),
  spent: z.object({ steps: z.number(), tokens: z.number(), seconds: z.number() }),
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
 * A paused run as a store gave it.
 *
 * @throws SluiceError E_NOT_FOUND where there is none, or it is somebody else's: in the same words.
 */
export function pausedRun(kept: unknown, scope: ArtifactScope): PausedRun {
  const read = PAUSED.safeParse(kept);
  if (read.success && read.data.scope === scopeKey(scope)) return read.data as unknown as PausedRun;
  throw noSuchRun();
}

/** The step with an answer for the call that waited for one. */
export function answered({ waiting, ...step }: PausedStep, answer: unknown): OpenStep {
  const answers = step.calls.map((_, at) => [...(step.answers[at] ?? []), ...(at === waiting ? [answer] : [])]);
  return { ...step, answers };
}

/** E_NOT_FOUND: for what goes on at the moment in the same words as for what is gone. */
export function noSuchRun(): SluiceError {
  return new SluiceError(
    "E_NOT_FOUND",
    "There is no run that waits by this token: it goes on or went on already, was forgotten, or never was. " +
      "Where the process died that went on with it, try again when its lease is over; else run the query again.",
  );
}

/** A call that waits for a person, and what names this pause among all of the run. */
interface NamedPause extends WaitingCall {
  readonly id: string;
}

/** What a state store keeps of a run from its beginning on, by a name that its caller chose. */
export interface NamedRun {
  readonly version: 3;
  /** Whose run it is, as `scopeKey` writes it. */
  readonly scope: string;
  readonly run: RunState;
  /** Null between two steps. */
  readonly step: OpenStep | null;
  /** Of the step; null where it waits for nobody. */
  readonly pause: NamedPause | null;
}

const NAMED = z.object({
  version: z.literal(3),
  scope: z.string(),
  run: RUN,
  step: STEP.nullable(),
  pause: z.looseObject({ id: z.string(), at: z.int().nonnegative(), tool: z.string(), reason: z.string() }).nullable(),
});

/** Behind the run's own name: a UUID, as it is written here. */
const PAUSE = /^([^]+) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** UTF-16 units of a name: a store takes 1,024, and a pause adds its own. */
export const MAX_RUN_NAME = 900;

/** What answers one pause of a run, and no other. */
export function pauseToken(name: string, { id }: NamedPause): string {
  return `${name} ${id}`;
}

/** The name of the run and the id of its pause, where a token has both. */
export function partsOf(token: string): readonly [name: string, pause: string] | undefined {
  const [, name, pause] = PAUSE.exec(token) ?? [];
  return name === undefined || pause === undefined ? undefined : [name, pause];
}

/** What such a run waits for, as a store gave it; null where it waits for nobody. */
export function pauseIn(name: string, kept: unknown): PlannerPause | null {
  const read = NAMED.safeParse(kept);
  if (!read.success || read.data.pause === null) return null;
  const { run, pause } = read.data as unknown as NamedRun & { readonly pause: NamedPause };
  return pauseOf(name, run, pause);
}

/** Whether what a store gave is such a run. */
export function isNamedRun(kept: unknown): boolean {
  return (kept as { readonly version?: unknown } | null)?.version === 3;
}

/**
 * Such a run as a store gave it.
 *
 * @throws SluiceError E_NOT_FOUND where there is none, or it is somebody else's, or does not wait by this pause: in the same words.
 */
export function namedRun(kept: unknown, scope: ArtifactScope, pause: string | undefined): NamedRun {
  const read = NAMED.safeParse(kept);
  const isOwn = read.success && read.data.scope === scopeKey(scope);
  if (isOwn && (pause === undefined || read.data.pause?.id === pause)) return read.data as unknown as NamedRun;
  throw noSuchRun();
}

/** What a run that waits is given back as. */
export function pauseOf(name: string, run: RunState, pause: NamedPause): PlannerPause {
  const { reason, payload, tool } = pause;
  const { query, steps, artifacts } = run;
  const trajectory = { query, steps, artifacts };
  return { kind: "pause", reason, payload, tool, resumeToken: pauseToken(name, pause), trajectory };
}

/** The run with an answer for the call that waits. */
export function withAnswer(kept: NamedRun, answer: unknown): NamedRun {
  const { step, pause } = kept;
  if (step === null || pause === null) return kept;
  return { ...kept, step: answered({ ...step, waiting: pause.at }, answer), pause: null };
}
