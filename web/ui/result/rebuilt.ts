/**
 * What a server sent and its blocks, at once or in parts.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import { blocksOf, wordsOf, type Blocks } from "./blocks.js";
import type { MarkedText } from "./marked-text.js";
import { LARGE, pause } from "./pause.js";
import { sentText } from "./sent-tree.js";
import { innerOf } from "./tree-rows.js";

/** What a server sent. */
export interface Rebuilt {
  /** Its text. */
  readonly sent: MarkedText;
  /** Its blocks. */
  readonly blocks: Blocks;
  /** Why it is the reduced result instead; null when it is not. */
  readonly problem: string | null;
}

/** Blocks that are looked into beforehand: those that are shown at once. */
const AHEAD = 50;

/** Rebuilds what was sent; where the list does not fit, it is the reduced result with the reason. */
export function rebuilt(reduced: string, refs: string | undefined): Rebuilt {
  const { sent, problem } = sentOf(reduced, refs);
  return { sent, problem, blocks: blocksOf(sent) };
}

/** The same in parts, between which the page answers; null when it was given up. */
export async function readLarge(
  reduced: string,
  refs: string | undefined,
  signal: AbortSignal,
): Promise<Rebuilt | null> {
  if (!(await goesOn(signal))) return null;
  const { sent, problem } = sentOf(reduced, refs);
  if (!(await goesOn(signal))) return null;
  const blocks = blocksOf(sent);
  for (let index = 0; index < Math.min(blocks.length, AHEAD); index += 1) {
    const words = wordsOf(blocks.at(index));
    if (words === null || words.end - words.begin <= LARGE) continue;
    // Nodes keep what they were asked for.
    if (!(await goesOn(signal))) return null;
    if (words.said.text.length <= LARGE) continue;
    if (!(await goesOn(signal))) return null;
    innerOf(words);
  }
  return (await goesOn(signal)) ? { sent, problem, blocks } : null;
}

async function goesOn(signal: AbortSignal): Promise<boolean> {
  await pause();
  return !signal.aborted;
}

function sentOf(reduced: string, refs: string | undefined): Omit<Rebuilt, "blocks"> {
  try {
    return { sent: sentText(reduced, refs), problem: null };
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const problem = `What was sent cannot be rebuilt, so the reduced result is shown. ${error.message}`;
    return { sent: { text: reduced, holes: [] }, problem };
  }
}
