/**
 * A PDF written by hand (ISO 32000-1): pages with a drawing and a picture, nothing compressed.
 * @module
 */
import type { Picture } from "./picture.js";

/** A4, in points. */
export const PAGE = { width: 595, height: 842 } as const;

/** One page. */
export interface PdfPage {
  /** Operators that draw, with the fonts /F1 (Helvetica) and /F2 (bold) and the picture /Im1. */
  readonly drawing: string;
  /** What /Im1 is. */
  readonly picture: Picture;
}

const CATALOG = 1;
const TREE = 2;
const INFO = 3;
const FONTS = [4, 5] as const;
/** From here on three objects a page: the page, its drawing, its picture. */
const FIRST_PAGE = 6;

/** A PDF 1.4. `title` and the drawings' texts are Latin-1. */
export function pdf(title: string, pages: readonly PdfPage[]): Uint8Array<ArrayBuffer> {
  const kids = pages.map((_, i) => `${FIRST_PAGE + i * 3} 0 R`);
  return assembled([
    [`<< /Type /Catalog /Pages ${TREE} 0 R /Lang (en) >>`],
    [`<< /Type /Pages /Count ${pages.length} /Kids [${kids.join(" ")}] >>`],
    [`<< /Title ${literal(title)} /Producer (Sluice demo) >>`],
    ...["Helvetica", "Helvetica-Bold"].map((name): Body => [
      `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`,
    ]),
    ...pages.flatMap((page, i) => pageObjects(page, FIRST_PAGE + i * 3)),
  ]);
}

/** A text as PDF writes it. */
export function literal(text: string): string {
  return `(${text.replace(/[\\()]/g, "\\$&")})`;
}

type Body = readonly (string | Uint8Array)[];

function pageObjects({ drawing, picture }: PdfPage, number: number): Body[] {
  const fonts = FONTS.map((font, i) => `/F${i + 1} ${font} 0 R`).join(" ");
  const resources = `<< /Font << ${fonts} >> /XObject << /Im1 ${number + 2} 0 R >> >>`;
  const box = `[0 0 ${PAGE.width} ${PAGE.height}]`;
  const image = `/Type /XObject /Subtype /Image /Width ${picture.width} /Height ${picture.height}`;
  return [
    [`<< /Type /Page /Parent ${TREE} 0 R /MediaBox ${box} /Resources ${resources} /Contents ${number + 1} 0 R >>`],
    stream("", bytesOf(drawing)),
    stream(`${image} /ColorSpace /DeviceRGB /BitsPerComponent 8`, picture.rgb),
  ];
}

function stream(entries: string, data: Uint8Array): Body {
  return [`<< ${entries} /Length ${data.length} >>\nstream\n`, data, "\nendstream"];
}

/** Header, numbered objects, a table of their offsets, a trailer that points at the table. */
function assembled(objects: readonly Body[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const write = (part: string | Uint8Array): void => {
    const bytes = typeof part === "string" ? bytesOf(part) : part;
    parts.push(bytes);
    length += bytes.length;
  };
  write("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n");
  const offsets = objects.map((body, i) => {
    const offset = length;
    for (const part of [`${i + 1} 0 obj\n`, ...body, "\nendobj\n"]) write(part);
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${entries}`;
  write(`${table}trailer\n<< /Size ${size} /Root ${CATALOG} 0 R /Info ${INFO} 0 R >>\nstartxref\n${length}\n%%EOF\n`);
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function bytesOf(latin1: string): Uint8Array {
  return Uint8Array.from(latin1, (character) => character.charCodeAt(0));
}
