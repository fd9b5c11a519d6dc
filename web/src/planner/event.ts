/**
 * Events of a planner, as they happen and for later: refs and sizes, never bytes or secrets.
 * @module
 */
import { untilEither } from "../core/abort.js";
import type { AnswerRef } from "../core/types.js";
import type { SluiceError } from "../errors/error.js";
import type { PauseReason, ToolProgress, ToolWait } from "../tools/context.js";
import type { ResultDisplay } from "../tools/user-files.js";
import type { LlmUsage } from "./llm/client.js";
import type { ExhaustedLimit } from "./budget.js";

/** A call's place in a run. */
export interface CallPlace {
  /** From 1. */
  readonly step: number;
  /** The call's id, unique in its step. */
  readonly call: string;
  /** The tool's name in the catalog, or at most 64 characters of what the model wrote. */
  readonly tool: string;
}

/**
 * How a run ended. `answered`: with a complete answer.
 *
 * With an incomplete answer: `length`, the model reached the token limit of its server or client; `content_filter`,
 * the server cut or withheld it; `empty`, the model said nothing.
 *
 * With the model's answer at a limit of the budget: `steps`, `tokens`, `seconds`.
 *
 * Without an answer of the model's: `limit`, the host's limit was reached before the turn, and `answer` says which.
 */
export type PlannerOutcome = "answered" | "length" | "content_filter" | "empty" | "limit" | ExhaustedLimit;

/** An event of a run. */
export type PlannerEvent =
  | StepEvent
  | TextEvent
  | TextDiscardedEvent
  | ModelAnsweredEvent
  | ToolCalledEvent
  | ToolProgressEvent
  | ToolWaitingEvent
  | ToolDisplayEvent
  | ToolReturnedEvent
  | ArtifactStoredEvent
  | ArtifactEmittedEvent
  | ChunkEmittedEvent
  | ObservationClampedEvent
  | ToolAnsweredEvent
  | ToolFailedEvent
  | ResourceUpdatedEvent
  | PausedEvent
  | StateFailedEvent
  | FinishedEvent;

/** A turn of the model begins, or all of its calls are done. */
interface StepEvent {
  /** Which event this is. */
  readonly kind: "step_started" | "step_finished";
  /** From 1. */
  readonly step: number;
}

/** The model writes. */
interface TextEvent {
  /** Which event this is. */
  readonly kind: "text";
  /** From 1. */
  readonly step: number;
  /** The next piece of text. */
  readonly text: string;
}

/** The text of this step is void: the model's server broke off, and is asked again. */
interface TextDiscardedEvent {
  /** Which event this is. */
  readonly kind: "text_discarded";
  /** From 1. */
  readonly step: number;
}

/** The model finished a turn. */
interface ModelAnsweredEvent {
  /** Which event this is. */
  readonly kind: "model_answered";
  /** From 1. */
  readonly step: number;
  /** How many of its calls are made. */
  readonly calls: number;
  /** How many further calls it wanted, for whose results the step has no room. Missing if none. */
  readonly leftOut?: number;
  /** What it cost, if the server reports it. */
  readonly usage?: LlmUsage;
}

/** A call begins. Calls of unknown tools or with invalid arguments only have `tool_answered`. */
interface ToolCalledEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "tool_called";
}

/** A call makes progress. */
interface ToolProgressEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "tool_progress";
  /** What the tool reports; untrusted. */
  readonly progress: ToolProgress;
}

/** A source is silent for long, or the call was given up because of it. */
interface ToolWaitingEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "tool_waiting";
  /** What you can tell the user. */
  readonly wait: ToolWait;
}

/** A tool made user files, and may want them shown. The model does not see this. */
interface ToolDisplayEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "tool_display";
  /** What a viewer should do; its texts are untrusted. */
  readonly display: ResultDisplay;
}

/** A call ended. What the model sees is decided when all calls of the step have ended: see `tool_answered`. */
interface ToolReturnedEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "tool_returned";
  /** Whether the tool failed, refused its arguments, or was cancelled. */
  readonly isError: boolean;
}

/** A result contained bytes or large text, or did not fit. */
interface ArtifactStoredEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "artifact_stored";
  /** What was stored, or could not be. */
  readonly artifacts: readonly AnswerRef[];
}

/** A structured piece of a tool's work, see `emitArtifact`. */
interface ArtifactEmittedEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "artifact_emitted";
  /** As the tool calls it. */
  readonly name: string;
  /** JSON values. */
  readonly value: unknown;
}

/** A chunk of a tool's output, see `emitChunk`. */
interface ChunkEmittedEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "chunk_emitted";
  /** As the tool calls it. */
  readonly stream: string;
  /** JSON values. */
  readonly chunk: unknown;
}

/** A result was too long, and the model sees less of it. */
export interface ObservationClampedEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "observation_clamped";
  /** Characters of JSON before. */
  readonly original_size: number;
  /** Characters of JSON that the model sees. */
  readonly clamped_size: number;
  /**
   * How: a `Clamp.method`; `stored` if only a reference remains, `step` if the whole step was too long, `repeated` if
   * the model saw it before.
   */
  readonly method: string;
}

/** The model sees a result. */
interface ToolAnsweredEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "tool_answered";
  /** Whether the tool failed, or could not be called. */
  readonly isError: boolean;
  /** Characters of JSON. */
  readonly chars: number;
}

/** A call failed with an error. The model sees its message. */
interface ToolFailedEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "tool_failed";
  /** The error. Its `cause` may contain secrets if the tool is native. */
  readonly error: SluiceError;
}

/** A subscribed resource of a ToolNode changed: earlier contents are outdated. */
interface ResourceUpdatedEvent {
  /** Which event this is. */
  readonly kind: "resource_updated";
  /** The ToolNode's name. */
  readonly source: string;
  /** The resource's URI; untrusted. */
  readonly uri: string;
}

/** A call waits for a person, and so does the run. Several calls of a step each send the same token. */
export interface PausedEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "paused";
  /** Why. */
  readonly reason: PauseReason;
  /** The token for `resume`. */
  readonly token: string;
}

/** The state store could not store events: no more of the run are stored. The run goes on. */
interface StateFailedEvent {
  /** Which event this is. */
  readonly kind: "state_failed";
  /** The failure, once per run. */
  readonly error: SluiceError;
}

/** The run ended. */
interface FinishedEvent {
  /** Which event this is. */
  readonly kind: "finished";
  /** How many steps there were. */
  readonly steps: number;
  /** The outcome, as in the result. */
  readonly outcome: PlannerOutcome;
}

/** Which events need not all wait for a listener who is slow. */
interface PassingEvents<Event> {
  /** Whether the next event of the kind makes this one superfluous. */
  readonly isPassing: (event: Event) => boolean;
  /** Events that wait at most; further passing events are left out. */
  readonly most: number;
}

/**
 * The events of some work, in order, and then its result. When the listener stops, the work is aborted. Without `passing` every
 * event waits for the listener.
 *
 * @throws what the work throws, after all of its events.
 */
export async function* streamEvents<Event extends object, Result>(
  work: (tell: (event: Event) => void, signal: AbortSignal) => Promise<Result>,
  given: AbortSignal | undefined,
  passing?: PassingEvents<Event>,
): AsyncGenerator<Event, Result> {
  const left = new AbortController();
  const waiting: Event[] = [];
  const state = { isOver: false, wake: (): void => undefined };
  const tell = (event: Event): void => {
    const isPassing = passing?.isPassing(event) === true;
    const before = waiting.at(-1);
    if (isPassing && before !== undefined && passing.isPassing(before)) waiting.pop();
    if (!isPassing || waiting.length < passing.most) waiting.push(event);
    state.wake();
  };
  const result = untilEither([given, left.signal], (signal) => work(tell, signal));
  const over = result
    .catch(() => undefined)
    .finally(() => {
      state.isOver = true;
      state.wake();
    });
  try {
    for (;;) {
      const event = waiting.shift();
      if (event !== undefined) yield event;
      else if (state.isOver) return await result;
      else await new Promise<void>((resolve) => (state.wake = resolve));
    }
  } finally {
    left.abort(new DOMException("The last listener is gone.", "AbortError"));
    await over;
  }
}
