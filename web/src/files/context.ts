/**
 * Tells a model about a user's files: a block after the prompt.
 * @module
 */
import { humanSize } from "../core/amounts.js";
import type { UserFile } from "./user-file.js";
import { checkOptionNames } from "../errors/arguments.js";

const FIRST = "[SYSTEM: Available files in current session:";
const LAST = "End available files]";

/** Default length of the block, in Unicode code points. */
const MAX_CHARS = 4000;
/** Reasons of drafts and facts from the core are short. Anything longer came from elsewhere. */
const MAX_INFO = 100;

/** Options for the block. */
export interface FileContextOptions {
  /**
   * Maximum length of the block in Unicode code points. Files that do not fit are counted.
   * @defaultValue `4000`
   */
  readonly maxChars?: number;
}

/**
 * Appends a list of the user's files to a prompt, newest first. Returns the prompt unchanged if there are none.
 *
 * No name can close the block or add a line: names have neither line breaks nor hidden characters, and their brackets are
 * written as ❲ and ❳. Tools find a file by that spelling as well.
 */
export function withFileContext(prompt: string, files: readonly UserFile[], options: FileContextOptions = {}): string {
  const block = fileContext(files, options);
  return block === "" ? prompt : `${prompt}\n\n${block}`;
}

/** The block alone; empty if there are no files or `maxChars` is too small. */
export function fileContext(files: readonly UserFile[], options: FileContextOptions = {}): string {
  const { maxChars = MAX_CHARS } = checkOptionNames(options, "a file context", ["maxChars"]);
  if (files.length === 0) return "";
  const newest = [...files].sort((left, right) => right.stored_at - left.stored_at);
  const shown: string[] = [];
  // The line that counts the rest must fit in any case.
  let room = maxChars - countChars([FIRST, formatRest(files.length), LAST].join("\n"));
  if (room < 0) return "";
  for (const line of newest.map(formatLine)) {
    room -= countChars(line) + 1;
    if (room < 0) break;
    shown.push(line);
  }
  const more = files.length - shown.length;
  return [FIRST, ...shown, ...(more === 0 ? [] : [formatRest(more)]), LAST].join("\n");
}

/** A name as it is written in the block. */
function formatName(name: string): string {
  return name.replaceAll("[", "❲").replaceAll("]", "❳");
}

/** Undoes {@link formatName}. A name that has such brackets itself is found before, by `fileName`. */
export function nameShownAs(shown: string): string {
  return shown.replaceAll("❲", "[").replaceAll("❳", "]");
}

/** `- sales_data.csv (uploaded 2024-08-27, 2.1GB, 5M rows)`; for a draft, its state. */
function formatLine({ name, origin, stored_at, size_bytes, facts, draft }: UserFile): string {
  const day = new Date(stored_at).toISOString().slice(0, 10);
  const state = draft?.reason?.replaceAll("_", " ") ?? "draft";
  const info = origin === "deferred" ? [origin, state] : [`${origin} ${day}`, shortSize(size_bytes), facts ?? ""];
  return `- ${formatName(name)} (${info
    .filter((part) => part !== "")
    .map(plain)
    .join(", ")})`;
}

/** `2.1GB`, `15MB`, `850KB`: as the specification writes them, without a zero decimal. */
function shortSize(bytes: number): string {
  return humanSize(bytes).replace(".0 ", " ").replace(" ", "");
}

function plain(text: string): string {
  return formatName(text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ")).slice(0, MAX_INFO);
}

function formatRest(count: number): string {
  return `- … ${count} more`;
}

function countChars(text: string): number {
  return Array.from(text).length;
}
