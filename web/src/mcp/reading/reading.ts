/**
 * Reading stored artifacts back, in bounded answers: by one tool and as resources.
 * @module
 */
import { counted, grouped } from "../../core/amounts.js";
import { plainType } from "../../core/media-type.js";
import { SluiceError } from "../../errors/error.js";
import { storageError } from "../../errors/storage.js";
import { answerOf, failureOf, fitting, jsonChars, type Told } from "./answer.js";
import { base64Of } from "./base64.js";
import { tellBytes, textOf } from "./byte-reading.js";
import {
  artifactUri,
  described,
  quotedName,
  readToolName,
  type ReadContent,
  type ReadContents,
  type TextResult,
} from "./definition.js";
import { tellPointer, textAtPointer } from "./json-reading.js";
import {
  FIRST_CHARS,
  FIRST_LINES,
  FRAME_CHARS,
  MAX_CHARS,
  MAX_POINTER_BYTES,
  MAX_RESOURCE_IMAGE,
  MAX_RESOURCE_JSON,
  MAX_RESOURCE_PART,
  MAX_RESOURCE_TEXT,
  MAX_SCANNED,
} from "./limits.js";
import { lookAt, type Look } from "./look.js";
import { tellRecords, textOfRecords } from "./record-reading.js";
import { requestOf, resourceRequestOf, spanIn, type ByteSpec, type Wanted } from "./request.js";
import { tellSearch } from "./search-reading.js";
import { found, readSpan, type Readable, type ReadingSource } from "./source.js";

export { listing, readTool, readToolName, resourceTemplate } from "./definition.js";
export type { ReadingSource } from "./source.js";
export type { ListedResource, ListedTemplate, ReadContent, ReadContents, ReadTool, TextResult } from "./definition.js";

/** Options of an {@link ArtifactReading}. */
export interface ReadingOptions {
  /** What the tool is called in answers; as {@link readTool} calls it for each artifact's namespace when left out. */
  readonly tool?: string;
  /** Most characters of an answer, as code points of its JSON; 10,000 when left out, never below 2,000. */
  readonly maxChars?: number;
  /** Most bytes read for one call of lines, rows or search; 1 GiB when left out. */
  readonly maxScannedBytes?: number;
}

interface ReadCallOptions {
  /** Ends the reading; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

const LEAST_CHARS = 2000;
const LEAST_CONTENT = LEAST_CHARS - FRAME_CHARS;

/**
 * Reads what a source gives. Of an artifact nothing but a bounded part is ever held, whatever its size.
 *
 * @example
 * const reading = new ArtifactReading(source);
 * const result = await reading.call({ uri: "artifact://tableau_1a2b3c4d5e6f", lines: "1-50" });
 */
export class ArtifactReading {
  readonly #source: ReadingSource;
  readonly #tool: string | undefined;
  readonly #maxChars: number;
  readonly #maxScanned: number;

  constructor(source: ReadingSource, options: ReadingOptions = {}) {
    this.#source = source;
    this.#tool = options.tool;
    this.#maxChars = Math.max(LEAST_CHARS, options.maxChars ?? MAX_CHARS);
    this.#maxScanned = options.maxScannedBytes ?? MAX_SCANNED;
  }

  /** Answers a call of the tool. What is wrong is a result too; only an abort rejects. */
  async call(args: unknown, { signal }: ReadCallOptions = {}): Promise<TextResult> {
    try {
      const { id, wanted, limit } = requestOf(args);
      const from = await this.#open(id, signal);
      const content = Math.max(LEAST_CONTENT, this.#maxChars - FRAME_CHARS);
      const told = await tell(from, wanted, Math.min(limit, content));
      return answerOf(told, from.ref.sha256, this.#maxChars);
    } catch (error) {
      signal?.throwIfAborted();
      return failureOf(sentenceOf(error));
    }
  }

  /**
   * Reads a resource: `artifact://<id>`, or a part as {@link resourceTemplate} says. Throws SluiceError: E_NOT_FOUND,
   * E_EXPIRED, E_INVALID_ARGUMENT, E_TOO_LARGE, E_JSON_…, E_STORE_….
   */
  async resource(uri: string, { signal }: ReadCallOptions = {}): Promise<ReadContents> {
    const { id, wanted } = resourceRequestOf(uri);
    try {
      return { contents: [await readResource(await this.#open(id, signal), wanted, uri)] };
    } catch (error) {
      signal?.throwIfAborted();
      throw storageError(error, "read");
    }
  }

  async #open(id: string, signal: AbortSignal | undefined): Promise<Readable> {
    const source = this.#source;
    const ref = await found(source, id);
    const tool = this.#tool ?? readToolName(ref.namespace);
    return { ref, source, maxScanned: this.#maxScanned, tool, signal };
  }
}

async function tell(from: Readable, wanted: Wanted, most: number): Promise<Told> {
  if (wanted.mode === "bytes") return tellBytes(from, wanted.range, most);
  const look = await lookAt(from);
  const { mode } = wanted;
  if (mode === "info") return tellInfo(from, look, most);
  if (mode === "search") return tellSearch(from, look, wanted.needle, most);
  if (mode === "pointer") return tellPointer(from, readable(look, mode), wanted.tokens, most);
  return tellRecords(from, readable(look, mode), mode, wanted.range, most);
}

/** Other errors may hold paths of the host: a model has no use for them. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof SluiceError)) return "The artifact could not be read just now: try again.";
  if (error.code !== "E_EXPIRED") return error.message;
  return "The artifact has expired; do not retry, call the tool again that gave it.";
}

/** Tells of an artifact in at most `most` characters of its content. */
function tellInfo({ ref }: Readable, look: Look, most: number): Told {
  const { size_bytes: size, filename, mime_type } = ref;
  const type = plainType(mime_type) ?? "unknown type";
  const name = filename === null ? "" : `; untrusted file text: ${quotedName(filename)}`;
  const head = `${artifactUri(ref.id)}: ${described(ref)} (${type}, ${counted(size, "byte")}${name})`;
  const notes = [modesOf(look, size)];
  if (!look.isText || size === 0) return { head, notes };
  const { text, isAll } = firstLines(look.head, size, Math.min(most, FIRST_CHARS));
  return { head: `${head}. ${isAll ? "This is all of it" : "Its first lines"}`, data: text, notes };
}

/** Whole lines where the first one fits. */
function firstLines(head: Uint8Array, size: number, most: number): { readonly text: string; readonly isAll: boolean } {
  const isWhole = head.length === size;
  const decoded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(head, { stream: !isWhole });
  const lines = decoded.split("\n");
  const first = lines.slice(0, FIRST_LINES).join("\n");
  const fit = fitting(first, most).text;
  if (isWhole && fit.length === decoded.length) return { text: fit, isAll: true };
  const end = fit.length < first.length ? fit.lastIndexOf("\n") : -1;
  return { text: end > 0 ? fit.slice(0, end) : fit, isAll: false };
}

function modesOf(look: Look, size: number): string {
  if (size === 0) return "It is empty.";
  if (!look.isText) {
    const encoding = look.isUtf16 ? " It is UTF-16 text, which lines do not read." : "";
    return `Read it with bytes "0-255" (hex) or search.${encoding} Or pass the URI as a tool argument.`;
  }
  const modes = ['lines "1-50"', 'bytes "0-1023"', "search"];
  if (look.layout.kind !== "none") modes.unshift('rows "1-20"');
  if (look.isJson && size <= MAX_POINTER_BYTES) modes.unshift('pointer "" for an outline');
  return `Read it with one of: ${modes.join(", ")}.`;
}

const BYTES = "application/octet-stream";
const TEXT = "text/plain";

/** Reads a resource. Throws E_NOT_FOUND, E_EXPIRED, E_INVALID_ARGUMENT, E_TOO_LARGE, E_JSON_…, E_STORE_…. */
async function readResource(from: Readable, wanted: Wanted, uri: string): Promise<ReadContent> {
  const { mode } = wanted;
  if (mode === "info") return wholeOrNote(from, uri);
  if (mode === "bytes") return partOf(from, wanted.range, uri);
  if (mode === "search") {
    const sentence = "A resource cannot be searched: call the tool for that.";
    throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "search" });
  }
  const look = readable(await lookAt(from), mode);
  if (mode === "pointer") {
    return { uri, mimeType: "application/json", text: bounded(await textAtPointer(from, look, wanted.tokens)) };
  }
  return { uri, mimeType: TEXT, text: bounded(await textOfRecords(from, look, mode, wanted.range)) };
}

async function wholeOrNote(from: Readable, uri: string): Promise<ReadContent> {
  const { size_bytes: size, mime_type } = from.ref;
  const type = plainType(mime_type);
  if (type?.startsWith("image/") === true && size <= MAX_RESOURCE_IMAGE) {
    return { uri, mimeType: type, blob: base64Of(await readSpan(from, { start: 0, end: size })) };
  }
  if (size <= MAX_RESOURCE_TEXT) {
    const text = textOf(await readSpan(from, { start: 0, end: size }));
    if (text !== undefined) return { uri, mimeType: type ?? TEXT, text };
  }
  return { uri, mimeType: TEXT, text: await noteOf(from) };
}

async function noteOf(from: Readable): Promise<string> {
  const { ref } = from;
  const { isText } = await lookAt(from);
  const part = isText ? '"lines":"1-50"' : '"bytes":"0-255"';
  const example = isText ? "?lines=1-50" : "?bytes=0-1023";
  const own = artifactUri(ref.id);
  return (
    `[sluice] ${described(ref)}, ${grouped(ref.size_bytes)} bytes: not shown here. Read a part of it with ` +
    `${from.tool} {"uri":"${own}",${part}}, or as the resource ${own}${example}.`
  );
}

async function partOf(from: Readable, range: ByteSpec, uri: string): Promise<ReadContent> {
  const { size_bytes: size, mime_type } = from.ref;
  const span = spanIn(range, size);
  if (span.end - span.start > MAX_RESOURCE_PART) {
    const first = `${span.start}-${span.start + MAX_RESOURCE_PART - 1}`;
    throw new SluiceError("E_TOO_LARGE", `A part has at most 4 MiB: read bytes ${first} first, then what follows.`, {
      path: "bytes",
    });
  }
  const isWhole = span.start === 0 && span.end === size;
  const mimeType = (isWhole ? plainType(mime_type) : undefined) ?? BYTES;
  return { uri, mimeType, blob: base64Of(await readSpan(from, span)) };
}

function bounded(text: string): string {
  if (jsonChars(text) <= MAX_RESOURCE_JSON) return text;
  throw new SluiceError("E_TOO_LARGE", "What was asked for is too large once it is written as JSON: ask for less.");
}

/** The look itself. Throws E_INVALID_ARGUMENT for bytes that are asked for as text. */
function readable(look: Look, mode: "lines" | "rows" | "pointer"): Look {
  if (look.isText) return look;
  const what = look.isUtf16 ? "UTF-16 text, which is not read that way" : "no text";
  throw new SluiceError("E_INVALID_ARGUMENT", `The artifact is ${what}: use bytes or search in place of ${mode}.`, {
    path: mode,
  });
}
