/**
 * A conversation with the fixture, and how the proxy may change it.
 * @module
 */
import type { Step } from "../script.js";

/** What the proxy does to the answer of one request; anything else has to be the same, byte for byte. */
export interface Change {
  /** The request's id. */
  readonly at: string | number;
  /**
   * - `reduced`: a result without its bytes; `restore` gives the server's, value for value
   * - `inlined`: the same, but images stay in it
   * - `refused`: an error stands where the server gave no answer, or half of one
   * - `tools`: schemas are widened, and tools are added
   * - `begin`: `instructions` has a sentence more, `capabilities.resources` is merged
   * - `template`: one template of a resource more, at the end, and nobody may keep the list
   */
  readonly how: "reduced" | "inlined" | "refused" | "tools" | "begin" | "template";
  /** For `tools`: names added at the end of this page. */
  readonly added?: readonly string[];
  /** For `tools`: schemas stay as they are. */
  readonly keepsSchemas?: true;
}

/** A script, run directly and behind the proxy. */
export interface Scenario {
  readonly name: string;
  /** Arguments of the fixture. */
  readonly server?: readonly string[];
  /** Options of the proxy. */
  readonly proxy?: readonly string[];
  readonly steps: readonly Step[];
  /** Every answer that differs; it has to differ in this way. */
  readonly changes: readonly Change[];
  /** Lines of the server that are no messages: behind the proxy they are on stderr. */
  readonly strays?: readonly string[];
  /** Artifacts that the proxy tells of, a line on stderr for each; 0 when left out. */
  readonly diverted?: number;
}

/** What every conversation begins with differs in. */
export const BEGIN: Change = { at: "begin", how: "begin" };

/** Answers that are reduced. */
export function reduced(...ids: readonly (string | number)[]): readonly Change[] {
  return ids.map((at) => ({ at, how: "reduced" }));
}
