/**
 * What a server or a file says of itself, made fit to stand among our own words.
 * @module
 */
import { plainType } from "../../core/media-type.js";
import type { ArtifactRef } from "../../artifacts/store.js";
import { humanSize } from "../../core/amounts.js";
import { shortened } from "./json-chars.js";

const MAX_DESCRIPTION = 500;
const MAX_QUOTED = 60;

/** As much of a ref as it takes to describe an artifact. */
export type Described = Pick<ArtifactRef, "id" | "mime_type" | "size_bytes" | "source">;

/** One line that says what an artifact is: the core's description of it, else type and size. */
export function described(ref: Described): string {
  const said = ref.source["description"];
  if (typeof said === "string" && said.trim() !== "") return shortened(unhidden(said).trim(), MAX_DESCRIPTION);
  return `${plainType(ref.mime_type) ?? "of unknown type"}, ${humanSize(ref.size_bytes)}`;
}

/** A file name in quotes that nothing in it can end, without what cannot be seen; cut at 60 characters. */
export function quotedName(filename: string): string {
  const defused = unhidden(filename)
    .replace(/[<>[\]()`*]/g, "_")
    .replace(/:\/\//g, "_");
  return JSON.stringify(shortened(defused, MAX_QUOTED));
}

/** What the caller said, in quotes, to be named in an error. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text, MAX_QUOTED));
}

/** Without control, bidirectional, zero-width and tag characters: they hide what a line says, or move it. */
function unhidden(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, " ");
}
