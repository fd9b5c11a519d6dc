/**
 * Artifacts as resources: small ones whole, parts of any.
 * @module
 */
import { plainType } from "../../core/media-type.js";
import { SluiceError } from "../../errors/error.js";
import { grouped } from "../../core/amounts.js";
import { base64Of } from "./base64.js";
import { artifactUri } from "./definition.js";
import { textAtPointer } from "./json-reading.js";
import { jsonChars } from "./json-chars.js";
import { MAX_RESOURCE_IMAGE, MAX_RESOURCE_JSON, MAX_RESOURCE_PART, MAX_RESOURCE_TEXT } from "./limits.js";
import { lookAt } from "./look.js";
import { spanIn, type ByteSpec } from "./ranges.js";
import { textOfRecords } from "./record-reading.js";
import type { Wanted } from "./request.js";
import { readSpan, type Readable } from "./source.js";
import { described } from "./untrusted.js";
import { readable } from "./readable.js";
import type { ReadContent } from "./wire.js";

const BYTES = "application/octet-stream";
const TEXT = "text/plain";

/** Reads a resource. Throws E_NOT_FOUND, E_EXPIRED, E_INVALID_ARGUMENT, E_TOO_LARGE, E_JSON_…, E_STORE_…. */
export async function readResource(from: Readable, wanted: Wanted, uri: string): Promise<ReadContent> {
  const { mode } = wanted;
  if (mode === "info") return wholeOrNote(from, uri);
  if (mode === "bytes") return partOf(from, wanted.range, uri);
  if (mode === "search") throw unsearchable();
  const look = readable(await lookAt(from), mode);
  if (mode === "pointer") {
    return { uri, mimeType: "application/json", text: bounded(await textAtPointer(from, look, wanted.tokens)) };
  }
  return { uri, mimeType: TEXT, text: bounded(await textOfRecords(from, look, mode, wanted.range)) };
}

function unsearchable(): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", "A resource cannot be searched: call the tool for that.", {
    path: "search",
  });
}

async function wholeOrNote(from: Readable, uri: string): Promise<ReadContent> {
  const { size_bytes: size, mime_type } = from.ref;
  const type = plainType(mime_type);
  if (type?.startsWith("image/") === true && size <= MAX_RESOURCE_IMAGE) {
    return { uri, mimeType: type, blob: base64Of(await readSpan(from, { start: 0, end: size })) };
  }
  if (size <= MAX_RESOURCE_TEXT) {
    const text = textOf(await readSpan(from, { start: 0, end: size }));
    if (text !== undefined) return { uri, mimeType: type ?? TEXT, text };
  }
  return { uri, mimeType: TEXT, text: await noteOf(from) };
}

async function noteOf(from: Readable): Promise<string> {
  const { ref } = from;
  const { isText } = await lookAt(from);
  const part = isText ? '"lines":"1-50"' : '"bytes":"0-255"';
  const example = isText ? "?lines=1-50" : "?bytes=0-1023";
  const own = artifactUri(ref.id);
  return (
    `[sluice] ${described(ref)}, ${grouped(ref.size_bytes)} bytes: not shown here. Read a part of it with ` +
    `${from.tool} {"uri":"${own}",${part}}, or as the resource ${own}${example}.`
  );
}

async function partOf(from: Readable, range: ByteSpec, uri: string): Promise<ReadContent> {
  const { size_bytes: size, mime_type } = from.ref;
  const span = spanIn(range, size);
  if (span.end - span.start > MAX_RESOURCE_PART) {
    const first = `${span.start}-${span.start + MAX_RESOURCE_PART - 1}`;
    throw new SluiceError("E_TOO_LARGE", `A part has at most 4 MiB: read bytes ${first} first, then what follows.`, {
      path: "bytes",
    });
  }
  const isWhole = span.start === 0 && span.end === size;
  const mimeType = (isWhole ? plainType(mime_type) : undefined) ?? BYTES;
  return { uri, mimeType, blob: base64Of(await readSpan(from, span)) };
}

/** Undefined for what is no text. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function bounded(text: string): string {
  if (jsonChars(text) <= MAX_RESOURCE_JSON) return text;
  throw new SluiceError("E_TOO_LARGE", "What was asked for is too large once it is written as JSON: ask for less.");
}
