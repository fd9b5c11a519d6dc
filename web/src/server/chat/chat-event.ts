/**
 * What is told of a run to the clients of its session: what the planner tells, without whose anything is.
 * @module
 */
import type { AnswerRef } from "../../core/sluice.js";
import type { ErrorCode, SluiceError } from "../../errors/error.js";
import type { CallPlace, PausedEvent, PlannerEvent } from "../../planner/event.js";
import type { PlannerPause, PlannerResult, Trajectory, TrajectoryCall, TrajectoryStep } from "../../planner/result.js";
import type { PublicRef } from "../public-ref.js";
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
export type ShownTrajectory = Omit<Trajectory, "steps"> & { readonly steps: readonly ShownStep[] };

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
      return { ...event, artifacts: event.artifacts.map(shownRef) };
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
  return { query, steps: steps.map(shownStep), artifacts };
}

function shownStep({ text, calls }: TrajectoryStep): ShownStep {
  return { text, calls: calls.map((call) => ({ ...call, artifacts: call.artifacts.map(shownRef) })) };
}

/** Whether a run is over with an event of this kind. */
export function isLast(kind: string): boolean {
  return kind === "result" || kind === "failed";
}

function shownRef({ scope: _, ...ref }: AnswerRef): ShownRef {
  return ref;
}

function errorOf({ code, message }: SluiceError): ToldError {
  return { code, message };
}
