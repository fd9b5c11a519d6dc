/**
 * The previews by media type: one table, with renderers that are loaded when they are first needed.
 * @module
 */
import { pagePolicy } from "../page-policy.js";
import type { Renderer } from "./preview.js";

/** A kind of preview. */
export interface Kind {
  /** Its name in sentences. */
  readonly name: string;
  /** The media types it is for. */
  readonly types: RegExp;
  /** Whether the source is a text. */
  readonly text: boolean;
  /** Whether its preview shows data as a table where that is possible, so that the hint `data` changes nothing. */
  readonly tabular?: boolean;
  /** Loads its renderer. */
  readonly load: () => Promise<Renderer>;
}

const CODE = /[+/](?:json|xml|yaml|javascript|ecmascript|typescript|sql|toml|graphql|x-sh|x-yaml|x-httpd-php)$/;

/** In order: the first match wins. */
const KINDS: readonly Kind[] = [
  { name: "images", types: /^image\//, text: false, load: async () => (await import("./media.js")).renderImage },
  { name: "PDF", types: /^application\/pdf$/, text: false, load: pdf },
  {
    name: "pages",
    types: /^(?:text\/html|application\/xhtml\+xml)$/,
    text: true,
    load: pages,
  },
  {
    name: "tables",
    types: /^(?:text|application)\/(?:csv|tab-separated-values|x-csv)$/,
    text: true,
    load: async () => (await import("./csv.js")).renderCsv,
  },
  {
    name: "JSON",
    types: /[+/]json$|^application\/(?:x-ndjson|jsonl|x-jsonlines)$/,
    text: true,
    tabular: true,
    load: async () => (await import("./json.js")).renderJson,
  },
  {
    name: "Markdown",
    types: /^text\/(?:x-)?markdown$/,
    text: true,
    load: async () => (await import("./markdown-page.js")).renderMarkdown,
  },
  {
    name: "documents",
    types:
      /^application\/(?:vnd\.(?:openxmlformats-officedocument|oasis\.opendocument)\.(?:word|spreadsheet|presentation|text)\S*|vnd\.ms-excel\.sheet\S*|epub\+zip)$/,
    text: false,
    load: async () => (await import("./document.js")).renderDocument,
  },
  {
    name: "archives",
    types: /^application\/(?:zip|x-zip-compressed|java-archive|x-tar|gzip|x-gzip)$/,
    text: false,
    load: async () => (await import("./archive.js")).renderArchive,
  },
  { name: "text", types: CODE, text: true, load: code },
  { name: "text", types: /^text\//, text: true, load: code },
  { name: "audio", types: /^audio\//, text: false, load: media },
  { name: "video", types: /^video\//, text: false, load: media },
];
const BYTES: Kind = { name: "bytes", types: /^/, text: false, load: hex };

/** Media types for the `viewer` hints of tools. */
const HINTED: Readonly<Record<string, string>> = {
  image: "image/png",
  pdf: "application/pdf",
  html: "text/html",
  code: "text/plain",
  data: "text/csv",
};

/** The kind of a media type. A hint applies to unknown bytes and among kinds of text. */
export function findKind(type: string, hint = ""): Kind {
  const own = findKindByType(type);
  const hinted = Object.hasOwn(HINTED, hint) ? findKindByType(HINTED[hint] ?? "") : own;
  if (hint === "data" && own.tabular === true) return own;
  return own === BYTES || (own.text && hinted.text) ? hinted : own;
}

function findKindByType(type: string): Kind {
  return KINDS.find(({ types }) => types.test(type)) ?? BYTES;
}

/** The renderer of the source view: text or bytes. */
export async function loadSourceRenderer(kind: Kind): Promise<Renderer> {
  return kind.text ? (await import("./code.js")).renderPlain : hex();
}

async function pdf(): Promise<Renderer> {
  return pagePolicy().renderPdf ?? (await import("./pdf.js")).renderPdf;
}

async function pages(): Promise<Renderer> {
  return (await import("./html-page.js")).renderPage;
}

async function code(): Promise<Renderer> {
  return (await import("./code.js")).renderCode;
}

async function media(): Promise<Renderer> {
  return (await import("./media.js")).renderMedia;
}

async function hex(): Promise<Renderer> {
  return (await import("./hex.js")).renderHex;
}
