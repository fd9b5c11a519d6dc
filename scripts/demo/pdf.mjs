/**
 * A PDF written by hand (ISO 32000-1): pages with a heading, a bar chart and a grainy picture.
 * @module
 */
import { deflateSync } from "node:zlib";
import { grainyPixels } from "./png.mjs";

/** Pixels of the picture on each page. */
const WIDTH = 300;
const HEIGHT = 174;

/**
 * @param {{ title?: string, pages?: number, seed?: number, packed?: boolean }} [options] `title` in ASCII;
 *   `packed: false` leaves deflate out, so that the bytes are the same with every zlib
 * @returns {Buffer} a valid PDF 1.4; about 115 KB a page
 */
export function makePdf({ title = "Sales Dashboard", pages = 3, seed = 1, packed = true } = {}) {
  const catalog = 1;
  const tree = 2;
  const font = 3;
  const info = 4;
  const firstPage = 5; // then three objects a page: page, content, picture
  const kids = Array.from({ length: pages }, (_, i) => `${firstPage + i * 3} 0 R`);
  const objects = [
    dictionary(`/Type /Catalog /Pages ${tree} 0 R`),
    dictionary(`/Type /Pages /Count ${pages} /Kids [${kids.join(" ")}]`),
    dictionary("/Type /Font /Subtype /Type1 /BaseFont /Helvetica"),
    dictionary(`/Title ${literal(title)} /Producer (Sluice demo)`),
    ...kids.flatMap((_, i) => page(firstPage + i * 3, tree, font, `${title}, page ${i + 1}`, seed + i, packed)),
  ];
  return assemble(objects, catalog, info);
}

function page(number, tree, font, heading, seed, packed) {
  const resources = `<< /Font << /F1 ${font} 0 R >> /XObject << /Im1 ${number + 2} 0 R >> >>`;
  const image = `/Type /XObject /Subtype /Image /Width ${WIDTH} /Height ${HEIGHT} /ColorSpace /DeviceRGB /BitsPerComponent 8`;
  return [
    dictionary(
      `/Type /Page /Parent ${tree} 0 R /MediaBox [0 0 595 842] /Resources ${resources} /Contents ${number + 1} 0 R`,
    ),
    stream("", Buffer.from(drawing(heading, seed), "latin1"), packed),
    stream(image, grainyPixels(WIDTH, HEIGHT, seed), packed),
  ];
}

// Points from the lower left corner: heading on top, seven bars, the picture below.
function drawing(heading, seed) {
  const bars = Array.from({ length: 7 }, (_, i) => `${60 + i * 70} 480 48 ${80 + ((seed * 37 + i * 53) % 150)} re f`);
  return [
    `BT /F1 24 Tf 60 770 Td ${literal(heading)} Tj ET`,
    "0.2 0.4 0.7 rg",
    ...bars,
    "q 475 0 0 275 60 150 cm /Im1 Do Q",
  ].join("\n");
}

const dictionary = (entries) => Buffer.from(`<< ${entries} >>`, "latin1");
const literal = (text) => `(${text.replace(/[\\()]/g, "\\$&")})`;

function stream(entries, data, packed) {
  const body = packed ? deflateSync(data) : data;
  const head = `<< ${entries} ${packed ? "/Filter /FlateDecode " : ""}/Length ${body.length} >>\nstream\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), body, Buffer.from("\nendstream", "latin1")]);
}

// Header, numbered objects, a table of their offsets, a trailer that points at the table.
function assemble(objects, catalog, info) {
  const parts = [Buffer.from("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "latin1")];
  let length = parts[0].length;
  const offsets = objects.map((body, i) => {
    const offset = length;
    const object = Buffer.concat([Buffer.from(`${i + 1} 0 obj\n`), body, Buffer.from("\nendobj\n")]);
    parts.push(object);
    length += object.length;
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`);
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries.join("")}`;
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root ${catalog} 0 R /Info ${info} 0 R >>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(table + trailer, "latin1")]);
}
