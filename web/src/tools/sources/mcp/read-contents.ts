/**
 * What a server answered to `resources/read`, behind the gate, as contents: texts that are short enough, and artifacts.
 *
 * Where the contents are too many for one document the gate diverts the list, or the whole result: then they are taken out of what
 * was stored, and go through the gate again in parts.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../../../artifacts/store.js";
import { ToolArtifacts } from "../../../artifacts/tool-artifacts.js";
import { isTruncated } from "../../../artifacts/unstored.js";
import { plainType } from "../../../core/media-type.js";
import type { AnswerRef, Sluice, Transformed } from "../../../core/sluice.js";
import { chunksIn } from "../../../core/value.js";
import { SluiceError } from "../../../errors/error.js";
import { JsonScanner, type JsonKind, type JsonVisitor } from "../../../mcp/reading/json-scanner.js";
import { objectOr, stringOr } from "../../../mcp/rpc.js";
import { textOf } from "../../../transports/bytes.js";
import { subjectOf } from "../../adapting/place.js";
import { ToolServerError } from "../../errors.js";
import type { Freshness, ReadContent, ReadResult } from "../../resources/connection.js";
import { MAX_URI } from "../../resources/limits.js";

/** Bytes of a resource's texts that are held at once. */
const MAX_HELD: number = 8 * 1024 * 1024;

/** How a resource is read. */
export interface Reading {
  readonly scope: ArtifactScope;
  readonly namespace: string;
  /** Characters of a text that stay. */
  readonly inlineChars: number;
  readonly signal: AbortSignal;
}

/** Bytes of a file's beginning that tell what it is. */
const HEAD = 4096;

/** Contents that are taken of one resource. */
const MAX_CONTENTS = 50_000;

/**
 * The contents of a resource: bytes as artifacts, whatever their number and size, and texts: the short ones, and those that the
 * store does not keep.
 *
 * @param reduced the result in the mcp dialect.
 * @param original the result as it came, where it is held.
 * @throws ToolServerError when the result has no list of contents.
 * @throws SluiceError E_TOO_LARGE when there are more short texts than can be held, or too many contents; E_STORE_….
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
    const content = await contentOf(entry, entries, reading, means);
    held += content.uri.length + (content.kind === "text" ? content.text.length : 0);
    if (held > MAX_HELD || contents.length >= MAX_CONTENTS) throw tooMuch();
    contents.push(content);
  }
  // How long it may be kept went with all the rest: it is not kept.
  return { contents, ...(entries.isDiverted ? { ttl_ms: 0 } : freshnessOf(reduced.value)) };
}

async function contentOf(
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
    const bytes = isText || blob === undefined ? undefined : bytesOf(blob);
    // What is no base64 is a text, and nothing of the type that was declared.
    const type = isText ? mime_type : null;
    if (bytes === undefined && isShort(said, inlineChars)) return { kind: "text", uri, mime_type: type, text: said };
    const made = await stored(bytes ?? said, type, reading, means);
    if (bytes === undefined && isTruncated(made)) return { kind: "text", uri, mime_type: type, text: said };
    return artifact(uri, made);
  }
  const isLost = isTruncated(ref);
  // Four bytes are the most that one character has.
  const isRead = isText && (isLost || ref.size_bytes <= 4 * inlineChars);
  const text = isRead ? await entries.textOf(ref, held) : undefined;
  if (text !== undefined && (isLost || isShort(text, inlineChars))) return { kind: "text", uri, mime_type, text };
  return artifact(uri, ref);
}

/** The bytes of a blob that the gate let stay: how it is configured is no matter to what is bytes by its very name. */
function bytesOf(blob: string): Uint8Array | undefined {
  if (blob === "") return undefined;
  try {
    return Uint8Array.from(atob(blob.replaceAll("-", "+").replaceAll("_", "/")), (unit) => unit.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Its type is what the core made of the bytes and of what was declared. */
function artifact(uri: string, ref: AnswerRef): ReadContent {
  const { id, mime_type, size_bytes, filename, source } = ref;
  const summary = [source["description"], source["warning"]].filter((part) => typeof part === "string").join("; ");
  return { kind: "artifact", uri, mime_type, id, size_bytes, filename, summary };
}

/** The gate lets it stay, and its reader does not. */
async function stored(
  said: Uint8Array | string,
  mime_type: string | null,
  { scope, namespace }: Reading,
  { sluice, store }: Means,
): Promise<AnswerRef> {
  const bytes = typeof said === "string" ? new TextEncoder().encode(said) : said;
  const { description, mime_type: found } = sluice.sniff(bytes.subarray(0, HEAD), bytes.length);
  // What the store refuses has a ref that says so.
  const artifacts = new ToolArtifacts(store, { scope, namespace, source: { description }, onFailure: () => undefined });
  if (typeof said === "string") return artifacts.putText(said, mime_type === null ? {} : { mime_type });
  return artifacts.putBytes(said, { mime_type: found });
}

/** Whether a text has no more code points than these. */
function isShort(text: string, most: number): boolean {
  if (text.length <= most) return true;
  return text.length <= 2 * most && Array.from(text).length <= most;
}

function freshnessOf(value: unknown): Freshness {
  const { ttlMs, cacheScope } = objectOr(value);
  return {
    ...(typeof ttlMs === "number" && Number.isFinite(ttlMs) && { ttl_ms: Math.max(0, ttlMs) }),
    ...((cacheScope === "public" || cacheScope === "private") && { cache_scope: cacheScope }),
  };
}

/** Where artifacts are, and what knows files. */
interface Means {
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
}

/** A content of a resource in the words of the wire. */
type Content = Readonly<Record<string, unknown>>;

/** One content as it came; where bytes or a long text stood, their reference. */
interface Entry {
  readonly content: Content;
  /** Whether its texts may be references of ours. */
  readonly isReduced: boolean;
  /** Its text before it was reduced, where that is held. */
  readonly held?: string | undefined;
}

/** A note of the core's on what it put in place of something (`_meta["sluice/refs"]`). */
interface Note {
  readonly at?: unknown;
  readonly was?: unknown;
  readonly uri?: unknown;
  readonly kind?: unknown;
  /** Of the references inside what stood there. */
  readonly refs?: readonly Note[];
}

/** A reference that is a whole string. */
const REFERENCE = /^artifact:\/\/([\w.-]+)(?:\?[^\s"]*)?$/;

/** What goes through the gate again at a time: characters of JSON, far below what is diverted whole, and contents. */
const MAX_PART: { readonly chars: number; readonly contents: number } = { chars: 16_384, contents: 64 };

/** Bytes of contents that were diverted by themselves, all in all. */
const MAX_TAKEN = 8 * MAX_HELD;

/** Bytes of a stored text that are looked at without a pause. */
const PIECE = 65_536;

/** Characters of what can be a type. */
const MAX_TYPE = 255;

/** The contents of one result, in their order, and the artifacts that they refer to. */
class Entries {
  readonly #reduced: Transformed;
  readonly #reading: Reading;
  readonly #means: Means;
  /** The contents as they came, where they are held. */
  readonly #original: readonly unknown[] | undefined;
  readonly #refs = new Map<string, AnswerRef>();
  /** Ids of texts that were stored as they are; all others are the bytes of what was encoded. */
  readonly #texts = new Set<string>();
  /** Bytes of contents that were diverted by themselves. */
  #taken = 0;
  /** What stood where, before the core put something else there. */
  readonly #before: ReadonlyMap<unknown, unknown>;

  constructor(reduced: Transformed, reading: Reading, means: Means, original: unknown) {
    this.#reduced = reduced;
    this.#reading = reading;
    this.#original = original === undefined ? undefined : this.#contentsOf(original);
    this.#means = means;
    this.#before = this.#noted(reduced);
  }

  /** Whether nothing is left of the result, not even what it says beside its contents. */
  get isDiverted(): boolean {
    return this.refOf(this.#before.get("")) !== undefined;
  }

  /**
   * All contents. Where the store does not give back what was diverted with all that surrounds it, and nobody holds it, that is the
   * one content. Throws E_TOO_LARGE for a content that cannot be held, ToolServerError, the signal's reason.
   */
  async *all(): AsyncGenerator<Entry> {
    const whole = this.refOf(this.#before.get("")) ?? this.refOf(this.#before.get("/contents"));
    if (whole !== undefined) {
      yield* this.#original === undefined ? this.#storedOr(whole) : this.#inParts(this.#original);
      return;
    }
    for (const [index, content] of this.#contentsOf(this.#reduced.value).entries()) {
      const was = this.#before.get(`/contents/${index}`);
      const held = this.#original?.[index];
      if (typeof was === "string")
        yield* await this.#again([held === undefined ? await this.#content(was) : objectOr(held)]);
      else yield { content: objectOr(was ?? content), isReduced: was !== undefined, held: textIn(held) };
    }
  }

  #contentsOf(result: unknown): readonly unknown[] {
    const { contents } = objectOr(result);
    if (Array.isArray(contents)) return contents as unknown[];
    const subject = subjectOf({ source: this.#reading.namespace });
    throw new ToolServerError(`${subject} answered without a list of contents: see the server's own log.`, {
      category: "non_retryable",
    });
  }

  /** The artifact that a text refers to as a whole, if the core stored it for these contents. */
  refOf(said: unknown): AnswerRef | undefined {
    const [, id = ""] = REFERENCE.exec(stringOr(said) ?? "") ?? [];
    return this.#refs.get(id);
  }

  /**
   * A text that was stored as it is, or that was not and is held; undefined for bytes, and where the store does not give it back.
   */
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

  /** Throws E_NOT_FOUND when the store did not keep it, E_TOO_LARGE, E_STORE_…. */
  async #text(ref: AnswerRef): Promise<string> {
    if (ref.size_bytes > MAX_HELD) throw tooMuch();
    const bytes = await this.#means.store.get(ref.id, this.#reading.scope);
    if (bytes === null) throw notKept();
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  }

  /** The same, or the artifact itself where it cannot be had. */
  async *#storedOr(whole: AnswerRef): AsyncGenerator<Entry> {
    let isBegun = false;
    try {
      for await (const entry of this.#stored(whole)) {
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

  /** Contents, so many at a time that the gate has to divert none for what surrounds it. */
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

  /** The contents in the text of a list, or of a result. */
  async *#stored(whole: AnswerRef): AsyncGenerator<Entry> {
    const splitter = new ContentsSplitter();
    yield* this.#inParts(this.#split(whole, splitter));
    // The list may have gone before the result did.
    const list = splitter.other === undefined ? undefined : this.refOf(JSON.parse(splitter.other));
    if (list !== undefined && list.id !== whole.id) yield* this.#stored(list);
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

  /** A content, also where it was diverted by itself. */
  async #content(value: unknown): Promise<Content> {
    const ref = this.refOf(value);
    if (ref === undefined) return objectOr(value);
    // A server can write the same reference thousands of times.
    this.#taken += ref.size_bytes;
    if (this.#taken > MAX_TAKEN) throw tooMuch();
    return parsed(await this.#text(ref));
  }

  /** What was diverted with all that surrounds it was not looked at by itself: short blobs are base64 in it still. */
  async #again(contents: readonly Content[]): Promise<readonly Entry[]> {
    if (contents.length === 0) return [];
    const { scope, namespace, signal } = this.#reading;
    const part = { contents: contents.map(bare) };
    const reduced = await this.#means.sluice.transform(part, { scope, namespace, signal, dialect: "mcp" });
    const before = this.#noted(reduced);
    if (contents.length > 1 && (typeof before.get("") === "string" || typeof before.get("/contents") === "string")) {
      const each: Entry[] = [];
      for (const content of contents) each.push(...(await this.#again([content])));
      return each;
    }
    const { contents: after } = objectOr(reduced.value);
    return contents.map((content, index) => {
      const { text, blob } = objectOr(before.get(`/contents/${index}`) ?? (Array.isArray(after) && after[index]));
      // One that is diverted even by itself stays as it is.
      const said = text === undefined && blob === undefined ? {} : { text, blob };
      const held = this.#original === undefined ? undefined : textIn(content);
      return { content: { ...content, ...said }, isReduced: true, held };
    });
  }

  /** Keeps account of what was stored; gives what stood where. */
  #noted({ artifacts, refs = "[]" }: Transformed): ReadonlyMap<unknown, unknown> {
    for (const ref of artifacts) this.#refs.set(ref.id, ref);
    const notes = JSON.parse(refs) as Note[];
    for (const { uri, kind } of notes.flatMap((note) => [note, ...(note.refs ?? [])])) {
      const [, id] = REFERENCE.exec(stringOr(uri) ?? "") ?? [];
      if (id !== undefined && kind === "text") this.#texts.add(id);
    }
    return new Map(notes.map(({ at, was }) => [at, was]));
  }
}

/** Nothing but what a content is read by: whatever else is in it could have it diverted. */
function bare({ uri, mimeType, text, blob }: Content): Content {
  return {
    uri: typeof uri === "string" && uri.length <= MAX_URI ? uri : "",
    ...(typeof mimeType === "string" && mimeType.length <= MAX_TYPE && { mimeType }),
    ...(typeof text === "string" ? { text } : typeof blob === "string" && { blob }),
  };
}

/** Empty where a server's own words were taken for a reference to a content. */
function parsed(text: string): Content {
  try {
    return objectOr(JSON.parse(text));
  } catch {
    return {};
  }
}

/** What is neither text nor bytes is shown as it came. */
function otherIn({ text, blob }: Content): string {
  const other = text ?? blob;
  return other === undefined || other === null ? "" : JSON.stringify(other);
}

function textIn(content: unknown): string | undefined {
  return stringOr(objectOr(content)["text"]);
}

function notKept(): SluiceError {
  return new SluiceError("E_NOT_FOUND", "The store did not keep what was read: read it again.");
}

/** Others get their turn, and time limits theirs. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}

/** Takes the list itself, or the result that has it as `contents`, and gives each element as it is written. */
export class ContentsSplitter implements JsonVisitor {
  readonly #scanner = new JsonScanner(this, 0);
  #chunk: Uint8Array = new Uint8Array(0);
  /** Bytes before this chunk. */
  #base = 0;
  /** How deep the elements are; undefined outside of the list. */
  #depth: number | undefined;
  /** Up to where of an open element, or of what stands in the list's place, the bytes are kept; undefined outside. */
  #from: number | undefined;
  #pieces: Uint8Array[] = [];
  #size = 0;
  #elements: string[] = [];
  #other: string | undefined;

  /** Takes bytes, which are not kept. Throws E_TOO_LARGE for an element beyond all measure, E_JSON_…. */
  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#scanner.push(chunk);
    this.#keep(this.#base + chunk.length);
    this.#base += chunk.length;
  }

  /** Nothing more comes. */
  end(): void {
    this.#chunk = new Uint8Array(0);
    this.#scanner.end();
  }

  /** The elements since the last time. */
  take(): readonly string[] {
    const elements = this.#elements;
    this.#elements = [];
    return elements;
  }

  /** What stands in the place of the list, where that is none. */
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
    const text = textOf(this.#pieces);
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

/** What is said of a resource that is more than can be held. */
function tooMuch(): SluiceError {
  return new SluiceError("E_TOO_LARGE", "The resource has more contents than can be held: read less at a time.");
}
