/**
 * Which artifacts a result refers to.
 * @module
 */
import type { ReadResult } from "./connection.js";

/** As the core writes a reference inside a text; a source may have written the same. */
const REFERENCE = /artifact:\/\/([A-Za-z0-9_.-]+)/g;

/** Ids, each once: contents that are artifacts first, then what texts refer to. */
export function artifactsIn({ contents }: ReadResult): readonly string[] {
  const ids = new Set<string>();
  for (const content of contents) if (content.kind === "artifact") ids.add(content.id);
  for (const content of contents) {
    if (content.kind === "text") for (const [, id] of content.text.matchAll(REFERENCE)) ids.add(id as string);
  }
  return [...ids];
}
