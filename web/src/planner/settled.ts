/**
 * What becomes of a call.
 * @module
 */
import type { AnswerRef } from "../core/sluice.js";
import type { PauseReason } from "../tools/context.js";
import type { Leaving } from "./exit.js";

/** What native tools store is named after this, and so is the tool that reads it. */
export const NATIVE: string = "native";

/** A result, and what the host keeps of it. */
export interface Settled extends Leaving {
  readonly isError: boolean;
  readonly artifacts: readonly AnswerRef[];
  /** Fields that are marked `artifact: true`, by tool and field. */
  readonly kept: Readonly<Record<string, unknown>>;
}

/** The call waits for a person. It is made anew when there is an answer. */
export interface Waiting {
  /** The tool's name in the catalog. */
  readonly tool: string;
  readonly reason: PauseReason;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** What became of a call. */
export type Outcome = { readonly settled: Settled } | { readonly waiting: Waiting };

/** What the model is told of a call that failed; `artifacts` is what it had stored by then. */
export function failed(
  { tool, namespace }: Pick<Leaving, "tool" | "namespace">,
  sentence: string,
  artifacts: readonly AnswerRef[] = [],
): Settled {
  const text = JSON.stringify({ isError: true, content: sentence });
  return { tool, namespace, text, maxChars: undefined, isError: true, artifacts, kept: {} };
}
