/**
 * The events of a run for its session's clients: the planner's, without scopes.
 * @module
 */
import type { AnswerRef } from "../../core/types.js";
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
import { fits, type LoggedEvent } from "../sessions/event-log.js";
import { isWorkId, WorkPlace } from "../work/work-place.js";

/** An error as clients see it. */
export interface ToldError {
  readonly code: ErrorCode;
  readonly message: string;
}

type ShownRef = Omit<AnswerRef, "scope">;
type ShownCall = Omit<TrajectoryCall, "artifacts"> & { readonly artifacts: readonly ShownRef[] };
type ShownStep = Omit<TrajectoryStep, "calls"> & { readonly calls: readonly ShownCall[] };

/** A trajectory without scopes. */
type ShownTrajectory = Omit<Trajectory, "steps"> & { readonly steps: readonly ShownStep[] };

/** The last event of a run, unless it is a pause that is answered. */
export type ChatEnd =
  | (Pick<PlannerResult, "kind" | "answer" | "outcome" | "spent"> & {
      /** Null if it is too large. Then the artifact holds the whole answer and trajectory, as JSON. */
      readonly trajectory: ShownTrajectory | null;
      readonly artifact?: PublicRef;
    })
  | (Pick<PlannerPause, "kind" | "reason" | "payload" | "tool"> & { readonly resume_token: string })
  | { readonly kind: "failed"; readonly error: ToldError };

type Changed = "artifact_stored" | "paused" | "tool_failed" | "state_failed" | "resource_updated";

/** An event of a run. */
export type ChatEvent =
  | { readonly kind: "run_started" | "run_resumed"; readonly run: string }
  | Exclude<PlannerEvent, { readonly kind: Changed }>
  | (CallPlace & { readonly kind: "artifact_stored"; readonly artifacts: readonly ShownRef[] })
  | Omit<PausedEvent, "token">
  | (CallPlace & { readonly kind: "tool_failed"; readonly error: ToldError })
  | { readonly kind: "state_failed"; readonly error: ToldError }
  | ChatEnd;

/** A planner event as clients see it. Null for those that the session's own events tell. */
export function toChatEvent(event: PlannerEvent): ChatEvent | null {
  switch (event.kind) {
    case "artifact_stored":
      return { ...event, artifacts: event.artifacts.map(publicRef) };
    case "paused": {
      // The token is sent with the pause itself: before that it cannot be answered.
      const { token: _, ...told } = event;
      return told;
    }
    case "tool_failed":
      return { ...event, error: toToldError(event.error) };
    case "state_failed":
      return { ...event, error: toToldError(event.error) };
    case "resource_updated":
      return null;
    default:
      return event;
  }
}

/** A pause as clients see it. */
export function pauseEvent(place: WorkPlace, pause: PlannerPause): Extract<ChatEnd, { readonly kind: "pause" }> {
  const { kind, reason, payload, tool, resumeToken } = pause;
  return { kind, reason, payload, tool, resume_token: writeResumeToken(place, resumeToken) };
}

/** The token by which clients answer a pause, from the planner's token: both ids, without the session's. */
export function writeResumeToken({ id, token }: WorkPlace, ofPlanner: string): string {
  return `${id}.${ofPlanner.slice(token.length + 1)}`;
}

/** The run of a resume token and the planner's token of its pause, or null for an invalid token. */
export function readResumeToken(
  session: string,
  resumeToken: string,
): { readonly place: WorkPlace; readonly pause: string } | null {
  const [run = "", id = "", ...more] = resumeToken.split(".");
  if (!isWorkId(run) || !isWorkId(id) || more.length > 0) return null;
  const place = new WorkPlace("run", session, run);
  return { place, pause: `${place.token} ${id}` };
}

/** A trajectory as clients see it. */
export function toShownTrajectory({ query, steps, artifacts }: Trajectory): ShownTrajectory {
  return { query, steps: steps.map(toShownStep), artifacts: jsonFields(artifacts) };
}

function toShownStep({ text, calls }: TrajectoryStep): ShownStep {
  return { text, calls: calls.map((call) => ({ ...call, artifacts: call.artifacts.map(publicRef) })) };
}

function toToldError({ code, message }: SluiceError): ToldError {
  return { code, message };
}

/** Most UTF-16 units of text in one event. */
const MAX_TEXT = 32 * 1024;

/** Refs per event if they do not fit in one. */
const MAX_REFS = 64;

/**
 * Splits an event into events that are small enough for a log. Text and lists of references are split; for what
 * cannot be, `left_out` says how many bytes it had.
 */
export function fitting(event: ChatEvent): readonly LoggedEvent[] {
  if (event.kind === "text") return inPieces(event.text).map((text) => ({ ...event, text }));
  if (fits(event)) return [event];
  if (event.kind === "artifact_stored") {
    const { artifacts } = event;
    const starts = Array.from({ length: Math.ceil(artifacts.length / MAX_REFS) }, (_, at) => at * MAX_REFS);
    return starts.map((at) => shortenEvent({ ...event, artifacts: artifacts.slice(at, at + MAX_REFS) }));
  }
  return [shortenEvent(event)];
}

function shortenEvent(event: ChatEvent): LoggedEvent {
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
    // A piece does not end in half a character, unless there is nothing else.
    const piece = leading(text.slice(at, at + MAX_TEXT + 1), MAX_TEXT) || text.slice(at, at + 1);
    pieces.push(piece);
    at += piece.length;
  }
  return pieces;
}

/** The error of a run that was given up. */
export const GIVEN_UP: ToldError = { code: "E_CANCELLED", message: "The run was cancelled." };

/**
 * The error for a run that does not wait for an answer. The same words for unknown runs, those of others, and
 * answered ones.
 */
export function noSuchRun(): SluiceError {
  const sentence = "No run is waiting for this answer: it has ended, has gone on, or never existed.";
  return new SluiceError("E_NOT_FOUND", sentence);
}

/** The error for too many runs of a session. */
export function tooMany(): SluiceError {
  return new SluiceError("E_RATE_LIMIT", "This session has too many runs at the same time: wait until one ends.");
}
