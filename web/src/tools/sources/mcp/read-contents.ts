/**
 * The contents of a `resources/read` answer behind the gate: short texts, and artifacts.
 *
 * If there are too many contents for one document, the gate stores the list or the whole result. The contents are
 * then read back from the store, and pass the gate again in parts.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../../../artifacts/store.js";
import { ToolArtifacts } from "../../../artifacts/scoped.js";
import { isTruncated } from "../../../artifacts/reference.js";
import { plainType } from "../../../core/media-type.js";
import { MAGIC } from "../../../core/sluice.js";
import type { AnswerRef, Sluice, Transformed } from "../../../core/types.js";
import { chunksIn } from "../../../core/value.js";
import { SluiceError } from "../../../errors/error.js";
import { JsonScanner, type JsonKind, type JsonVisitor } from "../../../json/value-scanner.js";
import { objectOr, stringOr } from "../../../jsonrpc/rpc.js";
import { decodePieces } from "../../../jsonrpc/bytes.js";
import { badAnswer } from "../../errors.js";
import { MAX_URI } from "../../resources/listing.js";
import type { Freshness, ReadContent, ReadResult } from "../../source-features.js";

/** Maximum bytes of a resource's texts in memory. */
const MAX_HELD: number = 8 * 1024 * 1024;

/** Options for reading a resource. */
export interface Reading {
  readonly scope: ArtifactScope;
  readonly namespace: string;
  /** Maximum characters of an inline text. */
  readonly inlineChars: number;
  readonly signal: AbortSignal;
}

/** Maximum contents of one resource. */
const MAX_CONTENTS = 50_000;

/**
 * Returns the contents of a resource. Binary data becomes artifacts, and so do long texts, unless the store does not
 * keep them.
 *
 * @param reduced the result in the mcp dialect.
 * @param original the result as it arrived, if it was kept.
 * @throws ToolServerError if the result has no list of contents.
 * @throws SluiceError E_TOO_LARGE for too many contents or texts; E_STORE_….
 */
export async function readContents(
  reduced: Transformed,
  reading: Reading,
  means: Means,
  original?: unknown,
): Promise<ReadResult> {
  const entries = new Entries(reduced, reading, means, original);
  const contents: ReadContent[] = [];
  let held = 0;
  for await (const entry of entries.all()) {
    reading.signal.throwIfAborted();
    const content = await toReadContent(entry, entries, reading, means);
    held += content.uri.length + (content.kind === "text" ? content.text.length : 0);
    if (held > MAX_HELD || contents.length >= MAX_CONTENTS) throw tooMuch();
    contents.push(content);
  }
  // The caching hints were stored with the result, so it is not cached.
  return { contents, ...(entries.isDiverted ? { ttl_ms: 0 } : readFreshness(reduced.value)) };
}

async function toReadContent(
  { content, isReduced, held }: Entry,
  entries: Entries,
  reading: Reading,
  means: Means,
): Promise<ReadContent> {
  const uri = stringOr(content["uri"]) ?? "";
  const mime_type = plainType(stringOr(content["mimeType"]) ?? null) ?? null;
  const isText = typeof content["text"] === "string";
  const blob = stringOr(content["blob"]);
  const said = stringOr(content["text"]) ?? blob ?? otherIn(content);
  const ref = isReduced ? entries.refOf(said) : undefined;
  const { inlineChars } = reading;
  if (ref === undefined) {
    const bytes = isText || blob === undefined ? undefined : decodeBlob(blob);
    // Invalid base64 is shown as text, without the declared type.
    const type = isText ? mime_type : null;
    if (bytes === undefined && isShort(said, inlineChars)) return { kind: "text", uri, mime_type: type, text: said };
    const made = await storeContent(bytes ?? said, type, reading, means);
    if (bytes === undefined && isTruncated(made)) return { kind: "text", uri, mime_type: type, text: said };
    return artifact(uri, made);
  }
  const isLost = isTruncated(ref);
  // A character has at most four bytes.
  const isRead = isText && (isLost || ref.size_bytes <= 4 * inlineChars);
  const text = isRead ? await entries.textOf(ref, held) : undefined;
  if (text !== undefined && (isLost || isShort(text, inlineChars))) return { kind: "text", uri, mime_type, text };
  return artifact(uri, ref);
}

/** Decodes a blob that the gate left inline. A blob is binary whatever the configuration says. */
function decodeBlob(blob: string): Uint8Array | undefined {
  if (blob === "") return undefined;
  try {
    return Uint8Array.from(atob(blob.replaceAll("-", "+").replaceAll("_", "/")), (unit) => unit.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** The core has already chosen the type from the bytes and the declared type. */
function artifact(uri: string, ref: AnswerRef): ReadContent {
  const { id, mime_type, size_bytes, filename, source } = ref;
  const summary = [source.description, source.warning].filter((part) => typeof part === "string").join("; ");
  return { kind: "artifact", uri, mime_type, id, size_bytes, filename, summary };
}

/** Stores what the gate left inline but the reader may not. */
async function storeContent(
  said: Uint8Array | string,
  mime_type: string | null,
  { scope, namespace }: Reading,
  { sluice, store }: Means,
): Promise<AnswerRef> {
  const bytes = typeof said === "string" ? new TextEncoder().encode(said) : said;
  const { description, mime_type: found } = await sluice.sniff(bytes.subarray(0, MAGIC), bytes.length);
  // If the store fails, the reference says so.
  const artifacts = new ToolArtifacts(store, { scope, namespace, source: { description }, onFailure: () => undefined });
  if (typeof said === "string") return artifacts.putText(said, mime_type === null ? {} : { mime_type });
  return artifacts.putBytes(said, { mime_type: found });
}

/** Whether a text has at most so many code points. */
function isShort(text: string, most: number): boolean {
  if (text.length <= most) return true;
  return text.length <= 2 * most && Array.from(text).length <= most;
}

function readFreshness(value: unknown): Freshness {
  const { ttlMs, cacheScope } = objectOr(value);
  return {
    ...(typeof ttlMs === "number" && Number.isFinite(ttlMs) && { ttl_ms: Math.max(0, ttlMs) }),
    ...((cacheScope === "public" || cacheScope === "private") && { cache_scope: cacheScope }),
  };
}

/** The store and the sluice. */
interface Means {
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
}

/** A content in MCP's format. */
type Content = Readonly<Record<string, unknown>>;

/** One content. Binary data and long texts are references. */
interface Entry {
  readonly content: Content;
  /** Whether its texts may be our references. */
  readonly isReduced: boolean;
  /** Its text before the gate, if it was kept. */
  readonly held?: string | undefined;
}

/** The core's note about something that it replaced (`_meta["sluice/refs"]`). */
interface Note {
  readonly at?: unknown;
  readonly was?: unknown;
  readonly uri?: unknown;
  readonly kind?: unknown;
  /** Notes about references inside the replaced text. */
  readonly refs?: readonly Note[];
}

/** A string that is only a reference. */
const REFERENCE = /^artifact:\/\/([\w.-]+)(?:\?[^\s"]*)?$/;

/** Size of a part that passes the gate again: characters of JSON, well below what is stored whole, and contents. */
const MAX_PART: { readonly chars: number; readonly contents: number } = { chars: 16_384, contents: 64 };

/** Maximum bytes of contents that were stored one by one. */
const MAX_TAKEN = 8 * MAX_HELD;

/** Bytes of a stored text that are processed without a pause. */
const PIECE = 65_536;

/** Maximum characters of a media type. */
const MAX_TYPE = 255;

/** The contents of one result in order, and their artifacts. */
class Entries {
  readonly #reduced: Transformed;
  readonly #reading: Reading;
  readonly #means: Means;
  /** The original contents, if they were kept. */
  readonly #original: readonly unknown[] | undefined;
  readonly #refs = new Map<string, AnswerRef>();
  /** Ids of artifacts that are text. All others are decoded binary data. */
  readonly #texts = new Set<string>();
  /** Bytes of contents that were stored one by one, so far. */
  #taken = 0;
  /** What the core replaced, by place. */
  readonly #before: ReadonlyMap<unknown, unknown>;

  constructor(reduced: Transformed, reading: Reading, means: Means, original: unknown) {
    this.#reduced = reduced;
    this.#reading = reading;
    this.#original = original === undefined ? undefined : this.#listContents(original);
    this.#means = means;
    this.#before = this.#note(reduced);
  }

  /** Whether the whole result was stored. */
  get isDiverted(): boolean {
    return this.refOf(this.#before.get("")) !== undefined;
  }

  /**
   * All contents. If the stored list cannot be read back and was not kept, it is the only content. Throws
   * E_TOO_LARGE, ToolServerError, the signal's reason.
   */
  async *all(): AsyncGenerator<Entry> {
    const whole = this.refOf(this.#before.get("")) ?? this.refOf(this.#before.get("/contents"));
    if (whole !== undefined) {
      yield* this.#original === undefined ? this.#listStoredOr(whole) : this.#inParts(this.#original);
      return;
    }
    for (const [index, content] of this.#listContents(this.#reduced.value).entries()) {
      const was = this.#before.get(`/contents/${index}`);
      const held = this.#original?.[index];
      if (typeof was === "string")
        yield* await this.#again([held === undefined ? await this.#content(was) : objectOr(held)]);
      else yield { content: objectOr(was ?? content), isReduced: was !== undefined, held: textIn(held) };
    }
  }

  #listContents(result: unknown): readonly unknown[] {
    const { contents } = objectOr(result);
    if (Array.isArray(contents)) return contents as unknown[];
    const place = { source: this.#reading.namespace };
    throw badAnswer(place, "answered without a list of contents", "see the server's own log");
  }

  /** The artifact that a text refers to, if the core stored it for this result. */
  refOf(said: unknown): AnswerRef | undefined {
    const [, id = ""] = REFERENCE.exec(stringOr(said) ?? "") ?? [];
    return this.#refs.get(id);
  }

  /** The text of an artifact, from the store or as it was kept. Undefined for binary data, and if the store fails. */
  async textOf(ref: AnswerRef, held: string | undefined): Promise<string | undefined> {
    if (!this.#texts.has(ref.id)) return undefined;
    if (isTruncated(ref)) return held;
    try {
      return await this.#text(ref);
    } catch (error) {
      this.#reading.signal.throwIfAborted();
      if (error instanceof SluiceError && error.code === "E_TOO_LARGE") throw error;
      return undefined;
    }
  }

  /** Throws E_NOT_FOUND if the store did not keep it, E_TOO_LARGE, E_STORE_…. */
  async #text(ref: AnswerRef): Promise<string> {
    if (ref.size_bytes > MAX_HELD) throw tooMuch();
    const bytes = await this.#means.store.get(ref.id, this.#reading.scope);
    if (bytes === null) throw notKept();
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  }

  /** Like `#listStored`. If it fails at once, gives the artifact itself. */
  async *#listStoredOr(whole: AnswerRef): AsyncGenerator<Entry> {
    let isBegun = false;
    try {
      for await (const entry of this.#listStored(whole)) {
        isBegun = true;
        yield entry;
      }
    } catch (error) {
      this.#reading.signal.throwIfAborted();
      const isLost = error instanceof SluiceError && error.code !== "E_TOO_LARGE" && !error.code.startsWith("E_JSON_");
      if (isBegun || !(isLost || !(error instanceof SluiceError))) throw error;
      yield { content: { text: `artifact://${whole.id}` }, isReduced: true };
    }
  }

  /** Passes contents through the gate again, in parts that are small enough not to be stored whole. */
  async *#inParts(contents: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<Entry> {
    let part: Content[] = [];
    let chars = 0;
    for await (const each of contents) {
      const content = objectOr(each);
      part.push(content);
      chars += (stringOr(content["text"]) ?? stringOr(content["blob"]) ?? "").length + MAX_URI;
      if (chars < MAX_PART.chars && part.length < MAX_PART.contents) continue;
      yield* await this.#again(part);
      part = [];
      chars = 0;
      await pause();
    }
    yield* await this.#again(part);
  }

  /** The contents in a stored list or result. */
  async *#listStored(whole: AnswerRef): AsyncGenerator<Entry> {
    const splitter = new ContentsSplitter();
    yield* this.#inParts(this.#split(whole, splitter));
    // The list may have been stored before the result was.
    const list = splitter.other === undefined ? undefined : this.refOf(JSON.parse(splitter.other));
    if (list !== undefined && list.id !== whole.id) yield* this.#listStored(list);
  }

  async *#split(whole: AnswerRef, splitter: ContentsSplitter): AsyncGenerator<Content> {
    for await (const piece of this.#pieces(whole)) {
      splitter.push(piece);
      for (const text of splitter.take()) yield await this.#content(JSON.parse(text));
    }
    splitter.end();
  }

  async *#pieces({ id }: AnswerRef): AsyncGenerator<Uint8Array> {
    const { scope, signal } = this.#reading;
    const stream = await this.#means.store.openReader(id, { scope });
    if (stream === null) throw notKept();
    for await (const chunk of chunksIn(stream)) {
      for (let at = 0; at < chunk.length; at += PIECE) {
        signal.throwIfAborted();
        yield chunk.subarray(at, at + PIECE);
      }
    }
  }

  /** A content, read back if it was stored by itself. */
  async #content(value: unknown): Promise<Content> {
    const ref = this.refOf(value);
    if (ref === undefined) return objectOr(value);
    // A server can repeat the same reference thousands of times.
    this.#taken += ref.size_bytes;
    if (this.#taken > MAX_TAKEN) throw tooMuch();
    return parseContent(await this.#text(ref));
  }

  /**
   * Passes contents through the gate by themselves. As part of a stored document, their short blobs were not
   * extracted.
   */
  async #again(contents: readonly Content[]): Promise<readonly Entry[]> {
    if (contents.length === 0) return [];
    const { scope, namespace, signal } = this.#reading;
    const part = { contents: contents.map(bare) };
    const reduced = await this.#means.sluice.transform(part, { scope, namespace, signal, dialect: "mcp" });
    const before = this.#note(reduced);
    if (contents.length > 1 && (typeof before.get("") === "string" || typeof before.get("/contents") === "string")) {
      const each: Entry[] = [];
      for (const content of contents) each.push(...(await this.#again([content])));
      return each;
    }
    const { contents: after } = objectOr(reduced.value);
    return contents.map((content, index) => {
      const { text, blob } = objectOr(before.get(`/contents/${index}`) ?? (Array.isArray(after) && after[index]));
      // A content that is stored whole even by itself stays as it is.
      const said = text === undefined && blob === undefined ? {} : { text, blob };
      const held = this.#original === undefined ? undefined : textIn(content);
      return { content: { ...content, ...said }, isReduced: true, held };
    });
  }

  /** Remembers the stored artifacts, and returns what was replaced, by place. */
  #note({ artifacts, refs = "[]" }: Transformed): ReadonlyMap<unknown, unknown> {
    for (const ref of artifacts) this.#refs.set(ref.id, ref);
    const notes = JSON.parse(refs) as Note[];
    for (const { uri, kind } of notes.flatMap((note) => [note, ...(note.refs ?? [])])) {
      const [, id] = REFERENCE.exec(stringOr(uri) ?? "") ?? [];
      if (id !== undefined && kind === "text") this.#texts.add(id);
    }
    return new Map(notes.map(({ at, was }) => [at, was]));
  }
}

/** Only the members that are read: others could make the gate store the content whole. */
function bare({ uri, mimeType, text, blob }: Content): Content {
  return {
    uri: typeof uri === "string" && uri.length <= MAX_URI ? uri : "",
    ...(typeof mimeType === "string" && mimeType.length <= MAX_TYPE && { mimeType }),
    ...(typeof text === "string" ? { text } : typeof blob === "string" && { blob }),
  };
}

/** Empty if a server's own text looked like a reference. */
function parseContent(text: string): Content {
  try {
    return objectOr(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Values that are neither text nor binary are shown as JSON. */
function otherIn({ text, blob }: Content): string {
  const other = text ?? blob;
  return other === undefined || other === null ? "" : JSON.stringify(other);
}

function textIn(content: unknown): string | undefined {
  return stringOr(objectOr(content)["text"]);
}

function notKept(): SluiceError {
  return new SluiceError("E_NOT_FOUND", "The store did not keep the content: read it again.");
}

/** Lets other work and timers run. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}

/** Splits a list, or a result with the list `contents`, into the JSON texts of its elements. */
export class ContentsSplitter implements JsonVisitor {
  readonly #scanner = new JsonScanner(this, 0);
  #chunk: Uint8Array = new Uint8Array(0);
  /** Bytes before this chunk. */
  #base = 0;
  /** The depth of the elements. Undefined outside the list. */
  #depth: number | undefined;
  /** Up to where the bytes of the current element are kept. Undefined outside an element. */
  #from: number | undefined;
  #pieces: Uint8Array[] = [];
  #size = 0;
  #elements: string[] = [];
  #other: string | undefined;

  /** Takes bytes. Throws E_TOO_LARGE for an element that is too large, E_JSON_…. */
  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#scanner.push(chunk);
    this.#keep(this.#base + chunk.length);
    this.#base += chunk.length;
  }

  /** Ends the input. */
  end(): void {
    this.#chunk = new Uint8Array(0);
    this.#scanner.end();
  }

  /** The elements since the last call. */
  take(): readonly string[] {
    const elements = this.#elements;
    this.#elements = [];
    return elements;
  }

  /** What stands in place of the list, if it is not a list. */
  get other(): string | undefined {
    return this.#other;
  }

  /** For {@link JsonScanner}. */
  wantsKey(depth: number): boolean {
    return depth === 1 && this.#depth === undefined;
  }

  /** For {@link JsonScanner}. */
  beginValue(kind: JsonKind, at: number, depth: number, name: string | number | undefined): void {
    const isList = depth === 0 ? kind === "array" : depth === 1 && name === "contents" && this.#depth === undefined;
    if (isList && kind === "array") this.#depth = depth + 1;
    else if (isList || depth === this.#depth) this.#from = at;
  }

  /** For {@link JsonScanner}. */
  endValue(_kind: JsonKind, end: number, depth: number): boolean {
    if (this.#depth !== undefined && depth === this.#depth - 1) this.#depth = undefined;
    const isElement = depth === this.#depth;
    if (this.#from === undefined || !(isElement || depth === 1)) return true;
    this.#keep(end);
    this.#from = undefined;
    const text = decodePieces(this.#pieces);
    this.#pieces = [];
    this.#size = 0;
    if (isElement) this.#elements.push(text);
    else this.#other = text;
    return true;
  }

  #keep(until: number): void {
    if (this.#from === undefined) return;
    const piece = this.#chunk.slice(this.#from - this.#base, until - this.#base);
    this.#from = until;
    this.#pieces.push(piece);
    this.#size += piece.length;
    if (this.#size > MAX_HELD) throw tooMuch();
  }
}

/** The error for a resource that is too large. */
function tooMuch(): SluiceError {
  return new SluiceError("E_TOO_LARGE", "The resource has more contents than fit in memory: read less at a time.");
}
