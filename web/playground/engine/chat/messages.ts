/**
 * The messages of a chat between the page and the engine. All of them can be cloned.
 * @module
 */
import type { PlannerEvent, PlannerOutcome, PlannerResult, RunOptions, Trajectory } from "mcp-sluice/planner";
import type { Problem, ShownDisplay } from "../messages.js";

/** Who answers: an offline script, the page's server, or a model behind OpenAI's chat completions. */
export type ChatModel =
  | { readonly kind: "scripted" }
  | { readonly kind: "served" }
  | ({ readonly kind: "endpoint" } & Endpoint);

/** A model at a server of the user's choice. */
export interface Endpoint {
  /** Up to and without `/chat/completions`. */
  readonly url: string;
  /** The name at its server. */
  readonly model: string;
  /** Sent as a bearer token; empty for none. */
  readonly key: string;
}

/** An earlier question and its answer. */
interface ChatExchange {
  readonly query: string;
  readonly answer: string;
}

/** A question. */
export interface ChatRequest {
  /** The page's id of the turn. */
  readonly id: string;
  readonly query: string;
  /** Oldest first. */
  readonly before: readonly ChatExchange[];
  readonly model: ChatModel;
  /** How long each call may be silent, in seconds. Defaults to its server's limit. */
  readonly timeout?: number;
}

/** Which call of which step. */
export type CallPlace = Parameters<NonNullable<RunOptions["callSignal"]>>[0];

/** The answer. */
export interface ChatEnd {
  readonly answer: string;
  /** `answered`, or why the answer is incomplete. */
  readonly outcome: PlannerOutcome;
  readonly spent: PlannerResult["spent"];
  /** Missing if the server did not send it. */
  readonly trajectory?: Trajectory;
}

/** A message that the model was sent. */
export interface SeenMessage {
  readonly role: "system" | "user" | "tool";
  readonly text: string;
  /** For a tool result, the tool's name as the model wrote it. */
  readonly tool?: string;
  /** For a tool result, the id of its call. */
  readonly call?: string;
}

/** A tool call that the model wrote. */
interface WantedCall {
  /** Unique in its step. */
  readonly id: string;
  /** The tool's name as the model knows it. */
  readonly name: string;
  /** JSON text, or empty. */
  readonly args: string;
}

/** Planner events that are passed on to the page. */
export type PassedEvent = Extract<
  PlannerEvent,
  {
    readonly kind:
      | "text"
      | "text_discarded"
      | "model_answered"
      | "tool_called"
      | "tool_progress"
      | "tool_waiting"
      | "tool_returned"
      | "artifact_stored"
      | "observation_clamped"
      | "tool_answered"
      | "paused";
  }
>;

/** Events of a turn. */
export type ChatEvent =
  | PassedEvent
  /**
   * The model is asked. `messages` are new to it, and `tools` is the number on offer, if known. Sent again for a repeated
   * step.
   */
  | {
      readonly kind: "asked";
      readonly step: number;
      readonly messages: readonly SeenMessage[];
      readonly tools?: number;
    }
  /** What the model saw and called in a step, sent after the run. */
  | {
      readonly kind: "saw";
      readonly step: number;
      readonly messages: readonly SeenMessage[];
      readonly calls: readonly Pick<WantedCall, "id" | "args">[];
    }
  /** The calls that the model wrote. */
  | { readonly kind: "wanted"; readonly step: number; readonly calls: readonly WantedCall[] }
  | (CallPlace & { readonly kind: "tool_failed"; readonly problem: Problem })
  /** A display hint of a tool. */
  | { readonly kind: "display"; readonly display: ShownDisplay }
  /** The pause was answered. */
  | { readonly kind: "resumed" };

/** The name of a call in its turn: ids are unique only within a step. */
export function callKey(step: number, call: string): string {
  return `${step} ${call}`;
}
