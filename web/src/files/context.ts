/**
 * What a model is told of a user's files: a block behind the prompt.
 * @module
 */
import { humanSize } from "../core/amounts.js";
import type { UserFile } from "./user-file.js";

const FIRST = "[SYSTEM: Available files in current session:";
const LAST = "End available files]";

/** Unicode code points of the block that are left where nobody says. */
const MAX_CHARS = 4000;
/** A category's reason, and what the core says of bytes, are short; what is longer came from elsewhere. */
const MAX_INFO = 100;

/** How the block is written. */
export interface FileContextOptions {
  /**
   * Unicode code points that the block has at most; files that do not fit are counted.
   * @defaultValue `4000`
   */
  readonly maxChars?: number;
}

/**
 * A prompt with the files that there are, the newest first. Where there are none it is the prompt alone.
 *
 * No name closes the block or adds a line: names have neither line breaks nor hidden characters, and their brackets are
 * written as ❲ and ❳, by which they are found too.
 */
export function withFileContext(prompt: string, files: readonly UserFile[], options: FileContextOptions = {}): string {
  const block = fileContext(files, options);
  return block === "" ? prompt : `${prompt}\n\n${block}`;
}

/** The block alone; empty where there are no files, or no room to tell of any. */
export function fileContext(files: readonly UserFile[], { maxChars = MAX_CHARS }: FileContextOptions = {}): string {
  if (files.length === 0) return "";
  const newest = [...files].sort((left, right) => right.stored_at - left.stored_at);
  const shown: string[] = [];
  // What tells how many more there are must fit behind whatever is shown.
  let room = maxChars - charsOf([FIRST, restOf(files.length), LAST].join("\n"));
  if (room < 0) return "";
  for (const line of newest.map(lineOf)) {
    room -= charsOf(line) + 1;
    if (room < 0) break;
    shown.push(line);
  }
  const more = files.length - shown.length;
  return [FIRST, ...shown, ...(more === 0 ? [] : [restOf(more)]), LAST].join("\n");
}

/** A name as the block writes it. */
function shownName(name: string): string {
  return name.replaceAll("[", "❲").replaceAll("]", "❳");
}

/** The name that was shown so; one that has such brackets itself is found by `fileName` before. */
export function nameShownAs(shown: string): string {
  return shown.replaceAll("❲", "[").replaceAll("❳", "]");
}

/** `- sales_data.csv (uploaded 2024-08-27, 2.1GB, 5M rows)`; of a draft its state is what counts. */
function lineOf({ name, origin, stored_at, size_bytes, facts, draft }: UserFile): string {
  const day = new Date(stored_at).toISOString().slice(0, 10);
  const state = draft?.reason?.replaceAll("_", " ") ?? "draft";
  const info = origin === "deferred" ? [origin, state] : [`${origin} ${day}`, shortSize(size_bytes), facts ?? ""];
  return `- ${shownName(name)} (${info
    .filter((part) => part !== "")
    .map(plain)
    .join(", ")})`;
}

/** `2.1GB`, `15MB`, `850KB`: as the specification writes them, with a decimal only where it says something. */
function shortSize(bytes: number): string {
  return humanSize(bytes).replace(".0 ", " ").replace(" ", "");
}

function plain(text: string): string {
  return shownName(text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ")).slice(0, MAX_INFO);
}

function restOf(count: number): string {
  return `- … ${count} more`;
}

function charsOf(text: string): number {
  return Array.from(text).length;
}
