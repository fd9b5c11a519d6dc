/**
 * What a planner tells its host, as it comes and for later: refs and sizes, never bytes, never a secret.
 * @module
 */
import { untilEither } from "../core/abort.js";
import type { AnswerRef } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import type { PauseReason, ToolProgress, ToolWait } from "../tools/options.js";
import type { ResultDisplay } from "../tools/user-files.js";
import type { LlmUsage } from "./llm/client.js";
import type { PlannerOutcome } from "./run-state.js";
import type { HostStateStore } from "./state-store.js";

/** Where in a run something happened. */
export interface CallPlace {
  /** From 1. */
  readonly step: number;
  /** The call's id, unique in its step. */
  readonly call: string;
  /** The tool's name in the catalog; where there is none, what the model wrote, 64 characters of it at most. */
  readonly tool: string;
}

/** What happened in a run. */
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

/** A turn of the model begins, or all that it wanted called is done. */
export interface StepEvent {
  /** Which event this is. */
  readonly kind: "step_started" | "step_finished";
  /** From 1. */
  readonly step: number;
}

/** The model writes. */
export interface TextEvent {
  /** Which event this is. */
  readonly kind: "text";
  /** From 1. */
  readonly step: number;
  /** The next piece. */
  readonly text: string;
}

/** What the model wrote in this step is not to be kept: its server broke off, and is asked again. */
export interface TextDiscardedEvent {
  /** Which event this is. */
  readonly kind: "text_discarded";
  /** From 1. */
  readonly step: number;
}

/** A turn of the model is over. */
export interface ModelAnsweredEvent {
  /** Which event this is. */
  readonly kind: "model_answered";
  /** From 1. */
  readonly step: number;
  /** How many calls of it are made. */
  readonly calls: number;
  /** How many it wanted beside these, which are not made since the step has no room for their results. Left out where there are none. */
  readonly leftOut?: number;
  /** What it cost, where the model's server says so. */
  readonly usage?: LlmUsage;
}

/** A call begins. Of one that cannot be made, of a tool that there is not or with arguments that are no object, only `tool_answered` tells. */
export interface ToolCalledEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "tool_called";
}

/** A call goes on. */
export interface ToolProgressEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "tool_progress";
  /** What the tool says of it; untrusted. */
  readonly progress: ToolProgress;
}

/** A source is silent for long, or the call was given up for it. */
export interface ToolWaitingEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "tool_waiting";
  /** What the user may be told. */
  readonly wait: ToolWait;
}

/** A tool made users' files, and may want them shown. The model is not told of it. */
export interface ToolDisplayEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "tool_display";
  /** What the tool would have a viewer do; its texts are untrusted. */
  readonly display: ResultDisplay;
}

/** A call is over. What the model is told of it is decided when all calls of the step are, see `tool_answered`. */
export interface ToolReturnedEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "tool_returned";
  /** Whether the tool failed, or refused its arguments, or the call was cancelled. */
  readonly isError: boolean;
}

/** A result had bytes or large text, or did not fit. */
export interface ArtifactStoredEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "artifact_stored";
  /** What was stored, or could not be. */
  readonly artifacts: readonly AnswerRef[];
}

/** A structured piece of work of a tool's, see `emitArtifact`. */
export interface ArtifactEmittedEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "artifact_emitted";
  /** As the tool calls it. */
  readonly name: string;
  /** JSON values. */
  readonly value: unknown;
}

/** A piece of something that comes in pieces, see `emitChunk`. */
export interface ChunkEmittedEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "chunk_emitted";
  /** As the tool calls it. */
  readonly stream: string;
  /** JSON values. */
  readonly chunk: unknown;
}

/** What was to be told of a result was too long, and the model sees less of it. */
export interface ObservationClampedEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "observation_clamped";
  /** Characters of JSON that there were. */
  readonly original_size: number;
  /** Characters of JSON that the model sees. */
  readonly clamped_size: number;
  /**
   * How: as `Clamp.method` says it; `stored` where a reference alone is left, `step` where the whole step was too long,
   * `repeated` where the model was told before.
   */
  readonly method: string;
}

/** The model is told of a result. */
export interface ToolAnsweredEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "tool_answered";
  /** Whether the tool failed, or could not be called. */
  readonly isError: boolean;
  /** Characters of JSON. */
  readonly chars: number;
}

/** A call failed with an error. The model is told its sentence. */
export interface ToolFailedEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "tool_failed";
  /** What it failed with; its `cause` may hold secrets where it is a native tool's. */
  readonly error: SluiceError;
}

/** A resource changed that somebody subscribed to at a ToolNode: what was kept of it is old. */
export interface ResourceUpdatedEvent {
  /** Which event this is. */
  readonly kind: "resource_updated";
  /** The ToolNode's name. */
  readonly source: string;
  /** As the source names it; untrusted. */
  readonly uri: string;
}

/** A call waits for a person, and so does the run. Of several in one step each tells, with the same token. */
export interface PausedEvent extends CallPlace {
  /** Which event this is. */
  readonly kind: "paused";
  /** Why. */
  readonly reason: PauseReason;
  /** What `resume` is given. */
  readonly token: string;
}

/** The state store could not keep what happens: nothing more of the run is kept. The run goes on. */
export interface StateFailedEvent {
  /** Which event this is. */
  readonly kind: "state_failed";
  /** Why; told once in a run. */
  readonly error: SluiceError;
}

/** The run is over. */
export interface FinishedEvent {
  /** Which event this is. */
  readonly kind: "finished";
  /** How many there were. */
  readonly steps: number;
  /** As the result has it. */
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
export async function* eventsOf<Event extends object, Result>(
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
    left.abort(new DOMException("Nobody listens any more.", "AbortError"));
    await over;
  }
}

/** Pieces that a later event has the whole of, or that are worth nothing later. */
const FLEETING: ReadonlySet<PlannerEvent["kind"]> = new Set([
  "text",
  "text_discarded",
  "tool_progress",
  "tool_waiting",
  "chunk_emitted",
]);

/**
 * Saves the events of one run, one after the other. That one cannot be saved is told, and no more of them are tried: a store that is
 * away would be waited for at each.
 */
export class History {
  readonly #save: ((event: PlannerEvent) => Promise<void>) | undefined;
  readonly #onFailure: (error: SluiceError) => void;
  #last: Promise<void> = Promise.resolve();
  #hasFailed = false;

  /** Saves nothing where the store cannot, or the run has no trace. */
  constructor(
    store: HostStateStore | undefined,
    traceId: string | null | undefined,
    onFailure: (error: SluiceError) => void,
  ) {
    const save = store?.saveEvent?.bind(store);
    this.#save = save === undefined || traceId == null ? undefined : (event) => save(traceId, event);
    this.#onFailure = onFailure;
  }

  /** Takes an event, which is saved when those before are. */
  add(event: PlannerEvent): void {
    const save = this.#save;
    if (save === undefined || FLEETING.has(event.kind)) return;
    this.#last = this.#last
      .then(() => (this.#hasFailed ? undefined : save(event)))
      .catch((error: unknown) => this.#failed(error));
  }

  /** Settles when all that was taken is saved, or could not be. */
  async settled(): Promise<void> {
    await this.#last;
  }

  #failed(cause: unknown): void {
    this.#hasFailed = true;
    const sentence = "What happens in the run cannot be kept: check the state store.";
    this.#onFailure(cause instanceof SluiceError ? cause : new SluiceError("E_STORE_WRITE", sentence, {}, { cause }));
  }
}
