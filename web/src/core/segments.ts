/**
 * Segments on their way from the core to the store: each written while it lasts, and for want of a store counted and
 * hashed all the same.
 * @module
 */
import type { ArtifactInfo, ArtifactPatch, ArtifactRef, ArtifactWriter } from "../artifacts/store.js";
import { insteadOf, openUnstored, warningOf, type Unkept, type Unstored } from "../artifacts/unstored.js";
import type { Engine } from "./engine.js";
import type { AnswerRef } from "./sluice.js";
import { checked, type StoreAccess } from "./store-access.js";

/** Kinds of event: `EventKind` in `wasm/include/sluice/event.h`. */
const OPEN = 1;
const DATA = 2;
const REFERENCE = 3;
const CLOSE = 4;

/** Bytes before an event's payload: kind, segment, length. */
const HEADER = 12;

/** Bytes up to which a segment is kept at hand, so that it has a hash when the store refuses it late. */
const KEPT = 65_536;

/** Takes the core's events in order and keeps the refs that come of them. */
export class Intake {
  readonly #engine: Engine;
  readonly #access: StoreAccess;
  readonly #info: ArtifactInfo;
  readonly #writing = new Map<number, SegmentWriter>();
  readonly #refs: Map<number, AnswerRef>;

  /** @param refs of segments that were taken before. */
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

  /** Says of what was closed last that it is not all there was. */
  lose(warning: string): void {
    const last = [...this.#refs].at(-1);
    if (last !== undefined) this.#refs.set(last[0], insteadOf(last[1], warning));
  }

  /** Takes all events there are, then clears the log. */
  async drain(): Promise<void> {
    for (let at = 0; ;) {
      // Fetched anew each time: calls in between may move the core's memory.
      const log = this.#engine.call((core) => core.events());
      if (log.length === 0) return;
      if (at >= log.length) break;
      const view = new DataView(log.buffer, log.byteOffset + at, HEADER);
      const segment = view.getUint32(4, true);
      const size = view.getUint32(8, true);
      const payload = log.subarray(at + HEADER, at + HEADER + size);
      at += HEADER + size;
      await this.#take(view.getUint32(0, true), segment, payload);
    }
    this.#engine.call((core) => core.clearEvents());
  }

  /**
   * Throws away what is half written. What is complete stays, for retention to remove: another message may
   * have been given the same id for the same content in the meantime.
   */
  async abort(): Promise<void> {
    await Promise.all([...this.#writing.values()].map((writer) => writer.abort()));
    this.#writing.clear();
  }

  async #take(kind: number, segment: number, payload: Uint8Array): Promise<void> {
    if (kind === OPEN) this.#writing.set(segment, await SegmentWriter.open(this.#access, this.#info));
    const writer = this.#writing.get(segment);
    if (writer === undefined) return;
    if (kind === DATA) await writer.write(payload);
    if (kind === REFERENCE)
      await this.#refer(writer, new DataView(payload.buffer, payload.byteOffset).getUint32(0, true));
    if (kind === CLOSE) await this.#close(segment, writer);
  }

  /** The text of the reference is the core's; where it stands is noted for restoring. */
  async #refer(writer: SegmentWriter, inner: number): Promise<void> {
    const ref = this.#refs.get(inner);
    if (ref === undefined) return;
    const written = (use: Parameters<Engine["ask"]>[0]): Uint8Array =>
      this.#engine.put(ref.id, (core) => {
        use(core);
        return core.output().slice();
      });
    const note = written((core) => core.referenceNote(inner, writer.size));
    writer.references.push(JSON.parse(new TextDecoder().decode(note)));
    await writer.write(written((core) => core.reference(inner)));
  }

  async #close(segment: number, writer: SegmentWriter): Promise<void> {
    const { mime_type, description } = JSON.parse(this.#engine.ask((core) => core.segment(segment, writer.size))) as {
      readonly mime_type: string;
      readonly description: string;
    };
    const { references } = writer;
    const source = { ...this.#info.source, description, ...(references.length > 0 && { references }) };
    this.#refs.set(segment, await writer.close({ mime_type, source }));
    this.#writing.delete(segment);
  }
}

/** Writes one segment. Never throws because of the store, unless failures are to be thrown. */
export class SegmentWriter {
  readonly #access: StoreAccess;
  readonly #info: ArtifactInfo;
  /** References inside the text so far, for whoever restores it. */
  readonly references: unknown[] = [];
  #writer: ArtifactWriter | undefined;
  #unstored: Unstored | undefined;
  #kept: Uint8Array[] | undefined = [];
  #size = 0;

  private constructor(access: StoreAccess, info: ArtifactInfo) {
    this.#access = access;
    this.#info = info;
  }

  static async open(access: StoreAccess, info: ArtifactInfo): Promise<SegmentWriter> {
    const segment = new SegmentWriter(access, info);
    await segment.#trying(async () => {
      segment.#writer = await access.openWriter(info);
    });
    return segment;
  }

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#trying(async () => {
      const writer = this.#writer;
      if (writer !== undefined) await this.#access.call("write", () => writer.write(bytes));
    });
    this.#unstored?.write(bytes);
    this.#size += bytes.length;
    if (this.#size > KEPT) this.#kept = undefined;
    else if (this.#unstored === undefined) this.#kept?.push(bytes.slice());
  }

  async close(patch: ArtifactPatch = {}): Promise<AnswerRef> {
    let ref: ArtifactRef | undefined;
    await this.#trying(async () => {
      const writer = this.#writer;
      if (writer !== undefined) ref = await this.#access.call("write", async () => checked(await writer.close(patch)));
    });
    this.#writer = undefined;
    if (ref !== undefined) return ref;
    return (this.#unstored as Unstored).ref(patch);
  }

  /** Throws away what was written. */
  async abort(): Promise<void> {
    const writer = this.#writer;
    this.#writer = undefined;
    if (writer !== undefined) await this.#access.clear(() => writer.abort());
  }

  #trying(work: () => Promise<void>): Promise<void> {
    return this.#access.attempt(work, async (failure) => {
      await this.abort();
      const passed: Unkept = { size_bytes: this.#size, ...(this.#kept !== undefined && { bytes: this.#kept }) };
      this.#unstored = await openUnstored(this.#info, warningOf(failure), passed);
      this.#kept = undefined;
    });
  }
}
