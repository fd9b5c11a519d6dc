/**
 * What an edit comes to, before anything is written.
 * @module
 */
import { groupDigits } from "../../core/amounts.js";
import type { AnswerParts } from "../artifact-reader/answer.js";
import type { Rewriter } from "./rewriter.js";

/** The outcome of looking at an artifact with an edit in mind. */
export type EditPlan =
  | {
      readonly kind: "rewrite";
      /** What was done, for the answer: `1 place replaced (line 12)`. */
      readonly said: string;
      /** Size of the result in bytes. */
      readonly size: number;
      readonly rewriter: Rewriter;
    }
  /** Nothing would change. `said` tells why. */
  | { readonly kind: "unchanged"; readonly said: string }
  /** It cannot be made, and a part of the artifact shows why. */
  | { readonly kind: "refused"; readonly parts: AnswerParts };

/** Numbers in a list that names the first few: `3, 9, 12 and 40 more`. `count` is that of all. */
export function listFirst(numbers: readonly number[], count: number): string {
  const more = count - numbers.length;
  return numbers.map(groupDigits).join(", ") + (more > 0 ? ` and ${groupDigits(more)} more` : "");
}
