/**
 * One result from its first byte to its observation.
 * @module
 */
import { fullScope, sameScope, scopeKey } from "../artifacts/scope.js";
import type { ArtifactInfo, ArtifactScope } from "../artifacts/store.js";
import { warningOf } from "../artifacts/unstored.js";
import { Answer } from "./answer.js";
import { base64Of } from "./base64.js";
import { keepBeside, needsBeside } from "./beside.js";
import type { Engine } from "./engine.js";
import { Intake } from "./intake.js";
import { readLink } from "./link.js";
import { checked, isTruncated, SegmentWriter } from "./segment-writer.js";
import type { AnswerOptions, AnswerRef, Transformed, TransformOptions } from "./sluice.js";
import { isExpiry, stillKept } from "./still-kept.js";
import { textOf } from "./stored-text.js";
import type { StoreAccess } from "./store-access.js";
import { chunksIn, filenameOf, typeOf, type ByteSource } from "./value.js";

interface Task {
  readonly kind: "annotate" | "decode" | "read";
  readonly index: number;
  readonly mime_type: string;
  readonly filename: string;
  readonly uri: string;
  readonly size_bytes: number;
}

/** What a stored text turned out to be; unread where the store did not give it back. */
type Decoded = "bytes" | "text" | "unread";

/** What `render` tells of the answer. */
interface Report {
  readonly changed: boolean;
  readonly clamped: boolean;
  readonly shelve: boolean;
  readonly original_chars: number;
  readonly method: string;
}

/** What a message needs beside an engine. */
export interface MessageSurroundings {
  readonly access: StoreAccess;
  readonly options: TransformOptions;
  /** Reduces another result over the same store: what was read from a link. */
  readonly reduce: (result: unknown, options: TransformOptions, access: StoreAccess) => Promise<Transformed>;
  readonly resources: { readonly inlineTextUnderChars: number; readonly cacheReads: boolean };
}

const decoder = new TextDecoder();

const BROKEN_OFF = "Content not stored: the stream that it came from broke off. Call the tool again.";

/** Bytes of a value that the core is handed at a time. */
const CHUNK = 262_144;

/** Drives one engine through one message: its bytes, its end, and any number of answers. */
export class Message {
  readonly #engine: Engine;
  readonly #around: MessageSurroundings;
  readonly #intake: Intake;
  /** The first bytes of the document, as long as all of it may be asked for. */
  #original: Uint8Array[] | undefined;
  #bytesIn = 0;
  /** The answer that is being written, or was last. */
  #writing: AnswerWriter | undefined;
  /** What the gate stored, in the scope of the last answer. */
  #adopted: { readonly scope: string; readonly refs: ReadonlyMap<number, AnswerRef> } | undefined;

  constructor(engine: Engine, around: MessageSurroundings) {
    const { options, access } = around;
    this.#engine = engine;
    this.#around = around;
    this.#intake = new Intake(engine, access, infoOf(options));
    if ((options.keepOriginal ?? 0) > 0) this.#original = [];
    engine.tell(JSON.stringify(callOf(options)), (core) => core.begin());
  }

  /** Whether a call of the store was left under way: it may still look at the engine's memory. */
  get abandoned(): boolean {
    return this.#around.access.abandoned || this.#writing?.access.abandoned === true;
  }

  /** The document as it came; undefined where it was not to be kept, or was too long for it. */
  get original(): readonly Uint8Array[] | undefined {
    return this.#original;
  }

  /** Bytes of the document. Settles when the store has taken what came out. */
  async push(bytes: Uint8Array): Promise<void> {
    this.#around.options.signal?.throwIfAborted();
    this.#engine.push(bytes);
    this.#came(bytes.length, () => bytes.slice());
    if (this.#intake.pending) await this.#intake.drain();
  }

  /** Text of the document: all of it, or what stands before and behind bytes. */
  async pushText(text: string): Promise<void> {
    for (let at = 0; at < text.length;) {
      this.#around.options.signal?.throwIfAborted();
      const { next, bytes } = this.#engine.pushText(text, at);
      const from = at;
      this.#came(bytes, () => new TextEncoder().encode(text.slice(from, next)));
      at = next;
      if (this.#intake.pending) await this.#intake.drain();
    }
  }

  /** Bytes in the place of a value. */
  async pushBytes(source: ByteSource): Promise<void> {
    const told = { mime_type: typeOf(source), filename: filenameOf(source) };
    const isTaken = this.#engine.put(JSON.stringify(told), (core) => core.openBytes());
    if (!isTaken) {
      // Among too many others, and where nothing may be taken out, they are text like any other.
      await this.pushText('"');
      for await (const piece of base64Of(chunksIn(source))) await this.push(piece);
      return this.pushText('"');
    }
    // The document has no text for them.
    this.#original = undefined;
    const isWhole = await this.#takeAll(source);
    this.#engine.call((core) => core.closeBytes());
    await this.#intake.drain();
    if (!isWhole) this.#intake.lose(BROKEN_OFF);
  }

  /** The end of the document. */
  async finish(): Promise<void> {
    this.#engine.must((core) => core.finish());
    if (this.#intake.pending) await this.#intake.drain();
  }

  /** What the layers make of it: tasks are done, the answer is written. */
  async answer(options: AnswerOptions = {}): Promise<Transformed> {
    const { access } = this.#around;
    const around = {
      ...this.#around,
      options: { ...this.#around.options, ...options },
      access: options.signal === undefined ? access : access.with(options.signal),
    };
    // As long as nobody asked for another answer, the core knows the call.
    const isAsBegun = this.#writing === undefined && options.tool === undefined && options.dialect === undefined;
    const refs = await this.#refsFor(around);
    this.#writing = new AnswerWriter(this.#engine, around, { refs, size: this.#bytesIn, isAsBegun });
    return this.#writing.write();
  }

  /** Leaves nothing half-written behind. */
  async abort(): Promise<void> {
    await this.#intake.abort();
  }

  async #refsFor(around: MessageSurroundings): Promise<ReadonlyMap<number, AnswerRef>> {
    const from = this.#around.options.scope;
    const { scope } = around.options;
    if (this.#intake.refs.size === 0 || sameScope(from, scope)) return this.#intake.refs;
    if (this.#adopted?.scope !== scopeKey(scope)) {
      this.#adopted = { scope: scopeKey(scope), refs: await adopted(this.#intake.refs, from, around) };
    }
    return this.#adopted.refs;
  }

  /** False where the source fails before its end: what else is in the document stays all the same. */
  async #takeAll(source: ByteSource): Promise<boolean> {
    const { access, options } = this.#around;
    const chunks = chunksIn(source);
    for (;;) {
      let next: IteratorResult<Uint8Array>;
      try {
        next = await access.ended(chunks.next());
      } catch {
        // Whoever gives the bytes may still be waited for: it is told that nobody wants them.
        void chunks.return(undefined);
        options.signal?.throwIfAborted();
        return false;
      }
      if (next.done === true) return true;
      const chunk = next.value;
      for (let at = 0; at < chunk.length; at += CHUNK) await this.#take(chunk.subarray(at, at + CHUNK));
    }
  }

  async #take(bytes: Uint8Array): Promise<void> {
    this.#around.options.signal?.throwIfAborted();
    this.#engine.call((core) => {
      core.bytesRoom(bytes.length).set(bytes);
      core.bytesWritten(bytes.length);
    });
    this.#bytesIn += bytes.length;
    await this.#intake.drain();
  }

  #came(size: number, copy: () => Uint8Array): void {
    this.#bytesIn += size;
    if (this.#original === undefined) return;
    if (this.#bytesIn > (this.#around.options.keepOriginal ?? 0)) this.#original = undefined;
    else this.#original.push(copy());
  }
}

/** What the gate made of a message. */
interface Gated {
  /** Of its segments; the layers may add some. */
  readonly refs: ReadonlyMap<number, AnswerRef>;
  /** Bytes of the document. */
  readonly size: number;
  /** Whether the answer is for the call that the message was begun for. */
  readonly isAsBegun: boolean;
}

/** Writes one answer from what an engine holds of a message. */
class AnswerWriter {
  readonly access: StoreAccess;
  readonly #engine: Engine;
  readonly #around: MessageSurroundings;
  readonly #intake: Intake;
  readonly #bytesIn: number;
  readonly #isAsBegun: boolean;
  /** What was stored of resources that were read. */
  readonly #linked: AnswerRef[] = [];
  /** Segments whose text may be encoded bytes: the store could not give it back to be decoded. */
  readonly #opaque = new Set<number>();
  /** Whether the store no longer knew of something that it had taken. */
  #missing = false;

  constructor(engine: Engine, around: MessageSurroundings, { refs, size, isAsBegun }: Gated) {
    this.access = around.access;
    this.#engine = engine;
    this.#around = around;
    this.#intake = new Intake(engine, around.access, infoOf(around.options), refs);
    this.#bytesIn = size;
    this.#isAsBegun = isAsBegun;
  }

  async write(): Promise<Transformed> {
    const { access, options } = this.#around;
    if (this.#isAsBegun) this.#engine.must((core) => core.plan(false));
    else this.#engine.tell(JSON.stringify(callOf(options)), (core) => core.plan(true));
    try {
      if (this.#intake.pending) await this.#intake.drain();
    } finally {
      await this.#intake.abort();
    }
    // Without segments only links can ask for anything, and only of a host that reads them.
    if (this.#intake.refs.size > 0 || options.readResource !== undefined) await this.#doTasks();
    await this.#tellStored();
    this.#engine.must((core) => core.render());
    let bytesOut = this.#engine.call((core) => core.output().length);
    let text = this.#engine.call((core) => decoder.decode(core.output()));
    const report = JSON.parse(this.#engine.ask((core) => core.report())) as Report;
    let method = report.method;
    if (report.shelve) {
      if (await this.#storeWhole()) method = "stored";
      bytesOut = this.#engine.call((core) => core.output().length);
      text = this.#engine.call((core) => decoder.decode(core.output()));
    }
    const cut = report.clamped ? { originalChars: report.original_chars, method } : undefined;
    const { changed } = report;
    const refs = options.dialect === "mcp" && changed ? this.#refs() : undefined;
    if (options.dialect === "mcp" && needsBeside(text, refs)) await keepBeside(access, options, text, refs ?? "[]");
    const artifacts = eachOnce([...this.#intake.refs.values(), ...this.#linked]);
    const { failures } = access;
    return new Answer({ text, artifacts, failures, changed, cut, bytesIn: this.#bytesIn, bytesOut, refs });
  }

  async #tellStored(): Promise<void> {
    const { refs } = this.#intake;
    const isCrowded = refs.size > 1 || this.#missing;
    for (const [segment, ref] of refs) {
      const kept = isCrowded ? await stillKept(this.#around.access, ref) : ref;
      this.#intake.setRef(segment, kept);
      const told = storedMessage(segment, kept, this.#opaque.has(segment));
      this.#engine.tell(JSON.stringify(told), (core) => core.stored());
    }
  }

  #refs(): string {
    return this.#engine.ask((core) => core.refs());
  }

  // Decoding may add tasks, so the list is read again until nothing is left of it.
  async #doTasks(): Promise<void> {
    for (let done = 0; ;) {
      const tasks = JSON.parse(this.#engine.ask((core) => core.tasks())) as Task[];
      if (done >= tasks.length) return;
      for (; done < tasks.length; done += 1) {
        const task = tasks[done];
        if (task !== undefined) await this.#do(task);
      }
    }
  }

  async #do(task: Task): Promise<void> {
    this.#around.options.signal?.throwIfAborted();
    if (task.kind === "annotate") await this.#annotate(task);
    else if (task.kind === "decode") await this.#decode(task);
    else await this.#read(task);
  }

  /** The names of what the store could not be told stand in the answer all the same. */
  async #annotate({ index, mime_type, filename }: Task): Promise<void> {
    const ref = this.#intake.refs.get(index);
    if (ref === undefined) return;
    const { access, options } = this.#around;
    const { tool } = options;
    const patch = {
      ...(mime_type !== "" && { mime_type }),
      ...(filename !== "" && { filename }),
      // The gate may not have known yet.
      ...(tool !== undefined && ref.source["tool"] !== tool && { source: { ...ref.source, tool } }),
    };
    const tell = (): Promise<AnswerRef | null> =>
      access.call("write", async (store) => {
        const updated = await unlessExpired(async () => store.update(ref.id, patch, ref.scope));
        this.#missing ||= updated === null;
        return updated && checked(updated);
      });
    const updated = isTruncated(ref) ? null : await access.attempt(tell, () => null);
    this.#intake.setRef(index, updated ?? { ...ref, ...patch });
  }

  /** What was stored as text is base64 of a block: its bytes take the text's place. */
  async #decode({ index }: Task): Promise<void> {
    const ref = this.#intake.refs.get(index);
    if (ref === undefined) return;
    if (isTruncated(ref)) return void this.#opaque.add(index);
    const { access } = this.#around;
    const writer = await SegmentWriter.open(access, infoOf(this.#around.options, ref.source));
    try {
      const decode = (): Promise<Decoded> => this.#decoded(index, ref, writer);
      const outcome = await access.attempt(decode, () => "unread");
      // The text stays, for retention to remove: the same string may stand elsewhere, and be named by this id.
      if (outcome === "bytes") {
        const original = this.#engine.call((core) => core.original(index));
        if (original >= 0 && !this.#intake.refs.has(original)) this.#intake.setRef(original, ref);
        this.#intake.setRef(index, await writer.close());
      }
      if (outcome === "unread") this.#opaque.add(index);
    } finally {
      await writer.abort();
    }
  }

  async #decoded(index: number, ref: AnswerRef, writer: SegmentWriter): Promise<Decoded> {
    const chunks = await textOf(ref, this.#engine, this.#around.access);
    if (chunks === null) return "unread";
    this.#engine.call((core) => core.beginDecode(index));
    for await (const chunk of chunks) {
      if (chunk === null) return "unread";
      const bytes = this.#engine.call((core) => {
        core.input(chunk.length).set(chunk);
        return core.decode() ? core.output().slice() : undefined;
      });
      if (bytes === undefined) return "text";
      await writer.write(bytes);
    }
    const last = this.#engine.call((core) => (core.endDecode() ? core.output().slice() : undefined));
    if (last === undefined) return "text";
    await writer.write(last);
    return "bytes";
  }

  async #read({ index, uri }: Task): Promise<void> {
    const { outcome, artifacts } = await readLink(uri, this.#around);
    this.#linked.push(...artifacts);
    this.#engine.tell(JSON.stringify(outcome), (core) => {
      core.link(index);
      return true;
    });
  }

  /**
   * The observation was clamped: the whole of it is stored, and referred to. False when the store refuses: what was
   * left of it is more than a reference to nothing, and says so.
   */
  async #storeWhole(): Promise<boolean> {
    const intake = new Intake(this.#engine, this.#around.access, infoOf(this.#around.options, { observation: true }));
    this.#engine.call((core) => core.shelve());
    try {
      await intake.drain();
    } finally {
      await intake.abort();
    }
    const ref = intake.refs.get(0);
    if (ref === undefined) return false;
    const isStored = !isTruncated(ref);
    if (isStored) this.#intake.setRef(Number.MAX_SAFE_INTEGER, ref);
    this.#engine.tell(JSON.stringify(storedMessage(0, ref, false)), (core) => core.shelved());
    return isStored;
  }
}

/** What is said of what is stored of a result. */
function infoOf(
  { namespace, scope, tool }: TransformOptions,
  source: Readonly<Record<string, unknown>> = tool === undefined ? {} : { tool },
): ArtifactInfo {
  return { ...(namespace !== undefined && { namespace }), ...(scope !== undefined && { scope }), source };
}

/** What the core is told of a call. */
function callOf({ tool, namespace, dialect, clientShowsImages, transformed }: TransformOptions): object {
  return { tool, namespace, dialect, client_shows_images: clientShowsImages, transformed };
}

/** Stores in another scope what the gate stored, since whose it is was not known: what cannot be is said to be gone. */
async function adopted(
  refs: ReadonlyMap<number, AnswerRef>,
  from: ArtifactScope | undefined,
  { access, options }: MessageSurroundings,
): Promise<ReadonlyMap<number, AnswerRef>> {
  const own = new Map<number, AnswerRef>();
  for (const [segment, ref] of refs) {
    const there = isTruncated(ref) ? ref : await copied(ref, from, options, access);
    own.set(segment, { ...there, scope: fullScope(options.scope) });
  }
  return own;
}

async function copied(
  ref: AnswerRef,
  from: ArtifactScope | undefined,
  options: TransformOptions,
  access: StoreAccess,
): Promise<AnswerRef> {
  const { mime_type, filename, source } = ref;
  const copy = async (): Promise<AnswerRef> => {
    const chunks = await access.openChunks(ref.id, from);
    if (chunks === null)
      return access.standIn.instead(ref, "Content not stored: it was gone before its result was complete.");
    const writer = await SegmentWriter.open(access, { ...infoOf(options, source), mime_type, filename });
    try {
      for await (const chunk of chunks) await writer.write(chunk);
      return await writer.close();
    } finally {
      await writer.abort();
    }
  };
  return access.attempt(copy, (failure) => access.standIn.instead(ref, warningOf(failure)));
}

/** One content may stand in a result twice, as text and as structure: it is one artifact. */
function eachOnce(refs: readonly AnswerRef[]): readonly AnswerRef[] {
  return [...new Map(refs.map((ref) => [ref.id, ref])).values()];
}

/** What has expired is looked after when all is stored, see `stillKept`. */
async function unlessExpired<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (isExpiry(error)) return null;
    throw error;
  }
}

/** A store may be anybody's: only what the core can read is passed on. */
function storedMessage(segment: number, ref: AnswerRef, opaque: boolean): Readonly<Record<string, unknown>> {
  const { id, filename, mime_type } = ref;
  const warning = ref.source["warning"];
  return {
    segment,
    id,
    filename: stringOr(filename),
    mime_type: stringOr(mime_type),
    warning: stringOr(warning),
    opaque,
  };
}

function stringOr(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
