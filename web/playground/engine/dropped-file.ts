/**
 * A file that was dropped, as the result of a tool.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import { base64 } from "../base64.js";

/** JSON text of the result in a file: JSON itself, or anything else as a file that a server sent. Throws E_INVALID_ARGUMENT for an empty `.json`. */
export async function resultIn(file: File, as: "auto" | "file"): Promise<AsyncIterable<Uint8Array>> {
  if (as === "auto" && file.size === 0 && /\.json$/i.test(file.name)) {
    throw new SluiceError("E_INVALID_ARGUMENT", "The file is empty: drop one with something in it.", { path: "file" });
  }
  return as === "auto" && (await isJson(file)) ? readText(file) : asResult(file);
}

/** Bytes that are read to tell JSON from other files. */
const HEAD = 64;
/** A multiple of three, so that chunks of base64 join without padding. */
const PIECE = 3 * 128 * 1024;

/** Files that are what their names say, however they begin: a list of links in Markdown begins with a bracket, too. */
const OTHER_NAME = /\.(?!json$|txt$)[a-z][a-z0-9]{0,11}$/i;

/** Whether a file starts like JSON, and does not say that it is something else. */
async function isJson(file: File): Promise<boolean> {
  if (OTHER_NAME.test(file.name)) return false;
  const head = new TextDecoder().decode(await file.slice(0, HEAD).arrayBuffer());
  return /^\uFEFF?\s*[[{]/.test(head);
}

/** The bytes of a file without a byte order mark. */
async function* readText(file: Blob): AsyncIterable<Uint8Array> {
  const [first = 0, second = 0, third = 0] = new Uint8Array(await file.slice(0, 3).arrayBuffer());
  const hasMark = first === 0xef && second === 0xbb && third === 0xbf;
  for (let at = hasMark ? 3 : 0; at < file.size; at += PIECE) yield await chunkAt(file, at);
}

/** A tool result with the file as an embedded resource. */
async function* asResult(file: File): AsyncIterable<Uint8Array> {
  const encoder = new TextEncoder();
  const uri = `file:///${encodeURIComponent(file.name)}`;
  const mimeType = file.type === "" ? undefined : file.type;
  const text = await shortText(file);
  if (text !== null) {
    yield encoder.encode(JSON.stringify({ content: [{ type: "resource", resource: { uri, mimeType, text } }] }));
    return;
  }
  const whole = JSON.stringify({ content: [{ type: "resource", resource: { uri, mimeType, blob: "" } }] });
  const at = whole.lastIndexOf('""') + 1;
  yield encoder.encode(whole.slice(0, at));
  for (let start = 0; start < file.size; start += PIECE) {
    yield encoder.encode(base64(await chunkAt(file, start)));
  }
  yield encoder.encode(whole.slice(at));
}

/** Bytes of a text file that goes to the model as text: what the gate would leave in a result. */
const MAX_TEXT = 16 * 1024;
const TEXT_NAME = /\.(?:txt|md|markdown|csv|tsv|log)$/i;

/** The text of a short text file; null for any other file, and for bytes that are not UTF-8. */
async function shortText(file: File): Promise<string | null> {
  if (file.size > MAX_TEXT || !(TEXT_NAME.test(file.name) || /^text\/(?:plain|markdown|csv)\b/.test(file.type)))
    return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer());
  } catch {
    return null;
  }
}

async function chunkAt(file: Blob, at: number): Promise<Uint8Array> {
  return new Uint8Array(await file.slice(at, at + PIECE).arrayBuffer());
}
