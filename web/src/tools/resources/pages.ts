/**
 * Long lists in pages with a cursor of our own: sources' pages are followed to the end, planners' are short.
 * @module
 */
import { ToolClientError } from "../errors.js";
import { MAX_PAGE_ENTRIES } from "./limits.js";

/** Part of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Undefined on the last page. */
  readonly next: string | undefined;
}

const CURSOR = /^([0-9a-z]{1,7})\.([0-9a-z]{1,4})$/;

/**
 * The page that a cursor names, or the first. It has at least one entry, if there is one.
 *
 * @param chars most characters of the page as JSON.
 * @throws ToolClientError for what is no cursor, or one of a list that has changed since.
 */
export function pageOf<T>(items: readonly T[], cursor: string | undefined, chars: number): Page<T> {
  const print = fingerprint(items);
  const start = cursor === undefined ? 0 : offsetOf(cursor, print, items.length);
  let left = chars;
  let end = start;
  while (end < items.length && end < start + MAX_PAGE_ENTRIES) {
    left -= JSON.stringify(items[end]).length + 1;
    if (left < 0 && end > start) break;
    end += 1;
  }
  const next = end < items.length ? `${print}.${end.toString(36)}` : undefined;
  return { items: items.slice(start, end), next };
}

function offsetOf(cursor: string, print: string, length: number): number {
  const [, of, at] = CURSOR.exec(cursor) ?? [];
  if (of === undefined || at === undefined) {
    throw new ToolClientError("cursor must be a next_cursor that this tool gave: leave it out to begin at the start.");
  }
  const offset = Number.parseInt(at, 36);
  if (of === print && offset < length) return offset;
  throw new ToolClientError("The list has changed since this cursor was given: leave it out to begin again.");
}

/** Tells one list from another (FNV-1a); nothing depends on nobody forging it. */
function fingerprint(items: readonly unknown[]): string {
  let hash = 0x811c9dc5;
  for (const item of items) {
    const text = JSON.stringify(item);
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
