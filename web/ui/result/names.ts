/**
 * What was sent and what was taken out, in words that may be shown.
 * @module
 */
import { humanSize } from "mcp-sluice";
import { plainText, shownName } from "../plain-text.js";
import type { ShownArtifact } from "../shown.js";
import type { Block } from "./blocks.js";
import { readReference, type Hole } from "./marked-text.js";

/** Most characters of a description, and of what a block says about itself. */
const MAX_DESCRIPTION = 500;
const MAX_FACT = 300;

/** Artifacts by their ids. */
export type Artifacts = ReadonlyMap<string, ShownArtifact>;

/** What is known of what stood at a hole: the reference's words where the artifact itself is not at hand. */
export function artifactOf(hole: Hole, artifacts: Artifacts): ShownArtifact {
  const known = artifacts.get(hole.id);
  if (known !== undefined) return known;
  return {
    id: hole.id,
    ...(hole.mimeType !== null && { mime_type: hole.mimeType }),
    ...(hole.size !== null && { size_bytes: hole.size }),
  };
}

/** `application/pdf · 4.0 MB · sha256 6c0e0628…`, as far as it is known. */
export function chipText({ mime_type, size_bytes, sha256 }: ShownArtifact): string {
  const parts = [plainText(mime_type, 100) || "application/octet-stream"];
  if (typeof size_bytes === "number") parts.push(humanSize(size_bytes));
  const hash = plainText(sha256);
  if (hash !== "") parts.push(`sha256 ${hash.slice(0, 8)}…`);
  return parts.join(" · ");
}

/** What the store's description says of it; null when it says nothing. */
export function descriptionOf({ source }: ShownArtifact): string | null {
  return plainText(source?.["description"], MAX_DESCRIPTION) || null;
}

/** Where a block stands: a member's name is the server's. */
export function placeOf({ name }: Block): string {
  return shownName(name, "unnamed");
}

/** What a block says about itself. */
export function factOf(said: string): string {
  return plainText(said, MAX_FACT);
}

/** What was found inside a stored text, each once, at most eight. */
export function insideOf({ source }: ShownArtifact): Hole[] {
  const references = source?.["references"];
  if (!Array.isArray(references)) return [];
  const found = new Map<string, Hole>();
  for (const entry of references.slice(0, 1_000) as readonly unknown[]) {
    const uri = typeof entry === "object" && entry !== null && "uri" in entry ? entry.uri : null;
    const reference = typeof uri === "string" ? readReference(uri) : null;
    if (reference !== null) found.set(reference.id, { begin: 0, end: 0, kind: "run", ...reference });
  }
  return [...found.values()].slice(0, 8);
}
