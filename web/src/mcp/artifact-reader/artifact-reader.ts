/**
 * Reads stored artifacts back in bounded answers: through one tool and as resources.
 * @module
 */
import { encodeBase64, type WrittenRange } from "../../artifacts/bytes.js";
import type { ArtifactRef } from "../../artifacts/store.js";
import { countNoun } from "../../core/amounts.js";
import { plainType } from "../../core/media-type.js";
import type { ArtifactToolResult, Sluice } from "../../core/types.js";
import { detectContainer, type DocumentKind } from "../../documents/kind.js";
import { SluiceError } from "../../errors/error.js";
import { storageError } from "../../errors/storage.js";
import { joinPointer } from "../../json/pointer.js";
import { describeError, writeAnswer, writeFailure, prefixWithin, jsonChars, type AnswerParts } from "./answer.js";
import { artifactMeta } from "../artifact-app/artifact-app.js";
import { decodeUtf8, tellBytes } from "./byte-range.js";
import {
  artifactUri,
  describe,
  quote,
  quoteName,
  readToolName,
  type ReadContent,
  type ReadContents,
} from "./definition.js";
import { findArray, tellPointer, textAtPointer, MAX_POINTER_BYTES } from "./json-value.js";
import {
  detectDatabase,
  documentKind,
  isCutJson,
  findEncoding,
  chooseForm,
  HEAD_BYTES,
  readHead,
  inspect,
  inspectAs,
  type Inspection,
  noteGuesses,
  type TextEncoding,
} from "./inspection.js";
import type { InnerJson } from "./inner-json.js";
import type { OtherTable } from "./query-tables.js";
import { RecordIndexes } from "./record-index.js";
import { tellRecords, textOfRecords } from "./records.js";
import { type RecordMode, parseRequest, parseResourceRequest, type Selection, spanIn, type Wanted } from "./request.js";
import { tellSearch } from "./search.js";
import {
  readFacts,
  findArtifact,
  findSheet,
  loadPart,
  readSpan,
  type Readable,
  type ReadSource,
  nameSubject,
  MAX_RESOURCE_PART,
} from "./source.js";

/** Most characters of an answer, as code points of its JSON, by default. */
const MAX_CHARS = 10_000;

/** Characters of an answer reserved for our own sentences. The rest is for content. */
const FRAME_CHARS = 1600;

/** Most bytes read by one call for lines, rows and search, by default. */
const MAX_SCANNED = 1024 * 1024 * 1024;

/** Most characters of a text that are shown with its description. */
const FIRST_CHARS = 1000;

/** Most lines of a text that are shown with its description. */
const FIRST_LINES = 20;

/** Largest text that a resource returns whole, in bytes. */
const MAX_RESOURCE_TEXT = 64 * 1024;

/** Largest image that a resource returns whole, in bytes. */
const MAX_RESOURCE_IMAGE = 1024 * 1024;

/** Most characters of a part when written as JSON. */
const MAX_RESOURCE_JSON = 6 * 1024 * 1024;

export { listing, readTool, readToolName, resourceTemplate } from "./definition.js";
export type { ReadSource } from "./source.js";
export type { ListedResource, ListedTemplate, ReadContent, ReadContents } from "./definition.js";

/** Options for an {@link ArtifactReader}. */
export interface ArtifactReaderOptions {
  /** Gives the tool's name in an answer. Defaults to the name that {@link readTool} gives for each artifact's namespace. */
  readonly tool?: () => string;
  /**
   * Most characters of an answer, as code points of its JSON, at least 2,000; or what tells it for each answer.
   * @defaultValue 10,000
   */
  readonly maxChars?: number | (() => number);
  /**
   * Most bytes read by one call for lines, rows or search.
   * @defaultValue 1 GiB
   */
  readonly maxScannedBytes?: number;
  /** Finds the types of files in archives, which are unknown without it. */
  readonly sluice?: Pick<Sluice, "look" | "documents" | "tables"> | undefined;
  /**
   * Called with each artifact that was made to be passed on: a file of an archive, also one that was taken out before, and an answer
   * of a query that is too long to be shown. Not with what a document is read as, which is a part of reading it.
   */
  readonly onStored?: ((ref: ArtifactRef) => void) | undefined;
  /**
   * Tells whether the client shows images to its model.
   * @defaultValue it does not
   */
  readonly showsImages?: (() => boolean) | undefined;
}

/** Options for {@link ArtifactReader.resource}. */
export interface ReadResourceOptions extends ReadCallOptions {
  /** Whether the answer says what the artifact is, in `_meta`, for a page that shows it. Defaults to false. */
  readonly isDescribed?: boolean;
}

interface ReadCallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

const LEAST_CHARS = 2000;
const LEAST_CONTENT = LEAST_CHARS - FRAME_CHARS;

/**
 * Reads artifacts from a source. It holds only a bounded part of an artifact, whatever its size.
 *
 * @example
 * const reader = new ArtifactReader(source);
 * const result = await reader.call({ uri: "artifact://tableau_1a2b3c4d5e6f", lines: "1-50" });
 */
export class ArtifactReader {
  readonly #source: ReadSource;
  readonly #tool: ArtifactReaderOptions["tool"];
  readonly #maxChars: () => number;
  readonly #maxScanned: number;
  readonly #sluice: ArtifactReaderOptions["sluice"];
  readonly #onStored: ArtifactReaderOptions["onStored"];
  readonly #showsImages: () => boolean;
  readonly #indexes = new RecordIndexes();

  constructor(source: ReadSource, options: ArtifactReaderOptions = {}) {
    this.#source = source;
    this.#tool = options.tool;
    const { maxChars = MAX_CHARS } = options;
    this.#maxChars = () => Math.max(LEAST_CHARS, typeof maxChars === "number" ? maxChars : maxChars());
    this.#maxScanned = options.maxScannedBytes ?? MAX_SCANNED;
    this.#sluice = options.sluice;
    this.#onStored = options.onStored;
    this.#showsImages = options.showsImages ?? ((): boolean => false);
  }

  /** Answers a call of the tool. Errors are results too; only an abort rejects. */
  async call(args: unknown, { signal }: ReadCallOptions = {}): Promise<ArtifactToolResult> {
    try {
      const { id, wanted, selection, limit } = parseRequest(args);
      const from = await this.#open(id, signal);
      const most = this.#maxChars();
      const content = Math.max(LEAST_CONTENT, most - FRAME_CHARS);
      const told = await tell(from, wanted, selection, Math.min(limit, content));
      return writeAnswer(told, from.ref.sha256, most);
    } catch (error) {
      signal?.throwIfAborted();
      return writeFailure(describeError(error, "The artifact could not be read just now: try again."));
    }
  }

  /**
   * Reads a resource: `artifact://<id>`, or a part of it as in {@link resourceTemplate}.
   *
   * @throws SluiceError E_NOT_FOUND, E_EXPIRED, E_INVALID_ARGUMENT, E_TOO_LARGE, E_JSON_…, E_STORE_….
   */
  async resource(uri: string, { signal, isDescribed = false }: ReadResourceOptions = {}): Promise<ReadContents> {
    const { id, wanted } = parseResourceRequest(uri);
    try {
      const from = await this.#open(id, signal);
      const content = await readResource(from, wanted, uri);
      return { contents: [isDescribed ? { ...content, _meta: artifactMeta(from.ref) } : content] };
    } catch (error) {
      signal?.throwIfAborted();
      throw storageError(error, "read");
    }
  }

  async #open(id: string, signal: AbortSignal | undefined): Promise<Readable> {
    const source = this.#source;
    const ref = await findArtifact(source, id);
    const tool = this.#tool?.() ?? readToolName(ref.namespace);
    return {
      ref,
      source,
      indexes: this.#indexes,
      maxScanned: this.#maxScanned,
      tool,
      sluice: this.#sluice,
      showsImages: this.#showsImages(),
      onStored: this.#onStored,
      open: (other) => this.#open(other, signal),
      signal,
    };
  }
}

async function tell(given: Readable, wanted: Wanted, selection: Selection, most: number): Promise<AnswerParts> {
  const chosen = selection.entry === undefined ? given : await openEntry(given, selection.entry);
  if (wanted.mode === "bytes") return tellBytes(chosen, wanted.range, most);
  const { from, head } = await openPacked(chosen, selection.entry === undefined);
  const database = detectDatabase(from, head);
  if (database !== undefined && wanted.mode !== "search") {
    const { tellDatabase, explainDatabaseFile } = await loadPart(() => import("./database.js"));
    if (database === "database") return tellDatabase(from, wanted, selection, most);
    if (wanted.mode !== "info") throw explainDatabaseFile(database, wanted.mode);
  }
  const kind = documentKind(from, head);
  if (wanted.mode === "image") {
    const { tellPicture } = await loadPart(() => import("./picture.js"));
    return tellPicture(from, kind, wanted);
  }
  if (wanted.mode === "info" && kind !== undefined && selection.as === undefined && selection.sheet === undefined) {
    const { tellDocument } = await loadPart(() => import("./document.js"));
    return tellDocument(from, kind, most);
  }
  const form = await formFor(from, head, wanted, selection).catch((error: unknown) => {
    // A page without a table is asked as lines.
    if (kind === "html" && wanted.mode === "query" && error instanceof SluiceError && error.path === "rows")
      return from;
    throw error;
  });
  const { table = {} } = selection;
  const inspection = await inspectAs(form, form === from ? head : await readHead(form), table);
  const { mode } = wanted;
  if (mode === "info") {
    // Of a sheet its first rows are what it is.
    if (findSheet(form) === undefined) return tellInfo(form, inspection, most);
    return tell(
      given,
      { mode: "rows", range: { first: 1, last: FIRST_LINES } },
      selection,
      Math.min(most, FIRST_CHARS),
    );
  }
  const isTable = mode === "rows" || mode === "query";
  const told = await tellPart(form, inspection, { wanted, selection, kind }, most);
  return addNotes(told, noteGuesses(form, inspection, isTable && findSheet(form) === undefined, table));
}

function addNotes(told: AnswerParts, notes: readonly string[]): AnswerParts {
  return notes.length === 0 ? told : { ...told, notes: [...(told.notes ?? []), ...notes] };
}

/** What is asked of a form. */
interface PartRequest {
  readonly wanted: Exclude<Wanted, { mode: "info" | "bytes" | "image" }>;
  readonly selection: Selection;
  readonly kind: DocumentKind | undefined;
}

async function tellPart(
  form: Readable,
  inspection: Inspection,
  { wanted, selection, kind }: PartRequest,
  most: number,
): Promise<AnswerParts> {
  const { mode } = wanted;
  if (mode === "search") return tellSearch(form, inspection, wanted.needle, most);
  if (mode === "pointer") {
    const { tokens } = wanted;
    return tellInner(form, readable(inspection, mode), tokens, (inner, found, rest = tokens) =>
      tellPointer(inner, found, rest, most),
    );
  }
  if (mode === "query") {
    const { tellQuery } = await loadPart(() => import("./query.js"));
    const { open } = form;
    const others = open && ((id: string): Promise<OtherTable> => openOther(id, open));
    return tellInner(form, readable(inspection, mode), wanted.tokens, (inner, found, tokens) =>
      tellQuery(inner, found, { ...wanted, tokens }, selection, most, { others }),
    );
  }
  if (mode === "rows" && (findSheet(form) !== undefined || selection.cells !== undefined)) {
    const { tellCells } = await loadPart(() => import("./cells.js"));
    return tellCells(form, { rows: wanted.range, cells: selection.cells }, most);
  }
  if (mode === "rows" && (wanted.tokens !== undefined || inspection.isJson)) {
    return tellInner(form, readable(inspection, mode), wanted.tokens, async (inner, found, tokens) =>
      tellRecords(inner, await pointRows(inner, found, tokens), mode, wanted.range, most),
    );
  }
  const told = await tellRecords(form, readable(inspection, mode), mode, wanted.range, most);
  if (mode !== "pages" || kind !== "pdf") return told;
  const { tellScans } = await loadPart(() => import("./document.js"));
  const facts = readFacts(form);
  return facts === undefined ? told : addNotes(told, tellScans(facts, form, wanted.range));
}

/** Tells of JSON, or of the JSON in a string of it where a pointer leads into one, or where there is nothing else. */
async function tellInner(
  form: Readable,
  inspection: Inspection,
  tokens: readonly string[] | undefined,
  work: (form: Readable, inspection: Inspection, tokens: readonly string[] | undefined) => Promise<AnswerParts>,
): Promise<AnswerParts> {
  const open = async (): Promise<InnerJson> => {
    const { openInnerJson } = await loadPart(() => import("./inner-json.js"));
    return openInnerJson(form, inspection, tokens);
  };
  const tellInside = async (inner: InnerJson): Promise<AnswerParts> =>
    addNotes(await work(inner.form, inner.inspection, inner.tokens), inner.notes);
  if (!inspection.isJson || inspection.layout.kind !== "none") return work(form, inspection, tokens);
  if (tokens === undefined) return tellInside(await open());
  try {
    return await work(form, inspection, tokens);
  } catch (error) {
    if (!(error instanceof SluiceError) || error.path !== "pointer" || error.code !== "E_INVALID_ARGUMENT") throw error;
    const inner = await open();
    if (inner.form === form) throw error;
    return tellInside(inner);
  }
}

/** An artifact, or the one file that is packed in it, and how it begins. */
async function openPacked(given: Readable, mayUnpack: boolean): Promise<{ from: Readable; head: Uint8Array }> {
  const head = await readHead(given);
  if (!mayUnpack || detectContainer(head) !== "gzip") return { from: given, head };
  const from = await unpackFile(given);
  return { from, head: await readHead(from) };
}

/** What another artifact is, of which a query names the rows. Throws as reading them does. */
async function openOther(id: string, open: NonNullable<Readable["open"]>): Promise<OtherTable> {
  const { from, head } = await openPacked(await open(id), true);
  if (detectDatabase(from, head) !== undefined) {
    const sentence = `${artifactUri(id)} is a database: it is asked alone, as uri.`;
    throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "query" });
  }
  const form = await formFor(from, head, { mode: "query", sql: "", tokens: undefined }, {});
  const inspection = readable(await inspectAs(form, form === from ? head : await readHead(form), {}), "query");
  const guesses = noteGuesses(form, inspection, findSheet(form) === undefined, {});
  if (!inspection.isJson || inspection.layout.kind !== "none") return { form, inspection, notes: guesses };
  const { openInnerJson } = await loadPart(() => import("./inner-json.js"));
  const inner = await openInnerJson(form, inspection, undefined);
  return { form: inner.form, inspection: inner.inspection, notes: [...guesses, ...inner.notes] };
}

/** Where the rows of JSON are. Throws E_INVALID_ARGUMENT where there are none, with the names of arrays. */
async function pointRows(
  form: Readable,
  inspection: Inspection,
  tokens: readonly string[] | undefined,
): Promise<Inspection> {
  if (tokens === undefined && inspection.layout.kind !== "none") return inspection;
  if (!inspection.isJson) {
    throw new SluiceError("E_INVALID_ARGUMENT", "The artifact is not JSON: leave pointer out.", { path: "pointer" });
  }
  if (tokens !== undefined && tokens.length > 0) {
    const { start, end } = await findArray(form, inspection, tokens);
    return { ...inspection, layout: { kind: "array", span: { start, end, pointer: joinPointer(tokens) } } };
  }
  if (inspection.layout.kind !== "none") return inspection;
  const { listArrays } = await loadPart(() => import("../../query/row-place.js"));
  const end = Math.min(form.ref.size_bytes, BEGINNING_BYTES);
  const arrays = listArrays(await readSpan(form, { start: inspection.markBytes, end }));
  const sentence =
    arrays.length === 0
      ? 'The artifact is JSON without an array, and has no rows: use lines, or pointer "" for an outline.'
      : `The artifact is a JSON object, whose arrays are at ${arrays.map(quote).join(", ")}: give one as pointer, with rows.`;
  throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "rows" });
}

/** Bytes of a JSON document by which is told where its arrays are. */
const BEGINNING_BYTES = 1024 * 1024;

/** What a gzip of one file is read as: that file. */
async function unpackFile(from: Readable): Promise<Readable> {
  const forms = await loadPart(() => import("./forms.js"));
  return forms.unpackFile(from);
}

async function openEntry(from: Readable, path: string): Promise<Readable> {
  const forms = await loadPart(() => import("./forms.js"));
  return forms.takeEntry(from, path);
}

/** What is read of an artifact. Only what becomes something else needs a part that is loaded later. */
async function formFor(from: Readable, head: Uint8Array, wanted: Wanted, selection: Selection): Promise<Readable> {
  const kind = documentKind(from, head);
  const isItself = selection.as === undefined && selection.sheet === undefined;
  if (isItself && chooseForm(kind, wanted.mode, selection) === undefined) {
    // It is decoded once, and kept.
    const { encoding: given } = selection.table ?? {};
    const encoding = given ?? (from.source.openWriter === undefined ? undefined : await findEncoding(from, head));
    if (encoding === undefined || encoding === "utf-8") return chooseTextForm(from, head, wanted, selection);
    const { decodeText } = await loadPart(() => import("./forms.js"));
    const text = await decodeText(from, encoding as TextEncoding);
    return chooseTextForm(text, await readHead(text), wanted, selection);
  }
  const forms = await loadPart(() => import("./forms.js"));
  return forms.formFor(from, kind, wanted, selection);
}

/**
 * What a text is read as: itself, what is whole of JSON that was cut, or for rows the table that is drawn in it. A query asks its lines unless
 * its beginning shows a table.
 */
async function chooseTextForm(
  from: Readable,
  head: Uint8Array,
  wanted: Wanted,
  { table }: Selection,
): Promise<Readable> {
  const isRows = wanted.mode === "rows" || wanted.mode === "query";
  const isSaid = table?.header !== undefined || table?.delimiter !== undefined;
  if (isSaid || from.source.openWriter === undefined) return from;
  if ((isRows || wanted.mode === "pointer") && isCutJson(from)) {
    const { completeJson } = await loadPart(() => import("./forms.js"));
    return completeJson(from);
  }
  if (!isRows || wanted.tokens !== undefined) return from;
  const { isText, isJson, isDrawn, layout } = inspect(from, head);
  if (!isText || isJson || layout.kind !== "none" || (wanted.mode === "query" && !isDrawn)) return from;
  const { readDrawnTable } = await loadPart(() => import("./forms.js"));
  return readDrawnTable(from);
}

/** Describes an artifact, with at most `most` characters of its content. */
function tellInfo(from: Readable, inspection: Inspection, most: number): AnswerParts {
  const { ref } = from;
  const { size_bytes: size, filename, mime_type } = ref;
  const type = plainType(mime_type) ?? "unknown type";
  const name = filename === null ? "" : `; file name (from the result): ${quoteName(filename)}`;
  const { encoding } = ref.source;
  const decoded = typeof encoding === "string" ? `, decoded from ${encoding}` : "";
  const head = `${nameSubject(from)}: ${describe(ref)}${decoded} (${type}, ${countNoun(size, "byte")}${name})`;
  const notes = [listModes(inspection, size)];
  if (!inspection.isText || size === 0 || isPrivateKey(ref)) return { head, notes };
  const { text, isAll } = firstLines(inspection.head, size, Math.min(most, FIRST_CHARS));
  return { head: `${head}. ${isAll ? "This is all of it" : "Its beginning"}`, data: text, notes };
}

/** Whether an artifact was told as a private key, of which nothing is shown unless a call asks for it. */
function isPrivateKey({ source }: Pick<Readable["ref"], "source">): boolean {
  return typeof source.description === "string" && /^(?:[A-Z]+ )?private key,/.test(source.description);
}

/** The first lines. The last one is whole unless it is the only one. */
function firstLines(head: Uint8Array, size: number, most: number): { readonly text: string; readonly isAll: boolean } {
  const isWhole = head.length === size;
  const decoded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(head, { stream: !isWhole });
  const lines = decoded.split("\n");
  const first = lines.slice(0, FIRST_LINES).join("\n");
  const fit = prefixWithin(first, most).text;
  if (isWhole && fit.length === decoded.length) return { text: fit, isAll: true };
  const end = fit.length < first.length ? fit.lastIndexOf("\n") : -1;
  return { text: end > 0 ? fit.slice(0, end) : fit, isAll: false };
}

function listModes(inspection: Inspection, size: number): string {
  if (size === 0) return "It is empty.";
  if (!inspection.isText) {
    return 'Read it with bytes "0-255" (hex) or search. Or pass the URI as a tool argument.';
  }
  const modes = ['lines "1-50"', 'bytes "0-1023"', "search", 'query "SELECT … FROM rows"'];
  if (inspection.layout.kind !== "none" || inspection.isDrawn) modes.unshift('rows "1-20"');
  if (inspection.isJson && size <= MAX_POINTER_BYTES) modes.unshift('pointer "" for an outline');
  if (inspection.isJson) modes.push('query "SELECT … FROM KEY" for the array of a key');
  return `Read it with one of: ${modes.join(", ")}.`;
}

const BYTES = "application/octet-stream";
const TEXT = "text/plain";

/** Reads a resource. Throws E_NOT_FOUND, E_EXPIRED, E_INVALID_ARGUMENT, E_TOO_LARGE, E_JSON_…, E_STORE_…. */
async function readResource(from: Readable, wanted: Wanted, uri: string): Promise<ReadContent> {
  const { mode } = wanted;
  if (mode === "info") return wholeOrNote(from, uri);
  if (mode === "bytes") return readPart(from, wanted.range, uri);
  if (mode === "image") {
    // A client that reads a picture as a resource shows it: no model is asked whether it sees.
    const { tellPicture } = await import("./picture.js");
    const shown = await tellPicture({ ...from, showsImages: true }, documentKind(from, await readHead(from)), wanted);
    if (shown.image === undefined) throw new SluiceError("E_INVALID_ARGUMENT", shown.head, { path: "as" });
    return { uri, mimeType: shown.image.type, blob: shown.image.data };
  }
  if (mode === "search" || mode === "query") {
    const sentence = `A resource takes no ${mode}: call the tool for that.`;
    throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: mode });
  }
  const form = await formFor(from, await readHead(from), wanted, {});
  const inspection = readable(inspect(form, await readHead(form)), mode);
  if (mode === "pointer") {
    return { uri, mimeType: "application/json", text: checkSize(await textAtPointer(form, inspection, wanted.tokens)) };
  }
  if (mode === "rows" && findSheet(form) !== undefined) {
    const { textOfCells } = await import("./cells.js");
    return { uri, mimeType: TEXT, text: checkSize(await textOfCells(form, { rows: wanted.range, cells: undefined })) };
  }
  return { uri, mimeType: TEXT, text: checkSize(await textOfRecords(form, inspection, mode, wanted.range)) };
}

async function wholeOrNote(from: Readable, uri: string): Promise<ReadContent> {
  const { size_bytes: size, mime_type } = from.ref;
  const type = plainType(mime_type);
  if (type?.startsWith("image/") === true && size <= MAX_RESOURCE_IMAGE) {
    return { uri, mimeType: type, blob: encodeBase64(await readSpan(from, { start: 0, end: size })) };
  }
  if (size <= MAX_RESOURCE_TEXT) {
    const text = await textOfWhole(from, await readSpan(from, { start: 0, end: size }));
    if (text !== undefined) return { uri, mimeType: type ?? TEXT, text };
  }
  return { uri, mimeType: TEXT, text: await writeNote(from) };
}

/** A whole text, of another encoding than UTF-8 too. */
async function textOfWhole(from: Readable, bytes: Uint8Array): Promise<string | undefined> {
  const text = decodeUtf8(bytes);
  const head = bytes.subarray(0, HEAD_BYTES);
  if (text !== undefined || documentKind(from, head) !== undefined) return text;
  const encoding = await findEncoding(from, head);
  if (encoding === undefined || encoding === "escapes") return undefined;
  const { EncodingDecoder } = await loadPart(() => import("../../core/text-encoding.js"));
  const decoder = new EncodingDecoder(encoding);
  return decoder.push(bytes) + decoder.end();
}

async function writeNote(from: Readable): Promise<string> {
  const { ref } = from;
  const { isText } = inspect(from, await readHead(from));
  const part = isText ? '"lines":"1-50"' : '"bytes":"0-255"';
  const example = isText ? "?lines=1-50" : "?bytes=0-1023";
  const own = artifactUri(ref.id);
  return (
    `[sluice] ${describe(ref)} (${countNoun(ref.size_bytes, "byte")}). Not shown here. Read a part with ` +
    `${from.tool} {"uri":"${own}",${part}}, or as the resource ${own}${example}.`
  );
}

async function readPart(from: Readable, range: WrittenRange, uri: string): Promise<ReadContent> {
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
  return { uri, mimeType, blob: encodeBase64(await readSpan(from, span)) };
}

function checkSize(text: string): string {
  if (jsonChars(text) <= MAX_RESOURCE_JSON) return text;
  throw new SluiceError("E_TOO_LARGE", "The answer would be too large as JSON: ask for less.");
}

/** Returns the inspection. Throws E_INVALID_ARGUMENT if the artifact is not text. */
function readable(inspection: Inspection, mode: RecordMode | "pointer" | "query"): Inspection {
  if (inspection.isText) return inspection;
  throw new SluiceError("E_INVALID_ARGUMENT", `The artifact is not text: use bytes or search instead of ${mode}.`, {
    path: mode,
  });
}
