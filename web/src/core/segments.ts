/**
 * Segments on their way from the core to the store. `Segments` stores what the core diverts, each segment by a `SegmentWriter`, and
 * does what the layers ask for while an answer is written: the store learns names and types, base64 that was stored as text is decoded,
 * and links are read.
 * @module
 */
import type { ArtifactInfo, ArtifactPatch, ArtifactRef, ArtifactWriter } from "../artifacts/store.js";
import {
  toTruncatedRef,
  isTruncated,
  openUnstored,
  toWarning,
  type Unkept,
  type Unstored,
} from "../artifacts/reference.js";
import { readAhead } from "../artifacts/read-ahead.js";
import { openWriter } from "../artifacts/writer.js";
import type { Engine } from "./engine.js";
import { tellFacts } from "./facts-module.js";
import { readLink } from "./link.js";
import { openText } from "./restore.js";
import type { AnswerRef } from "./types.js";
import { checkRef, toInfo, type StoreAccess, type MessageDeps } from "./store-access.js";

/** Kinds of event: `EventKind` in `wasm/include/sluice/segment.h`. */
const OPEN = 1;
const DATA = 2;
const REFERENCE = 3;
const CLOSE = 4;

/** Bytes before an event's payload: kind, segment, length. */
const HEADER = 12;

/** Up to so many bytes of a segment are held, so that it has a hash if the store refuses it late. */
const KEPT = 65_536;

/** What the core says of a closed segment. */
interface Described {
  readonly mime_type: string;
  readonly description: string;
}

interface Task {
  readonly kind: "annotate" | "decode" | "read";
  readonly index: number;
  readonly mime_type: string;
  readonly filename: string;
  readonly uri: string;
}

/** What a stored text turned out to be. Unread: the store did not give it back. */
type Decoded = "bytes" | "text" | "unread";

/** The segments of a message, or those that the layers add for one of its answers. Takes the core's events in order. */
export class Segments {
  readonly #engine: Engine;
  readonly #deps: MessageDeps;
  readonly #info: ArtifactInfo;
  readonly #writing = new Map<number, SegmentWriter>();
  /** The segment that ended last, if it is not stored yet. */
  #ended: EndedSegment | undefined;
  /** The refs so far, by segment. */
  readonly refs: Map<number, AnswerRef>;
  /** The artifacts of resources that were read. */
  readonly linked: AnswerRef[] = [];
  /** Segments whose text may be encoded bytes, or would be if it were whole: nothing of it is shown. */
  readonly #opaque = new Set<number>();
  /** The segments that a text refers to, by its own. */
  readonly #inside = new Map<number, number[]>();
  /** What the store said of the artifacts that it was told a name or type of, by id. */
  readonly #told = new Map<string, AnswerRef>();
  /** Whether the store has lost an artifact that it had taken. */
  #isMissing = false;

  /** `source` is recorded with each segment. It defaults to the tool. */
  constructor(engine: Engine, deps: MessageDeps, source?: ArtifactRef["source"]) {
    this.#engine = engine;
    this.#deps = deps;
    this.#info = toInfo(deps.options, source);
    this.refs = new Map();
  }

  /** Those of an answer: the same segments so far, with the refs that they have there. */
  of(deps: MessageDeps, refs: ReadonlyMap<number, AnswerRef>): Segments {
    const segments = new Segments(this.#engine, deps);
    for (const [segment, ref] of refs) segments.refs.set(segment, ref);
    for (const [segment, inside] of this.#inside) segments.#inside.set(segment, inside);
    segments.#ended = this.#ended;
    return segments;
  }

  /** Whether there are any. */
  get isEmpty(): boolean {
    return this.refs.size === 0 && this.#ended === undefined;
  }

  /** Marks the last segment as incomplete. */
  async lose(warning: string): Promise<void> {
    await this.settle();
    const last = [...this.refs].at(-1);
    if (last !== undefined) this.refs.set(last[0], toTruncatedRef(last[1], warning));
  }

  /** Stores the segment that ended last, so that all have refs. */
  async settle(patch?: ArtifactPatch): Promise<void> {
    const ended = this.#ended;
    if (ended === undefined) return;
    this.refs.set(ended.index, await this.#deps.access.ended(ended.store(patch)));
    this.#ended = undefined;
  }

  /**
   * Takes all events, then clears the log. A failure discards what is half written. The last segment that ends is not stored yet:
   * the layers may name it, and its record is then written once.
   */
  async drain(): Promise<void> {
    try {
      for (let at = 0; ;) {
        // Fetched each time, since calls in between may move the core's memory.
        const log = this.#engine.call("events");
        if (log.length === 0) return;
        if (at >= log.length) break;
        const view = new DataView(log.buffer, log.byteOffset + at, HEADER);
        const kind = view.getUint32(0, true);
        if (kind !== DATA && this.#ended !== undefined) {
          await this.settle();
          continue;
        }
        const segment = view.getUint32(4, true);
        const size = view.getUint32(8, true);
        const payload = log.subarray(at + HEADER, at + HEADER + size);
        at += HEADER + size;
        if (kind === OPEN) this.#writing.set(segment, await SegmentWriter.open(this.#deps.access, this.#info));
        const writer = this.#writing.get(segment);
        if (writer === undefined) continue;
        if (kind === DATA) await writer.write(payload);
        if (kind === REFERENCE) {
          const inner = new DataView(payload.buffer, payload.byteOffset).getUint32(0, true);
          this.#inside.set(segment, [...(this.#inside.get(segment) ?? []), inner]);
          await this.#refer(writer, inner);
        }
        if (kind === CLOSE) {
          const { references } = writer;
          const { mime_type, description } = await this.#describe(segment, writer.size);
          const source = { ...this.#info.source, description, ...(references.length > 0 && { references }) };
          this.#ended = new EndedSegment(segment, writer, { mime_type, source });
          this.#writing.delete(segment);
        }
      }
      this.#engine.call("clearEvents");
    } catch (error) {
      await this.abort();
      throw error;
    }
  }

  /**
   * Discards what is half written. What is complete stays for retention to remove: another message may have got the same id for
   * the same content.
   */
  async abort(): Promise<void> {
    const unstored = [...this.#writing.values(), ...(this.#ended === undefined ? [] : [this.#ended])];
    this.#writing.clear();
    this.#ended = undefined;
    await Promise.all(unstored.map((writer) => writer.abort()));
  }

  /** Stores what the layers divert, does their tasks, and tells the core what was stored. */
  async do(): Promise<void> {
    const ended = this.#ended;
    await this.drain();
    // What the layers divert belongs to this answer alone, so it has to be stored here.
    if (this.#ended !== ended) await this.settle();
    // Decoding may add tasks, so the list is read until it has no more.
    for (let done = 0; ;) {
      const tasks = JSON.parse(this.#engine.ask("tasks")) as Task[];
      if (done >= tasks.length) break;
      for (; done < tasks.length; done += 1) {
        const task = tasks[done] as Task;
        this.#deps.options.signal?.throwIfAborted();
        if (task.kind === "annotate") await this.#annotate(task);
        else if (task.kind === "decode") await this.#decode(task);
        else await this.#read(task);
      }
    }
    await this.settle();
    if (this.refs.size > 1 || this.#isMissing) await this.#lookAgain();
    for (const [segment, ref] of this.refs) {
      this.#engine.give(writeStoredMessage(segment, ref, this.#opaque.has(segment)));
      this.#engine.call("stored");
    }
  }

  /** Finds out which artifacts are gone: in a store with limits the last of a result may have displaced its first. */
  async #lookAgain(): Promise<void> {
    const { access } = this.#deps;
    const found = readAhead(
      this.refs,
      async ([segment, ref]) => [segment, await access.storedOrTruncated(ref)] as const,
    );
    for await (const [segment, ref] of found) this.refs.set(segment, ref);
  }

  /**
   * Stores the whole of an observation that was clamped, and refers to it. False if the store refuses: the clamped text then says
   * more than a reference to nothing.
   */
  async storeWhole(): Promise<boolean> {
    const whole = new Segments(this.#engine, this.#deps, { observation: true });
    this.#engine.call("storeWhole");
    await whole.drain();
    await whole.settle();
    const ref = whole.refs.get(0);
    if (ref === undefined) return false;
    const isStored = !isTruncated(ref);
    if (isStored) this.refs.set(Number.MAX_SAFE_INTEGER, ref);
    this.#engine.give(writeStoredMessage(0, ref, false));
    this.#engine.call("storedWhole");
    return isStored;
  }

  /** What is told of a closed segment of which so many bytes were written. */
  async #describe(segment: number, size: number): Promise<Described> {
    const engine = this.#engine;
    const described = JSON.parse(engine.ask("segment", segment, size)) as Described;
    if (engine.call("evidence") === 0) return described;
    const { access, facts } = this.#deps;
    const description = await access.ended(tellFacts(engine.bytes(), facts));
    if (description === undefined) return described;
    engine.give(description);
    engine.call("describe", segment);
    return { ...described, description };
  }

  /** Writes the core's text of a reference, and notes its place for restoring. */
  async #refer(writer: SegmentWriter, inner: number): Promise<void> {
    const ref = this.refs.get(inner);
    if (ref === undefined) return;
    this.#engine.give(ref.id);
    writer.references.push(JSON.parse(this.#engine.ask("referenceNote", inner, writer.size)));
    this.#engine.give(ref.id);
    this.#engine.call("reference", inner);
    await writer.write(this.#engine.bytes());
  }

  /** Tells the store a name and a type that it does not know. The answer has them even if the store fails. */
  async #annotate({ index, mime_type, filename }: Task): Promise<void> {
    const { access, options } = this.#deps;
    const toPatch = (
      known: Pick<AnswerRef, "filename" | "mime_type">,
      source: ArtifactRef["source"],
    ): ArtifactPatch => ({
      ...(mime_type !== "" && mime_type !== known.mime_type && { mime_type }),
      ...(filename !== "" && filename !== known.filename && { filename }),
      // The gate may not have known yet.
      ...(options.tool !== undefined && source.tool !== options.tool && { source: { ...source, tool: options.tool } }),
    });
    const ended = this.#ended;
    if (ended?.index === index) return this.settle(toPatch({ ...ended.about, filename: null }, ended.about.source));
    const ref = this.refs.get(index);
    if (ref === undefined) return;
    // Another segment of the same content may have told its own: the last counts.
    const known = this.#told.get(ref.id) ?? ref;
    const patch = toPatch(known, ref.source);
    const annotated = { ...known, ...patch } as AnswerRef;
    this.refs.set(index, annotated);
    if (Object.keys(patch).length === 0 || isTruncated(ref)) return;
    try {
      const updated = await access.update(ref, patch);
      this.#isMissing ||= updated === null;
      this.refs.set(index, updated ?? annotated);
      if (updated !== null) this.#told.set(ref.id, updated);
    } catch (error) {
      access.survived(error);
    }
  }

  /**
   * Replaces a text that turns out to be base64 of a block by its bytes. One that does not, though parts of it were taken for bytes, is
   * stored as it came: nothing was meant by those parts.
   */
  async #decode({ index }: Task): Promise<void> {
    await this.settle();
    const ref = this.refs.get(index);
    if (ref === undefined) return;
    if (isTruncated(ref)) return void this.#opaque.add(index);
    const { access, options } = this.#deps;
    const writer = await SegmentWriter.open(access, toInfo(options, ref.source));
    try {
      const outcome = await access.attempt<Decoded>(
        () => this.#decodeSegment(index, ref, writer),
        () => "unread",
      );
      // The text stays stored: the same string may stand elsewhere under this id. Retention removes it.
      if (outcome === "bytes") {
        const original = this.#engine.call("original", index);
        if (original >= 0 && !this.refs.has(original)) this.refs.set(original, ref);
        const { description } = await this.#describe(index, writer.size);
        this.refs.set(index, await writer.close({ source: { ...ref.source, description } }));
      }
      if (outcome === "unread") this.#opaque.add(index);
      if (outcome === "text" && this.#inside.has(index)) await this.#spellOut(index, ref);
    } finally {
      await writer.abort();
    }
  }

  /** Stores a text without references, and forgets what they named. */
  async #spellOut(index: number, ref: AnswerRef): Promise<void> {
    const { access, options } = this.#deps;
    const { references: _, ...source } = ref.source;
    const { mime_type, filename } = ref;
    const writer = await SegmentWriter.open(access, { ...toInfo(options, source), mime_type, filename });
    try {
      const written = await access.attempt(
        async () => {
          for await (const chunk of (await openText(ref, this.#engine, access)) ?? [null]) {
            if (chunk === null) return false;
            await writer.write(chunk);
          }
          return true;
        },
        () => false,
      );
      this.#opaque.add(index);
      if (!written) return;
      this.refs.set(index, await writer.close());
      for (const inner of this.#inside.get(index) ?? []) this.refs.delete(inner);
    } finally {
      await writer.abort();
    }
  }

  async #decodeSegment(index: number, ref: AnswerRef, writer: SegmentWriter): Promise<Decoded> {
    const chunks = await openText(ref, this.#engine, this.#deps.access);
    if (chunks === null) return "unread";
    this.#engine.call("beginDecode", index);
    for await (const chunk of chunks) {
      if (chunk === null) return "unread";
      this.#engine.give([chunk]);
      if (this.#engine.call("decode") === 0) return "text";
      await writer.write(this.#engine.bytes());
    }
    if (this.#engine.call("endDecode") === 0) return "text";
    await writer.write(this.#engine.bytes());
    return "bytes";
  }

  async #read({ index, uri }: Task): Promise<void> {
    const { outcome, artifacts } = await readLink(uri, this.#deps);
    this.linked.push(...artifacts);
    this.#engine.give(JSON.stringify(outcome));
    this.#engine.call("link", index);
  }
}

/** A segment that has ended, with all its bytes written, and is stored by the first who asks. */
class EndedSegment {
  readonly index: number;
  /** What the core says of it. */
  readonly about: Required<Pick<ArtifactPatch, "mime_type" | "source">>;
  readonly #writer: SegmentWriter;
  #stored: Promise<AnswerRef> | undefined;

  constructor(index: number, writer: SegmentWriter, about: EndedSegment["about"]) {
    this.index = index;
    this.about = about;
    this.#writer = writer;
  }

  /** Stores it, with a name and a type that count before the core's. Later calls get the same ref. */
  store(patch: ArtifactPatch = {}): Promise<AnswerRef> {
    return (this.#stored ??= this.#close({ ...this.about, ...patch }));
  }

  async #close(patch: ArtifactPatch): Promise<AnswerRef> {
    try {
      return await this.#writer.close(patch);
    } catch (error) {
      await this.#writer.abort();
      throw error;
    }
  }

  /** Discards it, unless it is stored. */
  async abort(): Promise<void> {
    if (this.#stored === undefined) await this.#writer.abort();
  }
}

/** Writes one segment. Store failures are thrown only if the host asks for it. */
export class SegmentWriter {
  readonly #access: StoreAccess;
  readonly #info: ArtifactInfo;
  /** References inside the text so far, for restoring. */
  readonly references: unknown[] = [];
  /** Bytes so far. */
  size = 0;
  #writer: ArtifactWriter | undefined;
  #unstored: Unstored | undefined;
  #kept: Uint8Array[] | undefined = [];

  private constructor(access: StoreAccess, info: ArtifactInfo) {
    this.#access = access;
    this.#info = info;
  }

  static async open(access: StoreAccess, info: ArtifactInfo): Promise<SegmentWriter> {
    const segment = new SegmentWriter(access, info);
    try {
      segment.#writer = await access.call("write", async (store) => {
        const writer = await openWriter(store, info);
        // It came too late.
        if (access.isAbandoned) await writer.abort();
        return writer;
      });
    } catch (error) {
      await segment.#doWithout(error);
    }
    return segment;
  }

  async write(bytes: Uint8Array): Promise<void> {
    const writer = this.#writer;
    try {
      if (writer !== undefined) await this.#access.call("write", () => writer.write(bytes));
    } catch (error) {
      await this.#doWithout(error);
    }
    this.#unstored?.write(bytes);
    this.size += bytes.length;
    if (this.size > KEPT) this.#kept = undefined;
    else if (this.#unstored === undefined) this.#kept?.push(bytes.slice());
  }

  async close(patch: ArtifactPatch = {}): Promise<AnswerRef> {
    const writer = this.#writer;
    try {
      if (writer !== undefined) {
        const ref = await this.#access.call("write", async () => checkRef(await writer.close(patch)));
        this.#writer = undefined;
        return ref;
      }
    } catch (error) {
      await this.#doWithout(error);
    }
    return (this.#unstored as Unstored).ref(patch);
  }

  /** Discards what was written. */
  async abort(): Promise<void> {
    const writer = this.#writer;
    this.#writer = undefined;
    if (writer !== undefined) await this.#access.clear(() => writer.abort());
  }

  /** Continues without the store, which failed: bytes are only counted and hashed. */
  async #doWithout(error: unknown): Promise<void> {
    const failure = this.#access.survived(error);
    await this.abort();
    const passed: Unkept = { size_bytes: this.size, ...(this.#kept !== undefined && { bytes: this.#kept }) };
    this.#unstored = await openUnstored(this.#info, toWarning(failure), passed);
    this.#kept = undefined;
  }
}

/** A ref as the core reads it. A foreign store may have put anything in the ref. */
function writeStoredMessage(segment: number, { id, filename, mime_type, source }: AnswerRef, opaque: boolean): string {
  const said: Record<string, unknown> = { segment, id, opaque };
  for (const [name, value] of Object.entries({ filename, mime_type, warning: source.warning })) {
    if (typeof value === "string") said[name] = value;
  }
  return JSON.stringify(said);
}
