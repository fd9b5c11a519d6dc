/**
 * Files that a person drops: JSON as what it says, anything else as a server would send it.
 * @module
 */
import { base64 } from "../base64.js";

/** Bytes that are looked at to tell JSON from other files. */
const HEAD = 64;
/** A multiple of three, so that pieces of base64 need no padding between them. */
const PIECE = 3 * 128 * 1024;

/** Whether a file begins as a JSON text of a result does. */
export async function isJson(file: Blob): Promise<boolean> {
  const head = new TextDecoder().decode(await file.slice(0, HEAD).arrayBuffer());
  return /^\uFEFF?\s*[[{]/.test(head);
}

/** The bytes of a file, without a byte order mark before them. */
export async function* textOf(file: Blob): AsyncIterable<Uint8Array> {
  const [first = 0, second = 0, third = 0] = new Uint8Array(await file.slice(0, 3).arrayBuffer());
  const hasMark = first === 0xef && second === 0xbb && third === 0xbf;
  for (let at = hasMark ? 3 : 0; at < file.size; at += PIECE) yield await piece(file, at);
}

/** The result of a tool that sends the file as an embedded resource. */
export async function* asResult(file: File): AsyncIterable<Uint8Array> {
  const encoder = new TextEncoder();
  const uri = `file:///${encodeURIComponent(file.name)}`;
  const mimeType = file.type === "" ? undefined : file.type;
  const whole = JSON.stringify({ content: [{ type: "resource", resource: { uri, mimeType, blob: "" } }] });
  const at = whole.lastIndexOf('""') + 1;
  yield encoder.encode(whole.slice(0, at));
  for (let start = 0; start < file.size; start += PIECE) {
    yield encoder.encode(base64(await piece(file, start)));
  }
  yield encoder.encode(whole.slice(at));
}

async function piece(file: Blob, at: number): Promise<Uint8Array> {
  return new Uint8Array(await file.slice(at, at + PIECE).arrayBuffer());
}
