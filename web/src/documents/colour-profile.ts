/**
 * ICC profiles that PNG and WebP carry: a screenshot of a Mac has the colours of its screen, and looks pale where they are taken for sRGB.
 * @module
 */

/** Most bytes of a profile. Those of screens and printers have up to about 3 MB. */
const MAX_PROFILE = 4 * 1024 ** 2;

/** Chunks that are looked at. */
const MAX_CHUNKS = 64;

/** The ICC profile of a PNG or WebP. Undefined if there is none for red, green and blue, or it changes nothing. */
export async function readColourProfile(bytes: Uint8Array, type: string): Promise<Uint8Array | undefined> {
  const profile = type === "png" ? await readPngProfile(bytes) : type === "webp" ? readWebpProfile(bytes) : undefined;
  return profile === undefined || !isForRgb(profile) || isSrgb(profile) ? undefined : profile;
}

/** Whether a profile is about red, green and blue, which pixels here have (ICC.1, 7.2.6). */
function isForRgb(profile: Uint8Array): boolean {
  return toLatin1(profile.subarray(16, 20)) === "RGB ";
}

/** Bytes of a profile that are searched for its name. */
const NAMED_WITHIN = 4096;

/** Whether a profile calls itself sRGB, in ASCII or UTF-16. */
export function isSrgb(profile: Uint8Array): boolean {
  return toLatin1(profile.subarray(0, NAMED_WITHIN)).replaceAll("\0", "").includes("sRGB");
}

/** The chunk iCCP: a name, NUL, the method 0, and the profile by zlib (PNG 1.2, 11.3.3.3). It stands before the first IDAT. */
async function readPngProfile(bytes: Uint8Array): Promise<Uint8Array | undefined> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // A signature of eight bytes; then chunks: size, name, content, four bytes of a sum.
  for (let at = 8, count = 0; count < MAX_CHUNKS && at + 12 <= bytes.length; count += 1) {
    const size = view.getUint32(at);
    const name = toLatin1(bytes.subarray(at + 4, at + 8));
    const content = bytes.subarray(at + 8, at + 8 + size);
    if (name === "IDAT" || content.length < size) return undefined;
    const end = content.indexOf(0);
    if (name === "iCCP" && end > 0 && content[end + 1] === 0) return inflate(content.subarray(end + 2));
    at += 12 + size;
  }
  return undefined;
}

/** The chunk ICCP, behind the header VP8X (RFC 9649, 2.7.1.4). */
function readWebpProfile(bytes: Uint8Array): Uint8Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // RIFF, size, WEBP; then chunks: name, size, content, padded to an even length.
  for (let at = 12, count = 0; count < MAX_CHUNKS && at + 8 <= bytes.length; count += 1) {
    const size = view.getUint32(at + 4, true);
    const content = bytes.subarray(at + 8, at + 8 + size);
    if (toLatin1(bytes.subarray(at, at + 4)) === "ICCP") {
      return content.length < size || size > MAX_PROFILE ? undefined : content;
    }
    at += 8 + size + (size % 2);
  }
  return undefined;
}

/** Undefined for bytes that are damaged, or are too many once inflated. */
async function inflate(bytes: Uint8Array): Promise<Uint8Array | undefined> {
  const inflated = new Uint8Array(MAX_PROFILE);
  let length = 0;
  try {
    const stream = new Blob([Uint8Array.from(bytes)]).stream().pipeThrough(new DecompressionStream("deflate"));
    for await (const part of stream) {
      if (length + part.length > MAX_PROFILE) return undefined;
      inflated.set(part, length);
      length += part.length;
    }
  } catch {
    return undefined;
  }
  return inflated.subarray(0, length);
}

function toLatin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
