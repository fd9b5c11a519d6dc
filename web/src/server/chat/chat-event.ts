/**
 * What is told of a run to the clients of its session: what the planner tells, without whose anything is.
 * @module
 */
import type { AnswerRef } from "../../core/sluice.js";
import { SluiceError, type ErrorCode } from "../../errors/error.js";
import type { CallPlace, PausedEvent, PlannerEvent } from "../../planner/event.js";
import type {
  PlannerPause,
  PlannerResult,
  Trajectory,
  TrajectoryCall,
  TrajectoryStep,
} from "../../planner/run-state.js";
import { leading, jsonFields } from "../../planner/tool.js";
import { publicRef, type PublicRef } from "../sessions/announcer.js";
import { MAX_EVENT_BYTES, type LoggedEvent } from "../sessions/event-log.js";
import type { RunPlace } from "./run-place.js";

/** An error as clients are told it. */
export interface ToldError {
  readonly code: ErrorCode;
  readonly message: string;
}

type ShownRef = Omit<AnswerRef, "scope">;
type ShownCall = Omit<TrajectoryCall, "artifacts"> & { readonly artifacts: readonly ShownRef[] };
type ShownStep = Omit<TrajectoryStep, "calls"> & { readonly calls: readonly ShownCall[] };

/** A trajectory without whose its artifacts are. */
type ShownTrajectory = Omit<Trajectory, "steps"> & { readonly steps: readonly ShownStep[] };

/** What a run comes to: nothing is told behind it, but behind a pause that was answered. */
export type ChatEnd =
  | (Pick<PlannerResult, "kind" | "answer" | "outcome" | "spent"> & {
      /** Null where it is too large: then the artifact has all of the answer and the trajectory, as JSON. */
      readonly trajectory: ShownTrajectory | null;
      readonly artifact?: PublicRef;
    })
  | (Pick<PlannerPause, "kind" | "reason" | "payload" | "tool"> & { readonly resume_token: string })
  | { readonly kind: "failed"; readonly error: ToldError };

type Changed = "artifact_stored" | "paused" | "tool_failed" | "state_failed" | "resource_updated";

/** What happens in a run. */
export type ChatEvent =
  | { readonly kind: "run_started" | "run_resumed"; readonly run: string }
  | Exclude<PlannerEvent, { readonly kind: Changed }>
  | (CallPlace & { readonly kind: "artifact_stored"; readonly artifacts: readonly ShownRef[] })
  | Omit<PausedEvent, "token">
  | (CallPlace & { readonly kind: "tool_failed"; readonly error: ToldError })
  | { readonly kind: "state_failed"; readonly error: ToldError }
  | ChatEnd;

/** An event of the planner as clients are told it; null for what the session's own events tell. */
export function toldOf(event: PlannerEvent): ChatEvent | null {
  switch (event.kind) {
    case "artifact_stored":
      return { ...event, artifacts: event.artifacts.map(publicRef) };
    case "paused": {
      // It is answered when the run has come to its pause, and not before.
      const { token: _, ...told } = event;
      return told;
    }
    case "tool_failed":
      return { ...event, error: errorOf(event.error) };
    case "state_failed":
      return { ...event, error: errorOf(event.error) };
    case "resource_updated":
      return null;
    default:
      return event;
  }
}

/** A pause as clients are told it. */
export function pauseEvent(place: RunPlace, pause: PlannerPause): Extract<ChatEnd, { readonly kind: "pause" }> {
  const { kind, reason, payload, tool, resumeToken } = pause;
  return { kind, reason, payload, tool, resume_token: place.resumeToken(resumeToken) };
}

/** A trajectory as clients are told it. */
export function shownTrajectory({ query, steps, artifacts }: Trajectory): ShownTrajectory {
  return { query, steps: steps.map(shownStep), artifacts: jsonFields(artifacts) };
}

function shownStep({ text, calls }: TrajectoryStep): ShownStep {
  return { text, calls: calls.map((call) => ({ ...call, artifacts: call.artifacts.map(publicRef) })) };
}

/** Whether a run is over with an event of this kind. */
export function isLast(kind: string): boolean {
  return kind === "result" || kind === "failed";
}

function errorOf({ code, message }: SluiceError): ToldError {
  return { code, message };
}

/** UTF-16 units of text in one event. */
const MAX_TEXT = 32 * 1024;

/** Refs in one event, where there are too many. */
const MAX_REFS = 64;

/** Whether a log takes an event as it is. */
export function fits(event: LoggedEvent): boolean {
  return Buffer.byteLength(JSON.stringify(event)) <= MAX_EVENT_BYTES;
}

/**
 * An event as several that a log takes. Text and lists of references come in pieces; of what cannot, `left_out` says how many bytes
 * it had.
 */
export function fitting(event: ChatEvent): readonly LoggedEvent[] {
  if (event.kind === "text") return inPieces(event.text).map((text) => ({ ...event, text }));
  if (fits(event)) return [event];
  if (event.kind === "artifact_stored") {
    const { artifacts } = event;
    const starts = Array.from({ length: Math.ceil(artifacts.length / MAX_REFS) }, (_, at) => at * MAX_REFS);
    return starts.map((at) => shortened({ ...event, artifacts: artifacts.slice(at, at + MAX_REFS) }));
  }
  return [shortened(event)];
}

function shortened(event: ChatEvent): LoggedEvent {
  if (fits(event)) return event;
  const left_out = Buffer.byteLength(JSON.stringify(event));
  const { kind, step, call, tool } = event as Partial<CallPlace> & { readonly kind: string };
  const small: LoggedEvent & object = {
    kind,
    ...(step !== undefined && { step }),
    ...(call !== undefined && { call }),
  };
  if (event.kind !== "pause") return { ...small, ...(tool !== undefined && { tool }), left_out } as LoggedEvent;
  return { ...event, payload: {}, left_out } as LoggedEvent;
}

function inPieces(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    // A piece ends in no half of a character, unless there is nothing else.
    const piece = leading(text.slice(at, at + MAX_TEXT + 1), MAX_TEXT) || text.slice(at, at + 1);
    pieces.push(piece);
    at += piece.length;
  }
  return pieces;
}

/** What clients are told of a run that somebody gave up. */
export const GIVEN_UP: ToldError = { code: "E_CANCELLED", message: "The run was given up." };

/** In the same words for what never was, what is another's, and what was answered already. */
export function noSuchRun(): SluiceError {
  const sentence = "There is no such run here, or it does not wait for this answer: it is over, goes on, or never was.";
  return new SluiceError("E_NOT_FOUND", sentence);
}

/** The session has as many runs as it may have. */
export function tooMany(): SluiceError {
  return new SluiceError("E_RATE_LIMIT", "As many runs of this session go on as there may be: let one end first.");
}
