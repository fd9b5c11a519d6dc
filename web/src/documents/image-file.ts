/**
 * Whether bytes are a whole image of a type that models take, by its structure. A provider refuses a request over an image that is cut
 * off, or of another type than its block says, and with it all that follow in the conversation.
 * @module
 */
import { readJpegHeaders } from "./jpeg.js";

/** An image that is whole. */
export interface ImageFile {
  readonly mime_type: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  readonly width: number;
  readonly height: number;
}

/** Pixels of the longer side of a picture. Providers take no more than this where a request may hold many pictures. */
const MAX_SIDE = 2000;

/** Pixels of the longer side to which a larger one is scaled: models scale down themselves what has more. */
export const SCALED_SIDE = 1568;

/** Whether all models that see take an image as it is. Some take no GIF, others none that moves. */
export function fitsModels({ mime_type, width, height }: ImageFile): boolean {
  return mime_type !== "image/gif" && Math.max(width, height) <= MAX_SIDE;
}

/** The image that bytes are. Undefined if they are none, or not the whole of one. */
export async function readImageFile(bytes: Uint8Array): Promise<ImageFile | undefined> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const file = { bytes, view };
  const image = readPng(file) ?? readJpeg(file) ?? readGif(file) ?? readWebp(file);
  if (image === undefined || image.width === 0 || image.height === 0) return undefined;
  if (image.mime_type === "image/png" && !(await hasAllRows(file))) return undefined;
  return image;
}

interface File {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** Whether bytes of these codes stand at a place. */
function startsWith({ bytes }: File, text: string, at = 0): boolean {
  return Array.from(text).every((char, index) => bytes[at + index] === char.charCodeAt(0));
}

// --- PNG (ISO 15948) -------------------------------------------------------------------------

const PNG_SIGNATURE = "\x89PNG\r\n\x1a\n";

/** Bytes of a chunk beside its content: length, type, checksum. */
const CHUNK_FRAME = 12;

/** Chunks that are looked at. */
const MAX_CHUNKS = 65_536;

/** The chunks up to IEND. Undefined if one is damaged, or the last is missing. */
function readChunks({
  bytes,
  view,
}: File): readonly { readonly type: string; readonly content: Uint8Array }[] | undefined {
  const chunks: { readonly type: string; readonly content: Uint8Array }[] = [];
  for (let at = PNG_SIGNATURE.length; at + CHUNK_FRAME <= bytes.length && chunks.length < MAX_CHUNKS;) {
    const length = view.getUint32(at);
    const end = at + CHUNK_FRAME + length;
    if (end > bytes.length) return undefined;
    if (checksum(bytes.subarray(at + 4, end - 4)) !== view.getUint32(end - 4)) return undefined;
    const type = new TextDecoder("latin1").decode(bytes.subarray(at + 4, at + 8));
    chunks.push({ type, content: bytes.subarray(at + 8, end - 4) });
    if (type === "IEND") return chunks;
    at = end;
  }
  return undefined;
}

/** Bytes of IHDR. */
const HEADER_SIZE = 13;

function readPng(file: File): ImageFile | undefined {
  // Width and height stand behind the signature, and the length and type of IHDR.
  if (!startsWith(file, PNG_SIGNATURE) || !startsWith(file, "IHDR", 12) || file.bytes.length < 24) return undefined;
  return { mime_type: "image/png", width: file.view.getUint32(16), height: file.view.getUint32(20) };
}

/** Samples of a pixel, by colour type. */
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** First column and row of each pass of Adam7, and the steps to the next. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** Bytes of the rows that a PNG needs. Undefined if its header is none. */
function countRowBytes(header: Uint8Array): number | undefined {
  if (header.length !== HEADER_SIZE) return undefined;
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  const [width, height] = [view.getUint32(0), view.getUint32(4)];
  const [depth = 0, colour = 0, , , interlaced = 0] = header.subarray(8);
  const samples = SAMPLES[colour];
  if (samples === undefined || ![1, 2, 4, 8, 16].includes(depth)) return undefined;
  // Each row has a byte that tells its filter.
  const count = (across: number, down: number): number =>
    across === 0 ? 0 : down * (1 + Math.ceil((across * samples * depth) / 8));
  if (interlaced === 0) return count(width, height);
  return PASSES.reduce((sum, [x, y, right, below]) => {
    return sum + count(Math.max(0, Math.ceil((width - x) / right)), Math.max(0, Math.ceil((height - y) / below)));
  }, 0);
}

/** Bytes of rows that are counted: what has more has too many pixels for any model. */
const MAX_ROW_BYTES = 512 * 1024 * 1024;

/** Whether all rows of a PNG are there. */
async function hasAllRows(file: File): Promise<boolean> {
  const chunks = readChunks(file);
  const [header] = chunks ?? [];
  const wanted = header && countRowBytes(header.content);
  if (chunks === undefined || wanted === undefined || wanted > MAX_ROW_BYTES) return false;
  const data = chunks.filter(({ type }) => type === "IDAT").map(({ content }) => Uint8Array.from(content));
  const rows = new Blob(data).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  try {
    for (let count = 0; count < wanted;) {
      const { done, value } = await rows.read();
      if (done) return false;
      count += value.length;
    }
    return true;
  } catch {
    return false;
  } finally {
    await rows.cancel().catch(() => undefined);
  }
}

let checksums: Uint32Array | undefined;

/** CRC-32 (ISO 3309). */
function checksum(bytes: Uint8Array): number {
  checksums ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value & 1) === 0 ? value >>> 1 : (value >>> 1) ^ 0xedb88320;
    return value;
  });
  let value = 0xffffffff;
  for (const byte of bytes) value = (checksums[(value ^ byte) & 0xff] as number) ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

// --- JPEG (ITU-T T.81, annex B) ------------------------------------------------------------------

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

function readJpeg(file: File): ImageFile | undefined {
  const { bytes, view } = file;
  if (!startsWith(file, "\xff\xd8\xff")) return undefined;
  const headers = readJpegHeaders(bytes);
  if (headers === undefined) return undefined;
  let hasScan = false;
  for (let at = 2; at + 2 <= bytes.length;) {
    if (bytes[at] !== 0xff) {
      // Between segments there is nothing else.
      if (!hasScan) return undefined;
      at = bytes.indexOf(0xff, at);
      if (at < 0) return undefined;
      continue;
    }
    const marker = bytes[at + 1] as number;
    if (marker === END_OF_IMAGE) {
      return hasScan ? { mime_type: "image/jpeg", width: headers.width, height: headers.height } : undefined;
    }
    // Fill bytes, stuffed bytes and restarts have no length.
    if (marker === 0xff) at += 1;
    else if (marker === 0 || (marker >= 0xd0 && marker <= 0xd7)) at += 2;
    else if (at + 4 > bytes.length) return undefined;
    else {
      hasScan = hasScan || marker === START_OF_SCAN;
      at += 2 + view.getUint16(at + 2);
    }
  }
  return undefined;
}

// --- GIF (GIF89a) --------------------------------------------------------------------------------

/** Bytes of the table of colours that flags tell of. */
function countColours(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

function readGif(file: File): ImageFile | undefined {
  const { bytes, view } = file;
  if (!(startsWith(file, "GIF87a") || startsWith(file, "GIF89a")) || bytes.length < 13) return undefined;
  const size = { mime_type: "image/gif", width: view.getUint16(6, true), height: view.getUint16(8, true) } as const;
  /** The place behind blocks of data, the last of which is empty. */
  const skipBlocks = (start: number): number => {
    let at = start;
    while (at < bytes.length && bytes[at] !== 0) at += 1 + (bytes[at] as number);
    return at + 1;
  };
  let hasImage = false;
  for (let at = 13 + countColours(bytes[10] as number); at < bytes.length;) {
    const kind = bytes[at];
    if (kind === 0x3b) return hasImage ? size : undefined;
    if (kind === 0x21) at = skipBlocks(at + 2);
    else if (kind === 0x2c && at + 11 < bytes.length) {
      hasImage = true;
      at = skipBlocks(at + 11 + countColours(bytes[at + 9] as number));
    } else return undefined;
  }
  return undefined;
}

// --- WebP (RFC 9649) -----------------------------------------------------------------------------

function readWebp(file: File): ImageFile | undefined {
  const { bytes, view } = file;
  if (!startsWith(file, "RIFF") || !startsWith(file, "WEBP", 8) || bytes.length < 30) return undefined;
  const end = 8 + view.getUint32(4, true);
  if (end > bytes.length + 1) return undefined;
  let size: Pick<ImageFile, "width" | "height"> | undefined;
  let hasImage = false;
  for (let at = 12; at + 8 <= Math.min(end, bytes.length);) {
    const length = view.getUint32(at + 4, true);
    const content = at + 8;
    if (content + length > bytes.length) return undefined;
    if (startsWith(file, "VP8X", at) && length >= 10) {
      size = { width: 1 + readUint24(view, content + 4), height: 1 + readUint24(view, content + 7) };
    } else if (startsWith(file, "VP8L", at) && length >= 5) {
      const bits = view.getUint32(content + 1, true);
      size ??= { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
      hasImage = true;
    } else if (startsWith(file, "VP8 ", at) && length >= 10) {
      size ??= {
        width: view.getUint16(content + 6, true) & 0x3fff,
        height: view.getUint16(content + 8, true) & 0x3fff,
      };
      hasImage = true;
    } else if (startsWith(file, "ANMF", at)) hasImage = true;
    at = content + length + (length % 2);
  }
  return hasImage && size !== undefined ? { mime_type: "image/webp", ...size } : undefined;
}

function readUint24(view: DataView, at: number): number {
  return view.getUint16(at, true) + view.getUint8(at + 2) * 65_536;
}
