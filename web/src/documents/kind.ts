/**
 * Which kinds of documents are read, and how to tell them.
 * @module
 */
import type { DocumentForm } from "./document.js";

/** A kind of document, named for what it holds. */
export type DocumentKind =
  | "pdf"
  | "word"
  | "workbook"
  | "presentation"
  | "opendocument-text"
  | "opendocument-sheet"
  | "opendocument-slides"
  | "book"
  | "html"
  | "image"
  | "parquet"
  | "arrow"
  | "avro"
  | "npy"
  | "netcdf"
  | "fits"
  | "mail"
  | "archive";

interface Row {
  readonly kind: DocumentKind;
  /** What a person calls it. */
  readonly name: string;
  readonly types: RegExp;
  readonly names: RegExp;
  /** What is made of it; the first one is what it is read as. */
  readonly forms: readonly DocumentForm[];
  /** What of its rows are read alone, with the argument `sheet`. Left out for workbooks, which have sheets. */
  readonly part?: string;
}

const OFFICE = "application/vnd\\.openxmlformats-officedocument\\.";
const OPEN = "application/vnd\\.oasis\\.opendocument\\.";

const ROWS: readonly Row[] = [
  { kind: "pdf", name: "PDF", types: /^application\/pdf$/, names: /\.pdf$/, forms: ["text"] },
  {
    kind: "word",
    name: "Word document",
    types: new RegExp(`^(?:${OFFICE}wordprocessingml\\.|application/vnd\\.ms-word\\.document\\.macroenabled)`),
    names: /\.(?:docx|docm|dotx)$/,
    forms: ["text", "links"],
  },
  {
    kind: "workbook",
    name: "workbook",
    types: new RegExp(`^(?:${OFFICE}spreadsheetml\\.|application/vnd\\.ms-excel\\.sheet\\.macroenabled)`),
    names: /\.(?:xlsx|xlsm|xltx)$/,
    forms: ["text", "cells", "values"],
  },
  {
    kind: "presentation",
    name: "presentation",
    types: new RegExp(`^(?:${OFFICE}presentationml\\.|application/vnd\\.ms-powerpoint\\.presentation\\.macroenabled)`),
    names: /\.(?:pptx|pptm|ppsx|potx)$/,
    forms: ["text", "links"],
  },
  {
    kind: "opendocument-text",
    name: "OpenDocument text",
    types: new RegExp(`^${OPEN}text`),
    names: /\.(?:odt|ott)$/,
    forms: ["text", "links"],
  },
  {
    kind: "opendocument-sheet",
    name: "OpenDocument workbook",
    types: new RegExp(`^${OPEN}spreadsheet`),
    names: /\.(?:ods|ots)$/,
    forms: ["text", "cells", "values"],
  },
  {
    kind: "opendocument-slides",
    name: "OpenDocument presentation",
    types: new RegExp(`^${OPEN}presentation`),
    names: /\.(?:odp|otp)$/,
    forms: ["text", "links"],
  },
  { kind: "book", name: "EPUB", types: /^application\/epub\+zip$/, names: /\.epub$/, forms: ["text", "links"] },
  {
    kind: "html",
    name: "HTML",
    types: /^(?:text\/html|application\/xhtml\+xml)$/,
    names: /\.x?html?$/,
    forms: ["text", "links", "rows"],
  },
  {
    kind: "image",
    name: "image",
    // Others, such as HEIC, Photoshop and JPEG 2000, are decoded neither here nor by browsers.
    types: /^image\/(?:a?png|p?jpe?g|gif|webp|bmp|x-ms-bmp|avif|tiff)$/,
    names: /\.(?:png|jpe?g|gif|webp|bmp|avif|tiff?)$/,
    forms: [],
  },
  {
    kind: "parquet",
    name: "Parquet file",
    types: /^application\/(?:vnd\.apache\.|x-)?parquet$/,
    names: /\.(?:parquet|pq)$/,
    forms: ["rows"],
  },
  {
    kind: "arrow",
    name: "Arrow table",
    types: /^application\/(?:vnd\.apache\.arrow\.(?:file|stream)|x-feather)$/,
    names: /\.(?:arrows?|feather|ipc)$/,
    forms: ["rows"],
  },
  {
    kind: "avro",
    name: "Avro file",
    types: /^(?:application\/(?:x-|vnd\.apache\.)?avro|avro\/binary)$/,
    names: /\.avro$/,
    forms: ["rows"],
  },
  {
    kind: "npy",
    name: "NumPy array",
    types: /^application\/x-npy$/,
    names: /\.npy$/,
    forms: ["rows"],
    part: 'sheet "[0:10]" for a part of each dimension',
  },
  {
    kind: "netcdf",
    name: "NetCDF file",
    types: /^application\/(?:x-)?netcdf$/,
    names: /\.(?:nc|cdf)$/,
    forms: ["rows"],
    part: 'sheet "NAME" or "NAME[0, 10:20]" for the values of a variable, with rows or query',
  },
  {
    kind: "fits",
    name: "FITS file",
    types: /^(?:application|image)\/fits$/,
    names: /\.(?:fits?|fts)$/,
    forms: ["rows"],
    part: 'sheet "NAME" for a table, "NAME[0:10, 0:10]" for a part of an image',
  },
  {
    kind: "mail",
    name: "mail",
    types: /^(?:message\/(?:rfc822|global)|application\/mbox|multipart\/related|application\/x-mimearchive)$/,
    names: /\.(?:eml|mbox|mht|mhtml)$/,
    forms: ["text", "rows"],
  },
  {
    kind: "archive",
    name: "archive",
    types: /^application\/(?:zip|x-zip-compressed|java-archive|x-tar|gzip|x-gzip)$/,
    names: /\.(?:zip|jar|tar|t?gz)$/,
    forms: ["rows"],
  },
];

/** What is known of a kind. */
export function findTraits(kind: DocumentKind): Pick<Row, "name" | "forms" | "part"> {
  return ROWS.find((row) => row.kind === kind) as Row;
}

/** What is known of a file before it is read. */
export interface DocumentClaim {
  /** Its media type, in lower case without parameters. */
  readonly type: string;
  readonly filename: string;
  /** Its first bytes: 512 are enough. */
  readonly head: Uint8Array;
}

/**
 * The kind of a file. Bytes decide what it can be at all, then its type, then its name. Undefined for what is read as it is: text and
 * unknown bytes.
 */
export function detectKind({ type, filename, head }: DocumentClaim): DocumentKind | undefined {
  const name = filename.toLowerCase();
  const claimed = (ROWS.find(({ types }) => types.test(type)) ?? ROWS.find(({ names }) => names.test(name)))?.kind;
  const container = detectContainer(head);
  if (container !== undefined && !["zip", "tar", "gzip"].includes(container)) return container as DocumentKind;
  if (container === "zip")
    return claimed !== undefined && PACKAGED.has(claimed) ? claimed : (detectPackagedKind(head) ?? "archive");
  if (container === "tar" || container === "gzip") return "archive";
  // A stream begins with -1 (Arrow IPC), as much else may.
  if (claimed === "arrow")
    return head.length > 8 && head.subarray(0, 4).every((byte) => byte === 0xff) ? claimed : undefined;
  if (claimed === "mail") return BEGINS_MAIL.test(latin(head)) && !BEGINS_PATCH.test(latin(head)) ? claimed : undefined;
  return claimed === "html" || claimed === "image" ? claimed : undefined;
}

/** What git writes for `git am` is applied as it is. */
const BEGINS_PATCH = /^From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001\r?\n/;

/** A header, or the line before the first message of a mailbox. */
const BEGINS_MAIL = /^(?:From [^\n]{1,400}\n)?[\w-]{1,80}:[ \t]?[^\n]*\n/;

/** Kinds that are ZIP archives of parts. */
const PACKAGED: ReadonlySet<DocumentKind> = new Set([
  "word",
  "workbook",
  "presentation",
  "opendocument-text",
  "opendocument-sheet",
  "opendocument-slides",
  "book",
]);

type Container = "pdf" | "zip" | "tar" | "gzip" | "parquet" | "arrow" | "avro" | "npy" | "netcdf" | "fits";

/** How the bytes are packed. A tar has its mark at 257 (POSIX.1-1988, ustar). */
export function detectContainer(head: Uint8Array): Container | undefined {
  const first = latin(head.subarray(0, 512));
  if (first.startsWith("PK\u{3}\u{4}") || first.startsWith("PK\u{5}\u{6}")) return "zip";
  if (first.startsWith("\u{1f}\u{8b}")) return "gzip";
  if (first.slice(257, 262) === "ustar") return "tar";
  // A CSV may have a column of such a name, and then goes on with text.
  if (/^PAR1[^\t -~\r\n]/.test(first)) return "parquet";
  // The second is that of Feather's first version.
  if (/^(?:ARROW1|FEA1)[^\t -~\r\n]/.test(first)) return "arrow";
  if (first.startsWith("Obj\u{1}")) return "avro";
  if (first.startsWith("\u{93}NUMPY")) return "npy";
  if (/^CDF[\u{1}\u{2}\u{5}]/u.test(first)) return "netcdf";
  if (/^SIMPLE {2}= +T/.test(first)) return "fits";
  // Some programs write a line before it.
  return first.includes("%PDF-") ? "pdf" : undefined;
}

/** Whether files can be taken out of the container: of archives, and of documents that are ZIP archives. */
export function isArchive(head: Uint8Array): boolean {
  return ["zip", "tar", "gzip"].includes(detectContainer(head) ?? "");
}

/**
 * The kind that the first entry of a ZIP tells: OpenDocument and EPUB begin with an entry `mimetype` that is stored plainly, Office with
 * its list of contents (ECMA-376 part 2), or with a part below the folder of its program.
 */
function detectPackagedKind(head: Uint8Array): DocumentKind | undefined {
  const first = latin(head);
  const type = /^.{26}[^]{4}mimetype([\w.+/-]+)/s.exec(first)?.[1];
  if (type !== undefined) return ROWS.find(({ types }) => types.test(type))?.kind;
  const folder = /\b(word|xl|ppt)\//.exec(first)?.[1];
  return folder === undefined
    ? undefined
    : { word: "word" as const, xl: "workbook" as const, ppt: "presentation" as const }[folder];
}

function latin(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
