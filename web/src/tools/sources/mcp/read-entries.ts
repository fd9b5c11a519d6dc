/**
 * The contents of a resource as the gate let them through. Where they are too many for one document it diverts the list, or
 * the whole result: then they are taken out of what was stored, and go through the gate again in parts.
 * @module
 */
import type { ArtifactStore } from "../../../artifacts/store.js";
import type { AnswerRef, Sluice, Transformed } from "../../../core/sluice.js";
import { SluiceError } from "../../../errors/error.js";
import { objectOr, stringOr } from "../../../mcp/rpc.js";
import { MAX_URI } from "../../resources/limits.js";
import { chunksOf } from "../body/chunks.js";
import { ContentsSplitter, tooMuch } from "./contents-splitter.js";
import { MAX_HELD } from "./limits.js";
import type { Reading } from "./read-contents.js";

/** Where artifacts are, and what knows files. */
export interface Means {
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
}

/** A content of a resource in the words of the wire. */
type Content = Readonly<Record<string, unknown>>;

/** One content as it came; where bytes or a long text stood, their reference. */
export interface Entry {
  readonly content: Content;
  /** Whether its texts may be references of ours. */
  readonly isReduced: boolean;
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
export class Entries {
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
    this.#original = original === undefined ? undefined : contentsOf(original);
    this.#reading = reading;
    this.#means = means;
    this.#before = this.#noted(reduced);
  }

  /** Whether nothing is left of the result, not even what it says beside its contents. */
  get isDiverted(): boolean {
    return this.refOf(this.#before.get("")) !== undefined;
  }

  /**
   * All contents. Where the store does not give back what was diverted with all that surrounds it, and nobody holds it, that is the
   * one content. Throws E_TOO_LARGE for a content that cannot be held, the signal's reason.
   */
  async *all(): AsyncGenerator<Entry> {
    const whole = this.refOf(this.#before.get("")) ?? this.refOf(this.#before.get("/contents"));
    if (whole !== undefined) {
      yield* this.#original === undefined ? this.#storedOr(whole) : this.#inParts(this.#original);
      return;
    }
    for (const [index, content] of contentsOf(this.#reduced.value).entries()) {
      const was = this.#before.get(`/contents/${index}`);
      const held = this.#original?.[index];
      if (typeof was === "string")
        yield* await this.#again([held === undefined ? await this.#content(was) : objectOr(held)]);
      else yield { content: objectOr(was ?? content), isReduced: was !== undefined };
    }
  }

  /** The artifact that a text refers to as a whole, if the core stored it for these contents. */
  refOf(said: unknown): AnswerRef | undefined {
    const [, id = ""] = REFERENCE.exec(stringOr(said) ?? "") ?? [];
    return this.#refs.get(id);
  }

  /** A text that was stored as it is; undefined for bytes, and where the store does not give it back. */
  async textOf(ref: AnswerRef): Promise<string | undefined> {
    if (!this.#texts.has(ref.id) || ref.source["truncated"] === true) return undefined;
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
    for await (const chunk of chunksOf(stream)) {
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
    const after = contentsOf(reduced.value);
    return contents.map((content, index) => {
      const { text, blob } = objectOr(before.get(`/contents/${index}`) ?? after[index]);
      // One that is diverted even by itself stays as it is.
      const said = text === undefined && blob === undefined ? {} : { text, blob };
      return { content: { ...content, ...said }, isReduced: true };
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

function contentsOf(result: unknown): readonly unknown[] {
  const { contents } = objectOr(result);
  return Array.isArray(contents) ? (contents as unknown[]) : [];
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
