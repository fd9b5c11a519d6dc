/**
 * One result from its first byte to its observation.
 * @module
 */
import type { ArtifactInfo } from "../artifacts/store.js";
import { Answer } from "./answer.js";
import type { Engine } from "./engine.js";
import { Intake } from "./intake.js";
import { readLink } from "./link.js";
import { checked, isTruncated, SegmentWriter } from "./segment-writer.js";
import type { AnswerRef, Transformed, TransformOptions } from "./sluice.js";
import { isExpiry, stillKept } from "./still-kept.js";
import type { StoreAccess } from "./store-access.js";

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

/** Drives one engine through one message. */
export class Message {
  readonly #engine: Engine;
  readonly #around: MessageSurroundings;
  readonly #intake: Intake;
  /** What was stored of resources that were read. */
  readonly #linked: AnswerRef[] = [];
  /** Segments whose text may be encoded bytes: the store could not give it back to be decoded. */
  readonly #opaque = new Set<number>();
  /** Whether the store no longer knew of something that it had taken. */
  #missing = false;
  #bytesIn = 0;

  constructor(engine: Engine, around: MessageSurroundings) {
    const { tool, namespace, dialect, clientShowsImages } = around.options;
    this.#engine = engine;
    this.#around = around;
    this.#intake = new Intake(engine, around.access, this.#info(tool === undefined ? {} : { tool }));
    const call = { tool, namespace, dialect, client_shows_images: clientShowsImages };
    engine.tell(JSON.stringify(call), (core) => core.begin());
  }

  /** Bytes of the document. Settles when the store has taken what came out. */
  async push(bytes: Uint8Array): Promise<void> {
    this.#around.options.signal?.throwIfAborted();
    this.#engine.push(bytes);
    this.#bytesIn += bytes.length;
    if (this.#intake.pending) await this.#intake.drain();
  }

  /** The document as text, all of it. */
  async pushText(text: string): Promise<void> {
    for (let at = 0; at < text.length;) {
      this.#around.options.signal?.throwIfAborted();
      const { next, bytes } = this.#engine.pushText(text, at);
      at = next;
      this.#bytesIn += bytes;
      if (this.#intake.pending) await this.#intake.drain();
    }
  }

  /** The end of the document: tasks are done, the answer is written. */
  async finish(): Promise<Transformed> {
    this.#engine.must((core) => core.finish());
    if (this.#intake.pending) await this.#intake.drain();
    // Without segments only links can ask for anything, and only of a host that reads them.
    if (this.#intake.refs.size > 0 || this.#around.options.readResource !== undefined) await this.#doTasks();
    await this.#tellStored();
    this.#engine.must((core) => core.render());
    let bytesOut = this.#engine.call((core) => core.output().length);
    let text = this.#engine.call((core) => decoder.decode(core.output()));
    const report = JSON.parse(this.#engine.ask((core) => core.report())) as Report;
    const whole = report.shelve ? await this.#shelve() : undefined;
    if (whole !== undefined) {
      text = whole;
      bytesOut = new TextEncoder().encode(text).length;
    }
    const method = whole === undefined ? report.method : "stored";
    const cut = report.clamped ? { originalChars: report.original_chars, method } : undefined;
    const { access, options } = this.#around;
    const refs = options.dialect === "mcp" && report.changed ? this.#refs() : undefined;
    const artifacts = eachOnce([...this.#intake.refs.values(), ...this.#linked]);
    const { changed } = report;
    const { failures } = access;
    return new Answer({ text, artifacts, failures, changed, cut, bytesIn: this.#bytesIn, bytesOut, refs });
  }

  /** Leaves nothing half-written behind. */
  async abort(): Promise<void> {
    await this.#intake.abort();
  }

  #info(source: Readonly<Record<string, unknown>>): ArtifactInfo {
    const { namespace, scope } = this.#around.options;
    return { ...(namespace !== undefined && { namespace }), ...(scope !== undefined && { scope }), source };
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
    const { access } = this.#around;
    const patch = { ...(mime_type !== "" && { mime_type }), ...(filename !== "" && { filename }) };
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
    const writer = await SegmentWriter.open(access, this.#info(ref.source));
    try {
      const decode = (): Promise<Decoded> => this.#decoded(index, ref, writer);
      const outcome = await access.attempt(decode, () => "unread");
      // The text stays, for retention to remove: the same string may stand elsewhere, and be named by this id.
      if (outcome === "bytes") this.#intake.setRef(index, await writer.close());
      if (outcome === "unread") this.#opaque.add(index);
    } finally {
      await writer.abort();
    }
  }

  async #decoded(index: number, ref: AnswerRef, writer: SegmentWriter): Promise<Decoded> {
    const chunks = await this.#around.access.openChunks(ref.id, ref.scope);
    if (chunks === null) return "unread";
    this.#engine.call((core) => core.beginDecode(index));
    for await (const chunk of chunks) {
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
   * The observation was clamped: the whole of it is stored, and referred to. Undefined when the store refuses: what
   * was left of it is more than a reference to nothing.
   */
  async #shelve(): Promise<string | undefined> {
    const intake = new Intake(this.#engine, this.#around.access, this.#info({ observation: true }));
    this.#engine.call((core) => core.shelve());
    try {
      await intake.drain();
    } finally {
      await intake.abort();
    }
    const ref = intake.refs.get(0);
    if (ref === undefined || isTruncated(ref)) return undefined;
    this.#intake.setRef(Number.MAX_SAFE_INTEGER, ref);
    this.#engine.tell(JSON.stringify(storedMessage(0, ref, false)), (core) => core.shelved());
    return this.#engine.call((core) => decoder.decode(core.output()));
  }
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
