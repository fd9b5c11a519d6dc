/**
 * What the page and the engine say to each other in a chat. All of it can be cloned.
 * @module
 */
import type { CallPlace, PlannerEvent, PlannerOutcome, Spent, Trajectory } from "mcp-sluice/planner";
import type { Problem, ShownDisplay } from "../contract.js";

/** Who answers: a script without a network, a model behind OpenAI's chat completions, or the server that the page comes from. */
export type ChatModel =
  | { readonly kind: "scripted" }
  | { readonly kind: "served" }
  | ({ readonly kind: "endpoint" } & Endpoint);

/** A model at a server of the person's choice. */
export interface Endpoint {
  /** Up to and without `/chat/completions`. */
  readonly url: string;
  /** As its server calls it. */
  readonly model: string;
  /** Sent as a bearer token; empty where the server wants none. */
  readonly key: string;
}

/** What was asked and answered before. */
export interface ChatExchange {
  readonly query: string;
  readonly answer: string;
}

/** What a person asks. */
export interface ChatRequest {
  /** The page's own name of the turn. */
  readonly id: string;
  readonly query: string;
  /** The oldest first. */
  readonly before: readonly ChatExchange[];
  readonly model: ChatModel;
  /** Seconds that each call may be silent; the limit of its server when left out. */
  readonly timeout?: number;
}

/** What the answer came to. */
export interface ChatEnd {
  readonly answer: string;
  /** `answered`, what the answer lacks, or which limit it came to. */
  readonly outcome: PlannerOutcome;
  readonly spent: Spent;
  /** Left out where the server did not send it. */
  readonly trajectory?: Trajectory;
}

/** A message as the model was sent it. */
export interface SeenMessage {
  readonly role: "system" | "user" | "tool";
  readonly text: string;
  /** Of a tool's result: whose, as the model wrote it. */
  readonly tool?: string;
  /** Of a tool's result: which call's. */
  readonly call?: string;
}

/** A call as the model wrote it. */
export interface WantedCall {
  /** Unique in its step. */
  readonly id: string;
  /** The name as the model knows it. */
  readonly name: string;
  /** JSON text, perhaps none. */
  readonly args: string;
}

/** Events of a planner that can be cloned, and are of use here. */
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

/** What happens while an answer is made. */
export type ChatEvent =
  | PassedEvent
  /**
   * The model is asked: what it sees that it did not see before, and how many tools it may call, where that is known. Once
   * more for a step that is made anew.
   */
  | {
      readonly kind: "asked";
      readonly step: number;
      readonly messages: readonly SeenMessage[];
      readonly tools?: number;
    }
  /** What the model saw in a step, and called, told when all is over. */
  | {
      readonly kind: "saw";
      readonly step: number;
      readonly messages: readonly SeenMessage[];
      readonly calls: readonly Pick<WantedCall, "id" | "args">[];
    }
  /** What it wants called. */
  | { readonly kind: "wanted"; readonly step: number; readonly calls: readonly WantedCall[] }
  | (CallPlace & { readonly kind: "tool_failed"; readonly problem: Problem })
  /** What a tool would have the viewer do. */
  | { readonly kind: "display"; readonly display: ShownDisplay }
  /** The person answered what the run waited for. */
  | { readonly kind: "resumed" };
