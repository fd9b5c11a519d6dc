/**
 * What is known of an artifact, and how it can be read.
 * @module
 */
import { plainType } from "../../core/media-type.js";
import { counted } from "../../core/amounts.js";
import type { Told } from "./answer.js";
import { artifactUri } from "./definition.js";
import { fitting } from "./json-chars.js";
import type { Look } from "./look.js";
import { FIRST_CHARS, FIRST_LINES, MAX_POINTER_BYTES } from "./limits.js";
import type { Readable } from "./source.js";
import { described, quotedName } from "./untrusted.js";

/** Tells of an artifact in at most `most` characters of its content. */
export function tellInfo({ ref }: Readable, look: Look, most: number): Told {
  const { size_bytes: size, filename, mime_type } = ref;
  const type = plainType(mime_type) ?? "unknown type";
  const name = filename === null ? "" : `; untrusted file text: ${quotedName(filename)}`;
  const head = `${artifactUri(ref.id)}: ${described(ref)} (${type}, ${counted(size, "byte")}${name})`;
  const notes = [modesOf(look, size)];
  if (!look.isText || size === 0) return { head, notes };
  const { text, isAll } = firstLines(look.head, size, Math.min(most, FIRST_CHARS));
  return { head: `${head}. ${isAll ? "This is all of it" : "Its first lines"}`, data: text, notes };
}

/** Whole lines where the first one fits. */
function firstLines(head: Uint8Array, size: number, most: number): { readonly text: string; readonly isAll: boolean } {
  const isWhole = head.length === size;
  const decoded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(head, { stream: !isWhole });
  const lines = decoded.split("\n");
  const first = lines.slice(0, FIRST_LINES).join("\n");
  const fit = fitting(first, most).text;
  if (isWhole && fit.length === decoded.length) return { text: fit, isAll: true };
  const end = fit.length < first.length ? fit.lastIndexOf("\n") : -1;
  return { text: end > 0 ? fit.slice(0, end) : fit, isAll: false };
}

function modesOf(look: Look, size: number): string {
  if (size === 0) return "It is empty.";
  if (!look.isText) {
    const encoding = look.isUtf16 ? " It is UTF-16 text, which lines do not read." : "";
    return `Read it with bytes "0-255" (hex) or search.${encoding} Or pass the URI as a tool argument.`;
  }
  const modes = ['lines "1-50"', 'bytes "0-1023"', "search"];
  if (look.layout.kind !== "none") modes.unshift('rows "1-20"');
  if (look.isJson && size <= MAX_POINTER_BYTES) modes.unshift('pointer "" for an outline');
  return `Read it with one of: ${modes.join(", ")}.`;
}
