/**
 * Reads the bytes of an artifact for a preview.
 * @module
 */
import { BlobParts } from "../download.js";
import { Pace } from "../pace.js";
import { pagePolicy } from "../page-policy.js";
import { makeGoneProblem, MOST, type PreviewInput, PreviewProblem, WHOLE_LIMIT } from "./preview.js";

/** Bytes of text per slice. */
const SLICE = 64 * 1024;
/** Bytes per slice for data that is only copied. */
const PIECE = 4 * 1024 ** 2;

/**
 * The first `limit` bytes in slices of at most `most`, yielding to the page between them. Returns whether there are more. Throws
 * the signal's reason, and a `PreviewProblem` if the bytes are gone.
 */
async function* readSlices(
  input: PreviewInput,
  limit: number,
  signal: AbortSignal,
  most = SLICE,
): AsyncGenerator<Uint8Array, boolean> {
  // Read one more byte to see whether there are more.
  const stream = await input.bytes.open(limit === Infinity ? undefined : { start: 0, end: limit + 1 });
  signal.throwIfAborted();
  if (stream === null) throw makeGoneProblem();
  const total = input.artifact.size_bytes === undefined ? null : Math.min(input.artifact.size_bytes, limit);
  const reader = stream.getReader();
  const stop = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  const pace = new Pace();
  let seen = 0;
  let read = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return false;
      seen += value.byteLength;
      for (let at = 0; at < value.byteLength && read < limit; at += most) {
        const slice = value.subarray(at, at + Math.min(most, limit - read));
        read += slice.byteLength;
        yield slice;
        input.progress(read, total);
        await pace.rest();
        signal.throwIfAborted();
      }
      if (seen > limit) return true;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** The bytes from `start` to before `end`; fewer at the end. Throws as `slicesOf`. */
export async function bytesAt(
  input: PreviewInput,
  start: number,
  end: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const stream = await input.bytes.open({ start, end });
  if (stream === null) throw makeGoneProblem();
  const bytes = new Uint8Array(end - start);
  let length = 0;
  const reader = stream.getReader();
  try {
    while (length < bytes.byteLength) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) break;
      const fits = value.subarray(0, bytes.byteLength - length);
      bytes.set(fits, length);
      length += fits.byteLength;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
  return bytes.subarray(0, length);
}

/** The bytes to read: a first part, or all that may be held. */
export function limitFor(input: PreviewInput, atFirst: number): number {
  return input.whole ? MOST : atFirst;
}

/** Throws a `PreviewProblem` if the stated size is over the limit. */
export function mustFit(input: PreviewInput, limit: number): void {
  const size = input.artifact.size_bytes;
  if (size !== undefined && size > limit) throw tooLarge(input.whole);
}

/** All bytes as a Blob of a media type. Throws a `PreviewProblem` if there are too many. */
export async function wholeBlob(
  input: PreviewInput,
  atFirst: number,
  type: string,
  signal: AbortSignal,
): Promise<Blob> {
  const limit = limitFor(input, atFirst);
  mustFit(input, limit);
  const slices = readSlices(input, limit, signal, PIECE);
  const parts = new BlobParts();
  for (;;) {
    const { done, value } = await slices.next();
    if (!done) parts.add(value);
    else if (value) throw tooLarge(input.whole);
    else return parts.blob(type);
  }
}

function tooLarge(asked: boolean): PreviewProblem {
  return asked
    ? new PreviewProblem("It is too large to be shown here. Download it instead.", "none")
    : new PreviewProblem("It is large and can only be shown as a whole.", "whole");
}

/**
 * A URL for images, audio and video: their own, or an object URL that is revoked with the signal. SVG becomes a `data:` URL,
 * since an object URL of this origin could run its scripts when it is opened, and so does all where the page forbids object URLs.
 */
export async function makeAddress(input: PreviewInput, signal: AbortSignal): Promise<string> {
  if (input.bytes.href !== undefined) return input.bytes.href;
  const blob = await wholeBlob(input, WHOLE_LIMIT, input.type, signal);
  if (/xml|html/.test(input.type) || !pagePolicy().objectUrls) return dataAddress(blob);
  const address = URL.createObjectURL(blob);
  signal.addEventListener("abort", () => URL.revokeObjectURL(address), { once: true });
  return address;
}

/** A Blob as a `data:` URL. */
export async function dataAddress(blob: Blob): Promise<string> {
  const reader = new FileReader();
  await new Promise<void>((resolve, reject) => {
    reader.addEventListener("load", () => resolve());
    reader.addEventListener("error", () => reject(new PreviewProblem("It could not be read.", "retry")));
    reader.readAsDataURL(blob);
  });
  return reader.result as string;
}

/** Whether the bytes exist, for errors that do not say why loading failed. */
export async function isThere(input: PreviewInput): Promise<boolean> {
  const stream = await input.bytes.open({ start: 0, end: 1 });
  await stream?.cancel();
  return stream !== null;
}

/** Bytes of a page in which it says its encoding (HTML, "prescan a byte stream"). */
const SAID_WITHIN = 1024;
/** How it says it. What can be read byte by byte so far is not UTF-16, whatever it says. */
const SAID = /(?:^<\?xml[^>]{0,200}?encoding|<meta[^>]{0,400}?charset)\s*=\s*["']?\s*(?!utf-?16)([\w.:-]{1,40})/i;

/** A decoder by byte order mark, charset, or what a page of HTML says, else UTF-8 or, where the start is none, Windows-1252. It never fails. */
function decoderFor(mimeType: string | null | undefined, start: Uint8Array): TextDecoder {
  if (start[0] === 0xff && start[1] === 0xfe) return new TextDecoder("utf-16le");
  if (start[0] === 0xfe && start[1] === 0xff) return new TextDecoder("utf-16be");
  const given = /;\s*charset="?([\w.:-]{1,40})/i.exec(mimeType ?? "")?.[1];
  const isPage = /html/i.test(mimeType ?? "");
  const said = isPage ? SAID.exec(String.fromCharCode(...start.subarray(0, SAID_WITHIN)))?.[1] : undefined;
  const charset = given ?? said ?? (isUtf8(start) ? "utf-8" : "windows-1252");
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

/** Whether bytes are UTF-8 as far as they go: the last character may be cut. */
function isUtf8(start: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** The text in slices, as `slicesOf`. */
export async function* readText(
  input: PreviewInput,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<string, boolean> {
  const slices = readSlices(input, limit, signal);
  let decoder: TextDecoder | undefined;
  for (;;) {
    const { done, value } = await slices.next();
    if (done) {
      // Flush only at the real end: the limit may cut a character.
      if (!value && decoder) yield decoder.decode();
      return value;
    }
    decoder ??= decoderFor(input.artifact.mime_type, value);
    yield decoder.decode(value, { stream: true });
  }
}
