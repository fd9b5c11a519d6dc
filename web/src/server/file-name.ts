/**
 * Names under which artifacts are saved. What a server called a file is not to be trusted.
 * @module
 */
import type { ArtifactRef } from "../artifacts/store.js";
import { essenceOf } from "./media-type.js";

/** Most bytes of a name in UTF-8: file systems take 255, and browsers add ` (1)` or `.part`. */
const MAX_BYTES = 200;
/** Of a name that is longer, no more is looked at. */
const MAX_READ = 4096;

/** Control and format characters (bidi, zero-width, tags), private ones, and halves of pairs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** What parts a path, or means something to Windows. */
const RESERVED = /[/\\:*?"<>|]/g;
/** Ways up and from the root. */
const CLIMB = /^(?:\.{0,2}[/\\])+/;
/** Dots and blanks in front hide a file; behind, Windows drops them. */
const EDGES = /^[. ]+|[. ]+$/g;
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?= *(?:\.|$))/i;
/** At least one letter, so that `v1.5` has none. */
const EXTENSION = /\.(?=[0-9]*[a-z])[a-z0-9]{1,10}$/i;

const EXTENSIONS: Readonly<Record<string, string>> = {
  "application/gzip": "gz",
  "application/javascript": "js",
  "application/json": "json",
  "application/msword": "doc",
  "application/octet-stream": "bin",
  "application/pdf": "pdf",
  "application/rtf": "rtf",
  "application/vnd.apache.parquet": "parquet",
  "application/vnd.ms-excel": "xls",
  "application/vnd.ms-powerpoint": "ppt",
  "application/vnd.oasis.opendocument.presentation": "odp",
  "application/vnd.oasis.opendocument.spreadsheet": "ods",
  "application/vnd.oasis.opendocument.text": "odt",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.sqlite3": "sqlite",
  "application/wasm": "wasm",
  "application/x-7z-compressed": "7z",
  "application/x-tar": "tar",
  "application/xml": "xml",
  "application/yaml": "yaml",
  "application/zip": "zip",
  "audio/flac": "flac",
  "audio/mp4": "m4a",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "font/woff2": "woff2",
  "image/avif": "avif",
  "image/bmp": "bmp",
  "image/gif": "gif",
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/svg+xml": "svg",
  "image/tiff": "tiff",
  "image/webp": "webp",
  "image/x-icon": "ico",
  "text/css": "css",
  "text/csv": "csv",
  "text/html": "html",
  "text/javascript": "js",
  "text/markdown": "md",
  "text/plain": "txt",
  "text/tab-separated-values": "tsv",
  "text/xml": "xml",
  "video/mp4": "mp4",
  "video/mpeg": "mpeg",
  "video/quicktime": "mov",
  "video/webm": "webm",
};

/**
 * A name that is safe to save under on any system and to show on one line: no path, no control or bidi characters, no
 * device of Windows, at most 200 bytes. A name without extension gets that of its type; without a name it is the id.
 *
 * @example
 * safeFilename({ id: "web_0123456789ab", filename: "../Q3 report", mime_type: "application/pdf" }); // "Q3 report.pdf"
 */
export function safeFilename(artifact: Pick<ArtifactRef, "id"> & Partial<ArtifactRef>): string {
  const { id, filename, mime_type } = artifact;
  const name = cleaned(filename ?? "") || cleaned(id) || "artifact";
  const given = EXTENSION.exec(name)?.[0] ?? "";
  const stem = name.slice(0, name.length - given.length);
  const extension = given || extensionOf(mime_type ?? null);
  const short = withinBytes(stem, MAX_BYTES - extension.length).replace(EDGES, "") || "artifact";
  return `${DEVICE.test(short) ? "_" : ""}${short}${extension}`;
}

function cleaned(name: string): string {
  const seen = name
    .slice(0, MAX_READ)
    .replace(UNSEEN, "")
    .normalize("NFC")
    .replace(/\p{Zs}+/gu, " ");
  return seen.replace(CLIMB, "").replace(RESERVED, "_").replace(EDGES, "");
}

/** With its dot; empty for a type without one. */
function extensionOf(mimeType: string | null): string {
  const essence = essenceOf(mimeType) ?? "application/octet-stream";
  const known = Object.hasOwn(EXTENSIONS, essence) ? EXTENSIONS[essence] : undefined;
  if (known !== undefined) return `.${known}`;
  if (essence.endsWith("+json")) return ".json";
  if (essence.endsWith("+xml")) return ".xml";
  return essence.startsWith("text/") ? ".txt" : ".bin";
}

/** As many whole characters as fit. */
function withinBytes(text: string, most: number): string {
  let bytes = 0;
  let fitting = "";
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x1_0000 ? 3 : 4;
    if (bytes > most) break;
    fitting += character;
  }
  return fitting;
}
