/**
 * What a planner tells its host: refs and sizes, never bytes, never a secret.
 * @module
 */
import type { AnswerRef } from "../core/sluice.js";
import type { SluiceError } from "../errors/error.js";
import type { PauseReason, ToolProgress } from "../tools/context.js";
import type { LlmUsage } from "./llm/client.js";

/** Where in a run something happened. */
export interface CallPlace {
  /** From 1. */
  readonly step: number;
  /** The call's id, unique in its step. */
  readonly call: string;
  /** The tool's name in the catalog; what the model wrote, where there is none. */
  readonly tool: string;
}

/** What happened in a run. */
export type PlannerEvent =
  | { readonly kind: "step_started"; readonly step: number }
  /** The model writes; `text_discarded` takes back what it wrote in this step. */
  | { readonly kind: "text"; readonly step: number; readonly text: string }
  | { readonly kind: "text_discarded"; readonly step: number }
  | { readonly kind: "model_answered"; readonly step: number; readonly calls: number; readonly usage?: LlmUsage }
  | ({ readonly kind: "tool_called" } & CallPlace)
  | ({ readonly kind: "tool_progress"; readonly progress: ToolProgress } & CallPlace)
  | ({ readonly kind: "artifact_stored"; readonly artifacts: readonly AnswerRef[] } & CallPlace)
  /** A structured piece of work of a tool's, see `emitArtifact`. */
  | ({ readonly kind: "artifact_emitted"; readonly name: string; readonly value: unknown } & CallPlace)
  /** A piece of something that comes in pieces, see `emitChunk`. */
  | ({ readonly kind: "chunk_emitted"; readonly stream: string; readonly chunk: unknown } & CallPlace)
  /** What the model sees of a result is shorter than the result; sizes in characters of JSON. */
  | ({
      readonly kind: "observation_clamped";
      readonly original_size: number;
      readonly clamped_size: number;
      /** What was cut, as `Clamp.method` says it; `step` where the whole step was too long, `repeated` where it was said before. */
      readonly method: string;
    } & CallPlace)
  | ({ readonly kind: "tool_answered"; readonly isError: boolean; readonly chars: number } & CallPlace)
  | ({ readonly kind: "tool_failed"; readonly error: SluiceError } & CallPlace)
  | ({ readonly kind: "paused"; readonly reason: PauseReason; readonly token: string } & CallPlace)
  | { readonly kind: "step_finished"; readonly step: number }
  | { readonly kind: "finished"; readonly steps: number; readonly outcome: string };
