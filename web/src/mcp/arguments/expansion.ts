/**
 * An artifact written as an argument.
 * @module
 */
import type { StoredArtifact } from "../../artifacts/store.js";
import { base64Of } from "../reading/base64.js";
import { readSpan, type ReadingSource } from "../reading/source.js";
import type { ArtifactForm } from "./form.js";
import { noPath, noText, unreadable, type Place } from "./refusal.js";

/** What stands in an argument's place: JSON text of a string, and its bytes in UTF-8. */
export interface Written {
  readonly json: string;
  readonly jsonBytes: number;
}

/** What writing needs. */
export interface WritingMeans {
  readonly source: ReadingSource;
  readonly writeCopy?: (ref: StoredArtifact, signal?: AbortSignal) => Promise<string>;
  readonly signal?: AbortSignal;
}

/** What may stand in a data URI: servers name types as they like. */
const MIME_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/i;

/**
 * Writes an artifact. What would not fit is not read.
 *
 * @param room bytes that there is room for.
 * @returns undefined when it does not fit.
 * @throws Refusal; what the store throws.
 */
export async function written(
  place: Place,
  ref: StoredArtifact,
  form: ArtifactForm,
  room: number,
  means: WritingMeans,
): Promise<Written | undefined> {
  if (form === "path") {
    if (means.writeCopy === undefined) throw noPath(place);
    return fitting(JSON.stringify(await means.writeCopy(ref, means.signal)), room);
  }
  const prefix = form === "data_uri" ? `data:${mimeOf(ref)};base64,` : "";
  const least = form === "text" ? ref.size_bytes : prefix.length + 4 * Math.ceil(ref.size_bytes / 3);
  if (least + 2 > room) return undefined;
  const bytes = await bytesOf(place, ref, means);
  if (form !== "text") return fitting(`"${prefix}${base64Of(bytes)}"`, room);
  return fitting(JSON.stringify(textOf(place, bytes)), room);
}

async function bytesOf(place: Place, ref: StoredArtifact, { source, signal }: WritingMeans): Promise<Uint8Array> {
  const { size_bytes: size } = ref;
  const from = { ref, source, maxScanned: size, tool: place.tool, signal };
  const bytes = await readSpan(from, { start: 0, end: size });
  if (bytes.length !== size) throw unreadable(place);
  return bytes;
}

/** The text that the bytes are, a byte order mark included. */
function textOf(place: Place, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw noText(place);
  }
}

function mimeOf({ mime_type: type }: StoredArtifact): string {
  return type !== null && MIME_TYPE.test(type) ? type.toLowerCase() : "application/octet-stream";
}

function fitting(json: string, room: number): Written | undefined {
  const jsonBytes = new TextEncoder().encode(json).length;
  return jsonBytes > room ? undefined : { json, jsonBytes };
}
