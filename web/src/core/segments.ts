/**
 * Segments on their way from the core to the store. Each is written while it arrives; if the store fails, it is still counted and
 * hashed.
 * @module
 */
import type { ArtifactInfo, ArtifactPatch, ArtifactWriter } from "../artifacts/store.js";
import { insteadOf, openUnstored, warningOf, type Unkept, type Unstored } from "../artifacts/reference.js";
import type { Engine } from "./engine.js";
import type { AnswerRef } from "./sluice.js";
import { checked, type StoreAccess } from "./store-access.js";

/** Kinds of event: `EventKind` in `wasm/include/sluice/segment.h`. */
const OPEN = 1;
const DATA = 2;
const REFERENCE = 3;
const CLOSE = 4;

/** Bytes before an event's payload: kind, segment, length. */
const HEADER = 12;

/** Up to so many bytes of a segment are held, so that it has a hash if the store refuses it late. */
const KEPT = 65_536;

/** Takes the core's events in order and keeps the refs of the segments. */
export class Intake {
  readonly #engine: Engine;
  readonly #access: StoreAccess;
  readonly #info: ArtifactInfo;
  readonly #writing = new Map<number, SegmentWriter>();
  readonly #refs: Map<number, AnswerRef>;

  /** @param refs of segments that are stored already. */
  constructor(
    engine: Engine,
    access: StoreAccess,
    info: ArtifactInfo,
    refs: ReadonlyMap<number, AnswerRef> = new Map(),
  ) {
    this.#refs = new Map(refs);
    this.#engine = engine;
    this.#access = access;
    this.#info = info;
  }

  /** The refs so far, by segment. */
  get refs(): ReadonlyMap<number, AnswerRef> {
    return this.#refs;
  }

  setRef(segment: number, ref: AnswerRef): void {
    this.#refs.set(segment, ref);
  }

  /** Marks the last segment as incomplete. */
  lose(warning: string): void {
    const last = [...this.#refs].at(-1);
    if (last !== undefined) this.#refs.set(last[0], insteadOf(last[1], warning));
  }

  /** Takes all events, then clears the log. */
  async drain(): Promise<void> {
    for (let at = 0; ;) {
      // Fetched each time, since calls in between may move the core's memory.
      const log = this.#engine.call("events");
      if (log.length === 0) return;
      if (at >= log.length) break;
      const view = new DataView(log.buffer, log.byteOffset + at, HEADER);
      const kind = view.getUint32(0, true);
      const segment = view.getUint32(4, true);
      const size = view.getUint32(8, true);
      const payload = log.subarray(at + HEADER, at + HEADER + size);
      at += HEADER + size;
      if (kind === OPEN) this.#writing.set(segment, await SegmentWriter.open(this.#access, this.#info));
      const writer = this.#writing.get(segment);
      if (writer === undefined) continue;
      if (kind === DATA) await writer.write(payload);
      if (kind === REFERENCE) {
        await this.#refer(writer, new DataView(payload.buffer, payload.byteOffset).getUint32(0, true));
      }
      if (kind === CLOSE) await this.#close(segment, writer);
    }
    this.#engine.call("clearEvents");
  }

  /**
   * Discards what is half written. What is complete stays for retention to remove: another message may have got the same id for
   * the same content.
   */
  async abort(): Promise<void> {
    if (this.#writing.size === 0) return;
    await Promise.all([...this.#writing.values()].map((writer) => writer.abort()));
    this.#writing.clear();
  }

  /** Writes the core's text of a reference, and notes its place for restoring. */
  async #refer(writer: SegmentWriter, inner: number): Promise<void> {
    const ref = this.#refs.get(inner);
    if (ref === undefined) return;
    this.#engine.give(ref.id);
    writer.references.push(JSON.parse(this.#engine.ask("referenceNote", inner, writer.size)));
    this.#engine.give(ref.id);
    this.#engine.call("reference", inner);
    await writer.write(this.#engine.bytes());
  }

  async #close(segment: number, writer: SegmentWriter): Promise<void> {
    const { references, size } = writer;
    const { mime_type, description } = JSON.parse(this.#engine.ask("segment", segment, size)) as {
      readonly mime_type: string;
      readonly description: string;
    };
    const source = { ...this.#info.source, description, ...(references.length > 0 && { references }) };
    this.#refs.set(segment, await writer.close({ mime_type, source }));
    this.#writing.delete(segment);
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
      segment.#writer = await access.openWriter(info);
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
        const ref = await this.#access.call("write", async () => checked(await writer.close(patch)));
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
    this.#unstored = await openUnstored(this.#info, warningOf(failure), passed);
    this.#kept = undefined;
  }
}
