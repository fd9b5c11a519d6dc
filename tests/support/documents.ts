/**
 * Small office documents, written the way the programs write them: Word, Excel, PowerPoint, Google's and LibreOffice.
 * @module
 */
import { deflateRawSync } from "node:zlib";
import { downloadZip } from "client-zip";
import type { Converted, DocumentFacts } from "../../web/src/documents/document.js";

/**
 * Reads a file that is cut, and changed, at each `step` bytes from `from` on: how that ends, if not in rows or a coded error.
 */
export async function findFaults(
  read: (bytes: Uint8Array) => Promise<unknown>,
  bytes: Uint8Array,
  { from, step }: { readonly from: number; readonly step: number },
): Promise<string[]> {
  const faults: string[] = [];
  for (let at = from; at < bytes.length; at += step) {
    const changed = bytes.slice();
    changed[at] = (changed[at] as number) ^ 0xff;
    for (const broken of [bytes.slice(0, at), changed]) {
      const outcome = await read(broken).then(
        () => "rows",
        (error: { code?: string }) => error.code ?? "an error without a code",
      );
      if (!["rows", "E_DOCUMENT", "E_INVALID_ARGUMENT", "E_TOO_LARGE"].includes(outcome))
        faults.push(`${at}: ${outcome}`);
    }
  }
  return faults;
}

/** The parts of a package, by name. */
export type Parts = Readonly<Record<string, string | Uint8Array>>;

/** Parts as a ZIP, stored as client-zip does. */
export async function zipped(parts: Parts): Promise<Uint8Array> {
  const files = Object.entries(parts).map(([name, input]) => ({ name, input, lastModified: new Date(2026, 0, 1) }));
  return new Uint8Array(await downloadZip(files).arrayBuffer());
}

/** What a ZIP's directory and its entries may say that is not so. */
export interface RawEntry {
  readonly name: string;
  readonly data: Uint8Array;
  /** Says that it is encrypted. */
  readonly isEncrypted?: boolean;
  /** The size that is said, in place of the real one. */
  readonly saidSize?: number;
  /** Index of an entry whose bytes this one has too. */
  readonly over?: number;
}

const TABLE = Int32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xed_b8_83_20 : value >>> 1;
  return value;
});

function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) crc = (crc >>> 8) ^ (TABLE[(crc ^ byte) & 0xff] as number);
  return (crc ^ -1) >>> 0;
}

/** A ZIP byte by byte, deflated, that may lie: no writer makes these. */
export function rawZip(entries: readonly RawEntry[]): Uint8Array {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  const offsets: number[] = [];
  let at = 0;
  for (const { name, data, isEncrypted, saidSize, over } of entries) {
    const path = Buffer.from(name);
    const packed = deflateRawSync(data);
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04_03_4b_50, 0);
    header.writeUInt16LE(20, 4);
    header.writeUInt16LE(isEncrypted === true ? 0x801 : 0x800, 6);
    header.writeUInt16LE(8, 8);
    header.writeUInt32LE(0x5a_21_00_00, 10);
    header.writeUInt32LE(crc32(data), 14);
    header.writeUInt32LE(packed.length, 18);
    header.writeUInt32LE(saidSize ?? data.length, 22);
    header.writeUInt16LE(path.length, 26);
    const start = over === undefined ? at : (offsets[over] as number);
    offsets.push(start);
    if (over === undefined) {
      pieces.push(header, path, packed);
      at += 30 + path.length + packed.length;
    }
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02_01_4b_50, 0);
    entry.writeUInt16LE(20, 4);
    header.copy(entry, 6, 4, 30);
    entry.writeUInt32LE(start, 42);
    directory.push(entry, path);
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06_05_4b_50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(at, 16);
  return new Uint8Array(Buffer.concat([...pieces, listed, end]));
}

/** A document that was converted, all of it. */
export interface Read {
  readonly text: string;
  readonly facts: DocumentFacts;
}

/** Reads a document to its end. */
export async function readAll(document: Converted | Promise<Converted>): Promise<Read> {
  const { text, facts } = await document;
  let all = "";
  for await (const piece of text) all += piece;
  return { text: all, facts: facts() };
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/** A part of relationships: id, type and target; targets with a scheme are external. */
export function rels(...of: readonly (readonly [id: string, type: string, target: string])[]): string {
  const all = of.map(([id, type, target]) => {
    const mode = /^[a-z]+:/i.test(target) ? ' TargetMode="External"' : "";
    return `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"${mode}/>`;
  });
  return `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${all.join("")}</Relationships>`;
}

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

/** A document of Word with this body. */
export function word(body: string, more: Parts = {}): Promise<Uint8Array> {
  return zipped(wordParts(body, more));
}

export function wordParts(body: string, more: Parts = {}): Parts {
  return {
    "[Content_Types].xml": `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    "_rels/.rels": rels(["rId1", "officeDocument", "word/document.xml"]),
    "word/document.xml": `${XML}<w:document ${W} xmlns:r="${OFFICE}"><w:body>${body}<w:sectPr><w:pgSz w:w="11906"/></w:sectPr></w:body></w:document>`,
    ...more,
  };
}

/** A part of Word of another kind: `styles`, `footnotes`. */
export function wordPart(root: string, content: string): string {
  return `${XML}<w:${root} ${W}>${content}</w:${root}>`;
}

/** A paragraph of one run, with a style. */
export function paragraph(text: string, style?: string, properties = ""): string {
  const styled = style === undefined ? "" : `<w:pStyle w:val="${style}"/>`;
  return `<w:p><w:pPr>${styled}${properties}</w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}

/** A sheet: its name, what is in `<worksheet>`, and its state. */
export type Sheet = readonly [name: string, content: string, state?: string];

/** What a workbook has beside its sheets. */
export interface BookParts {
  readonly shared?: readonly string[];
  readonly styles?: string;
  readonly is1904?: boolean;
  readonly more?: Parts;
}

export function workbook(sheets: readonly Sheet[], others: BookParts = {}): Promise<Uint8Array> {
  return zipped(workbookParts(sheets, others));
}

export function workbookParts(sheets: readonly Sheet[], { shared, styles, is1904, more }: BookParts = {}): Parts {
  const NS = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`;
  const listed = sheets.map(
    ([name, , state], index) =>
      `<sheet name="${name}" sheetId="${index + 1}"${state === undefined ? "" : ` state="${state}"`} r:id="rId${index + 1}"/>`,
  );
  return {
    "_rels/.rels": rels(["rId1", "officeDocument", "xl/workbook.xml"]),
    "xl/workbook.xml": `${XML}<workbook ${NS} xmlns:r="${OFFICE}"><workbookPr${is1904 === true ? ' date1904="1"' : ""}/><sheets>${listed.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": rels(
      ...sheets.map((_, index) => [`rId${index + 1}`, "worksheet", `worksheets/sheet${index + 1}.xml`] as const),
      ["rId98", "styles", "styles.xml"],
      ["rId99", "sharedStrings", "/xl/sharedStrings.xml"],
    ),
    ...Object.fromEntries(
      sheets.map(([, content], index) => [
        `xl/worksheets/sheet${index + 1}.xml`,
        `${XML}<worksheet ${NS} xmlns:r="${OFFICE}">${content}</worksheet>`,
      ]),
    ),
    ...(shared !== undefined && {
      "xl/sharedStrings.xml": `${XML}<sst ${NS} count="${shared.length}">${shared.map((each) => `<si>${each}</si>`).join("")}</sst>`,
    }),
    ...(styles !== undefined && { "xl/styles.xml": `${XML}<styleSheet ${NS}>${styles}</styleSheet>` }),
    ...more,
  };
}

/** Text for XML. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

const P = `xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="${OFFICE}"`;

/** A shape of a slide, with a placeholder's type or without, and its paragraphs. */
export function shape(type: string | undefined, ...paragraphs: readonly string[]): string {
  const placeholder = type === undefined ? "" : `<p:ph type="${type}"/>`;
  const all = paragraphs.map((text) =>
    text.startsWith("<") ? text : `<a:p><a:r><a:rPr lang="en"/><a:t>${text}</a:t></a:r></a:p>`,
  );
  return `<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/><p:nvPr>${placeholder}</p:nvPr></p:nvSpPr><p:txBody><a:bodyPr/>${all.join("")}</p:txBody></p:sp>`;
}

/** A presentation that shows these slides in the order given; their files are numbered backwards. */
export function presentation(
  slides: readonly (readonly [shapes: string, notes?: string])[],
  more: Parts = {},
): Promise<Uint8Array> {
  const number = (index: number): number => slides.length - index;
  const parts: Record<string, string | Uint8Array> = {
    "_rels/.rels": rels(["rId1", "officeDocument", "ppt/presentation.xml"]),
    "ppt/presentation.xml": `${XML}<p:presentation ${P}><p:sldIdLst>${slides.map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${number(index)}"/>`).join("")}</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": rels(
      ...slides.map((_, index) => [`rId${number(index)}`, "slide", `slides/slide${number(index)}.xml`] as const),
    ),
  };
  for (const [index, [shapes, notes]] of slides.entries()) {
    const n = number(index);
    parts[`ppt/slides/slide${n}.xml`] = `${XML}<p:sld ${P}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`;
    parts[`ppt/slides/_rels/slide${n}.xml.rels`] = rels(
      ["rId1", "notesSlide", `../notesSlides/notesSlide${n}.xml`],
      ["rId2", "hyperlink", "https://example.com/slide"],
    );
    if (notes !== undefined) {
      const shown = shape("sldImg") + shape("body", notes) + shape("sldNum", "7");
      parts[`ppt/notesSlides/notesSlide${n}.xml`] =
        `${XML}<p:notes ${P}><p:cSld><p:spTree>${shown}</p:spTree></p:cSld></p:notes>`;
    }
  }
  return zipped({ ...parts, ...more });
}

const O = ["office", "text", "table", "style", "draw", "presentation"]
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(" ");

/** An OpenDocument file, whose body is of this kind: text, spreadsheet, presentation. */
export function openDocument(kind: string, body: string, styles = "", more: Parts = {}): Promise<Uint8Array> {
  return zipped({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    "content.xml": `${XML}<office:document-content ${O} xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:svg="x" office:version="1.3"><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    "META-INF/manifest.xml": `${XML}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="content.xml"/></manifest:manifest>`,
    ...more,
  });
}

/** A book of these documents, in this order; their files are named the other way round. */
export function book(documents: readonly string[], more: Parts = {}): Promise<Uint8Array> {
  const ids = documents.map((_, index) => String.fromCharCode(122 - index));
  return zipped({
    mimetype: "application/epub+zip",
    "META-INF/container.xml": `${XML}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
    "OEBPS/content.opf": `${XML}<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A Book</dc:title></metadata><manifest><item id="css" href="a.css" media-type="text/css"/>${ids
      .toReversed()
      .map((id) => `<item id="${id}" href="text/${id}%20x.xhtml" media-type="application/xhtml+xml"/>`)
      .join("")}</manifest><spine>${ids.map((id) => `<itemref idref="${id}"/>`).join("")}</spine></package>`,
    ...Object.fromEntries(documents.map((body, index) => [`OEBPS/text/${ids[index]} x.xhtml`, xhtml(body)])),
    ...more,
  });
}

function xhtml(body: string): string {
  return `${XML}<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a.js"/><link href="a.css"/></head><body>${body}</body></html>`;
}

/** What a chart of these tests has. A series is its name and its values. */
export interface ChartContent {
  readonly title?: string;
  /** The element of its kind: `barChart`, or in OpenDocument its class: `bar`. */
  readonly kind: string;
  readonly direction?: "bar" | "col";
  readonly axes?: readonly string[];
  readonly categories: readonly string[];
  readonly series: readonly (readonly string[])[];
  readonly format?: string;
}

const richTitle = (text: string): string =>
  `<c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>${escaped(text)}</a:t></a:r></a:p></c:rich></c:tx></c:title>`;

function points(values: readonly string[]): string {
  const all = values.map((value, at) => (value === "" ? "" : `<c:pt idx="${at}"><c:v>${escaped(value)}</c:v></c:pt>`));
  return `<c:ptCount val="${values.length}"/>${all.join("")}`;
}

/** A part with a chart of DrawingML, as Excel writes it. */
export function chartPart({ title, kind, direction, axes = [], categories, series, format }: ChartContent): string {
  const all = series.map(
    ([name = "", ...values], at) =>
      `<c:ser><c:idx val="${at}"/><c:tx><c:strRef><c:f>S!$B$1</c:f><c:strCache>${points([name])}</c:strCache></c:strRef></c:tx>` +
      `<c:cat><c:strRef><c:f>S!$A$2</c:f><c:strCache>${points(categories)}</c:strCache></c:strRef></c:cat>` +
      `<c:val><c:numRef><c:f>S!$B$2</c:f><c:numCache><c:formatCode>${format ?? "General"}</c:formatCode>${points(values)}</c:numCache></c:numRef></c:val></c:ser>`,
  );
  const bars = kind.startsWith("bar") ? `<c:barDir val="${direction ?? "col"}"/>` : "";
  const ends = axes.map(
    (axis, at) => `<c:${at === 0 ? "cat" : "val"}Ax>${richTitle(axis)}</c:${at === 0 ? "cat" : "val"}Ax>`,
  );
  return (
    `${XML}<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart>` +
    `${title === undefined ? "" : richTitle(title)}<c:plotArea><c:${kind}>${bars}${all.join("")}</c:${kind}>${ends.join("")}</c:plotArea></c:chart></c:chartSpace>`
  );
}

const openCell = (text: string): string => `<table:table-cell><text:p>${escaped(text)}</text:p></table:table-cell>`;
const openTitle = (text: string): string => `<chart:title><text:p>${escaped(text)}</text:p></chart:title>`;
const openColumn = (at: number): string => `$${String.fromCharCode(66 + at)}`;

/** The `content.xml` of a chart of OpenDocument, as LibreOffice writes it. */
export function openChart({ title, kind, axes = [], categories, series }: ChartContent): string {
  const all = series.map(
    (_, at) =>
      `<chart:series chart:values-cell-range-address="local-table.${openColumn(at)}$2:.${openColumn(at)}$9" chart:label-cell-address="local-table.${openColumn(at)}$1" chart:class="chart:${kind}"/>`,
  );
  const rows = categories.map(
    (category, at) =>
      `<table:table-row>${openCell(category)}${series.map((values) => openCell(values[at + 1] ?? "")).join("")}</table:table-row>`,
  );
  return (
    `${XML}<office:document-content><office:automatic-styles/><office:body><office:chart><chart:chart chart:class="chart:${kind}">` +
    `${title === undefined ? "" : openTitle(title)}<chart:plot-area>${axes.map((axis) => `<chart:axis>${openTitle(axis)}</chart:axis>`).join("")}${all.join("")}</chart:plot-area>` +
    `<table:table table:name="local-table"><table:table-header-rows><table:table-row><table:table-cell/>${series.map(([name = ""]) => openCell(name)).join("")}</table:table-row></table:table-header-rows><table:table-rows>${rows.join("")}</table:table-rows></table:table></chart:chart></office:chart></office:body></office:document-content>`
  );
}

/** A part with a diagram: a plan of two steps. */
export const DIAGRAM: string = `${XML}<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"><dgm:ptLst><dgm:pt modelId="0" type="doc"/>${[
  ["3", "Test"],
  ["1", "Plan"],
  ["2", "Build"],
]
  .map(
    ([id, text]) =>
      `<dgm:pt modelId="${id}"><dgm:t><a:bodyPr/><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:t></dgm:pt>`,
  )
  .join(
    "",
  )}<dgm:pt modelId="9" type="sibTrans"><dgm:t><a:p><a:r><a:t>no</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst><dgm:cxnLst><dgm:cxn srcId="0" destId="1" srcOrd="0"/><dgm:cxn srcId="1" destId="3" srcOrd="1"/><dgm:cxn srcId="1" destId="2" srcOrd="0"/></dgm:cxnLst></dgm:dataModel>`;
