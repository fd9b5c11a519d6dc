/**
 * JPEGs with colours that are not sRGB, as print shops and cameras write them: their headers, and a PDF of one page that shows them,
 * since PDFium knows their colours.
 * @module
 */
import { joinBytes } from "../artifacts/bytes.js";

/** What the headers of a JPEG say (ITU-T T.81, annex B). */
export interface JpegHeaders {
  readonly width: number;
  readonly height: number;
  /** Colours of a pixel: 1, 3, or 4 for CMYK. */
  readonly components: number;
  /** Whether Adobe's segment is there: CMYK is then inverted. */
  readonly isAdobe: boolean;
  /** The ICC profile, or undefined (ICC.1, annex B.4). That of sRGB counts as none: it changes nothing. */
  readonly profile: Uint8Array | undefined;
}

const START_OF_SCAN = 0xda;
const APP2 = 0xe2;
const APP14 = 0xee;
const ICC = "ICC_PROFILE\0";

/** Segments that are looked at. */
const MAX_SEGMENTS = 4096;

/** Reads the headers. Undefined if it is no JPEG, or ends within them. */
export function readJpegHeaders(bytes: Uint8Array): JpegHeaders | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const profile: Uint8Array[] = [];
  let isAdobe = false;
  let frame: Pick<JpegHeaders, "width" | "height" | "components"> | undefined;
  // FF D8, then segments: FF, marker, two bytes of length, content.
  let at = 2;
  for (let count = 0; count < MAX_SEGMENTS && at + 4 <= bytes.length && bytes[at] === 0xff; count += 1) {
    const marker = bytes[at + 1] as number;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const end = at + 2 + view.getUint16(at + 2);
    if (marker === START_OF_SCAN || end > bytes.length) break;
    const content = bytes.subarray(at + 4, end);
    if (isFrame(marker) && content.length >= 6) {
      frame = { height: view.getUint16(at + 5), width: view.getUint16(at + 7), components: bytes[at + 9] as number };
    }
    if (marker === APP14) isAdobe = isAdobe || startsWith(content, "Adobe");
    // Behind the name: the number of this part, and how many there are. They come in order.
    if (marker === APP2 && startsWith(content, ICC)) profile.push(content.subarray(ICC.length + 2));
    at = end;
  }
  const whole = joinBytes(profile);
  return frame && { ...frame, isAdobe, profile: whole.length === 0 || isSrgb(whole) ? undefined : whole };
}

/** Bytes of a profile that are searched for its name. */
const NAMED_WITHIN = 4096;

/** Whether a profile calls itself sRGB, in ASCII or UTF-16. */
function isSrgb(profile: Uint8Array): boolean {
  return new TextDecoder("latin1").decode(profile.subarray(0, NAMED_WITHIN)).replaceAll("\0", "").includes("sRGB");
}

/** Start of a frame: C0 to CF without DHT, JPG and DAC. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return new TextDecoder("latin1").decode(bytes.subarray(0, text.length)) === text;
}

/** How an image is laid on its page by its orientation (EXIF 2.32, tag 274), as a matrix of a unit square. */
const ORIENTATIONS: Readonly<Record<number, string>> = {
  1: "1 0 0 1 0 0",
  2: "-1 0 0 1 1 0",
  3: "-1 0 0 -1 1 1",
  4: "1 0 0 -1 0 1",
  5: "0 -1 -1 0 1 1",
  6: "0 -1 1 0 0 1",
  7: "0 1 1 0 0 0",
  8: "0 1 -1 0 1 0",
};

/** A PDF of one page of as many points as the image has pixels (ISO 32000-1). */
export function wrapJpeg(
  bytes: Uint8Array,
  { width, height, components, isAdobe, profile }: JpegHeaders,
  orientation = 1,
): Uint8Array {
  const isTurned = orientation >= 5 && orientation <= 8;
  const [pageWidth, pageHeight] = isTurned ? [height, width] : [width, height];
  const device = { 1: "/DeviceGray", 4: "/DeviceCMYK" }[components] ?? "/DeviceRGB";
  const decode = components === 4 && isAdobe ? " /Decode [1 0 1 0 1 0 1 0]" : "";
  const space = profile === undefined ? device : "[/ICCBased 6 0 R]";
  const content = `${pageWidth} 0 0 ${pageHeight} 0 0 cm ${ORIENTATIONS[orientation] ?? ORIENTATIONS[1]} cm /I Do`;
  const image = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 8 /ColorSpace ${space}${decode}`;
  const objects: readonly (readonly (string | Uint8Array)[])[] = [
    ["<< /Type /Catalog /Pages 2 0 R >>"],
    ["<< /Type /Pages /Kids [3 0 R] /Count 1 >>"],
    [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${pageWidth} ${pageHeight}] /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >> >>`,
    ],
    [`<< /Length ${content.length} >>\nstream\n${content}\nendstream`],
    [`<< ${image} /Filter /DCTDecode /Length ${bytes.length} >>\nstream\n`, bytes, "\nendstream"],
    profile === undefined
      ? ["null"]
      : [`<< /N ${components} /Alternate ${device} /Length ${profile.length} >>\nstream\n`, profile, "\nendstream"],
  ];
  const pieces: Uint8Array[] = [];
  let length = 0;
  const add = (piece: string | Uint8Array): void => {
    const encoded = typeof piece === "string" ? new TextEncoder().encode(piece) : piece;
    pieces.push(encoded);
    length += encoded.length;
  };
  add("%PDF-1.4\n");
  const offsets = objects.map((object, at) => {
    const offset = length;
    add(`${at + 1} 0 obj\n`);
    for (const piece of object) add(piece);
    add("\nendobj\n");
    return offset;
  });
  const start = length;
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  add(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`);
  add(`trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
  return joinBytes(pieces);
}
