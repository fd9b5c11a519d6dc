/**
 * An image as a PDF of one page, since PDFium knows colours that no screen has.
 * @module
 */
import { joinBytes } from "../artifacts/bytes.js";

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

/** An image as a PDF holds it. */
export interface WrappedImage {
  readonly width: number;
  readonly height: number;
  /** Colours of a pixel: 1, 3, or 4 for CMYK. */
  readonly components: number;
  /** Whether 0 stands for full ink, as in Adobe's CMYK. Defaults to false. */
  readonly isInverted?: boolean;
  /** The ICC profile of its colours, if they are not those of a screen. */
  readonly profile: Uint8Array | undefined;
  /** As EXIF counts. Defaults to 1, upright. */
  readonly orientation?: number;
  /** A whole JPEG; else a byte for each colour of each pixel, row by row. */
  readonly isJpeg: boolean;
}

/** A PDF of one page of as many points as the image has pixels (ISO 32000-1). */
export function wrapImage(
  bytes: Uint8Array,
  { width, height, components, isInverted = false, profile, orientation = 1, isJpeg }: WrappedImage,
): Uint8Array {
  const isTurned = orientation >= 5 && orientation <= 8;
  const [pageWidth, pageHeight] = isTurned ? [height, width] : [width, height];
  const device = { 1: "/DeviceGray", 4: "/DeviceCMYK" }[components] ?? "/DeviceRGB";
  const decode = isInverted ? " /Decode [1 0 1 0 1 0 1 0]" : "";
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
    [`<< ${image}${isJpeg ? " /Filter /DCTDecode" : ""} /Length ${bytes.length} >>\nstream\n`, bytes, "\nendstream"],
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
