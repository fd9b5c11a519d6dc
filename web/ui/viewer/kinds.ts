/**
 * Which preview a media type has: one table, each row with the renderer that is loaded when it is first needed.
 * @module
 */
import { extensionOf } from "./extension.js";
import type { Renderer } from "./preview.js";

/** A way of showing. */
export interface Kind {
  /** What it is called in sentences. */
  readonly name: string;
  /** The media types it is for. */
  readonly types: RegExp;
  /** Whether the source is a text. */
  readonly text: boolean;
  /** Loads its renderer. */
  readonly load: () => Promise<Renderer>;
}

const CODE = /[+/](?:json|xml|yaml|javascript|ecmascript|typescript|sql|toml|graphql|x-sh|x-yaml|x-httpd-php)$/;

/** In the order in which they are asked; the last takes whatever comes. */
const KINDS: readonly Kind[] = [
  { name: "images", types: /^image\//, text: false, load: async () => (await import("./image.js")).renderImage },
  { name: "PDF", types: /^application\/pdf$/, text: false, load: async () => (await import("./pdf.js")).renderPdf },
  {
    name: "pages",
    types: /^(?:text\/html|application\/xhtml\+xml)$/,
    text: true,
    load: async () => (await import("./page.js")).renderPage,
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
    load: async () => (await import("./json.js")).renderJson,
  },
  { name: "text", types: CODE, text: true, load: code },
  { name: "text", types: /^text\//, text: true, load: code },
  { name: "audio", types: /^audio\//, text: false, load: media },
  { name: "video", types: /^video\//, text: false, load: media },
];
const BYTES: Kind = { name: "bytes", types: /^/, text: false, load: hex };

/** Types of files that came without one, by extension. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  csv: "text/csv",
  gif: "image/gif",
  htm: "text/html",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  jsonl: "application/jsonl",
  md: "text/markdown",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  ndjson: "application/x-ndjson",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  tsv: "text/tab-separated-values",
  txt: "text/plain",
  wav: "audio/wav",
  webm: "video/webm",
  webp: "image/webp",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
};

/** The media type to go by: the one stated, in lower case and without parameters, else what the name says; empty when neither says. */
export function typeOf(mimeType: string | null | undefined, name: string): string {
  const stated = mimeType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (stated !== "" && stated !== "application/octet-stream") return stated;
  return BY_EXTENSION[extensionOf(name)] ?? stated;
}

/** Types that stand for what a person may be told to look at; `data` is rows. */
const HINTED: Readonly<Record<string, string>> = {
  image: "image/png",
  pdf: "application/pdf",
  html: "text/html",
  code: "text/plain",
  data: "text/csv",
};

/** How a media type is shown: as `hint` says, where the bytes may be that. */
export function kindOf(type: string, hint = ""): Kind {
  const own = found(type);
  const hinted = Object.hasOwn(HINTED, hint) ? found(HINTED[hint] ?? "") : own;
  // JSON has rows of its own.
  if (hint === "data" && own.name === "JSON") return own;
  return own === BYTES || (own.text && hinted.text) ? hinted : own;
}

function found(type: string): Kind {
  return KINDS.find(({ types }) => types.test(type)) ?? BYTES;
}

/** The source of a kind: its text, or its bytes. */
export async function sourceOf(kind: Kind): Promise<Renderer> {
  return kind.text ? (await import("./code.js")).renderPlain : hex();
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
