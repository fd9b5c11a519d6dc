/**
 * What a native tool has at hand while it runs (RFC 0.3 §4.3, §5.1).
 * @module
 */
import type { ToolContext } from "../tools/context.js";
import type { ToolArtifacts } from "../artifacts/tool-artifacts.js";

/** A call's surroundings, beside its arguments. */
export interface PlannerToolContext extends Required<Pick<ToolContext, "pause" | "signal">> {
  /** Bytes and large texts, of whoever asks the planner: what is stored here goes to the model as a reference. */
  readonly artifacts: ToolArtifacts;
  /** What the host gave for tools alone: connections, secrets, the person who asks. The model never sees it. */
  readonly toolContext: Readonly<Record<string, unknown>>;
  /** What the host gave for the model. */
  readonly llmContext: Readonly<Record<string, unknown>>;
  /**
   * Tells the host of a structured piece of work, as an event. The model does not see it. JSON values: bytes are stored with
   * `artifacts`, and their ref is passed.
   *
   * @throws SluiceError E_INVALID_ARGUMENT with the path of what JSON has not: bytes, a BigInt, a Map or a Set, a cycle.
   */
  readonly emitArtifact: (name: string, value: unknown) => void;
  /** The same for a piece of something that comes in pieces. */
  readonly emitChunk: (stream: string, chunk: unknown) => void;
  /** Tells the host how far the call is. */
  readonly reportProgress: (progress: number, total?: number, message?: string) => void;
}
