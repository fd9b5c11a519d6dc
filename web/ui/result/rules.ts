/**
 * Which of the layers acted on a piece of a result, and why.
 * @module
 */
import type { Block } from "./blocks.js";
import type { Hole } from "./marked-text.js";

/** A layer, and what a person may want to know of it. */
export interface Rule {
  /** Its number in the order of the layers. */
  readonly layer: "L4" | "L2" | "L3" | "L1" | "L0";
  /** Two words for a badge. */
  readonly name: string;
  /** Why it acted, in a sentence. */
  readonly why: string;
}

/** Why a link is still a link. */
export const LINK: Rule = { layer: "L1", name: "link kept", why: "A link is read when somebody asks for it." };

/**
 * The rule that took something out. `block` is the block whose typed bytes it is, null where it stood in a text or a value;
 * `configured` says that a field of the tool's configuration names the place.
 */
export function ruleOf(hole: Hole, block: Block | null, configured = false): Rule {
  if (configured) return { layer: "L4", name: "field", why: "The configuration names this field of the tool." };
  if (block !== null) {
    const what = block.kind === "image" || block.kind === "audio" ? `${block.kind} block` : "resource";
    return { layer: "L2", name: "typed block", why: `The server sent it as bytes of ${article(what)}.` };
  }
  if (hole.kind === "text") return { layer: "L0", name: "size", why: "The text is too long to stay." };
  if (hole.kind === "json") return { layer: "L0", name: "size", why: "The value is too large to stay." };
  const where = hole.kind === "bytes" ? "an array of byte values" : "a string";
  return { layer: "L3", name: "detected", why: `Encoded bytes were found in ${where}.` };
}

function article(words: string): string {
  return `${/^[aeio]/.test(words) ? "an" : "a"} ${words}`;
}
