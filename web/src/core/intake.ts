/**
 * Segments on their way from the core to the store.
 * @module
 */
import type { ArtifactInfo, ArtifactPatch } from "../artifacts/store.js";
import type { Engine } from "./engine.js";
import { SegmentWriter } from "./segment-writer.js";
import type { AnswerRef } from "./sluice.js";
import type { StoreAccess } from "./store-access.js";

/** Kinds of event: `EventKind` in `wasm/include/sluice/event.h`. */
const OPEN = 1;
const DATA = 2;
const REFERENCE = 3;
const CLOSE = 4;

/** Bytes before an event's payload: kind, segment, length. */
const HEADER = 12;

/** What the core says of a segment. */
export interface SegmentFacts {
  readonly kind: "run" | "text" | "json";
  readonly mime_type: string;
  readonly extension: string;
  readonly size_bytes: number;
  readonly description: string;
}

interface Writing {
  readonly writer: SegmentWriter;
  /** References inside the text so far, for whoever restores it. */
  readonly references: unknown[];
}

/** Takes the core's events in order and keeps the refs that come of them. */
export class Intake {
  readonly #engine: Engine;
  readonly #access: StoreAccess;
  readonly #info: ArtifactInfo;
  readonly #writing = new Map<number, Writing>();
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
    if (last !== undefined) this.#refs.set(last[0], this.#access.standIn.instead(last[1], warning));
  }

  /** Whether the core has logged anything. */
  get pending(): boolean {
    return this.#engine.call((core) => core.events().length > 0);
  }

  /** Takes all events there are, then clears the log. */
  async drain(): Promise<void> {
    for (let at = 0; ;) {
      // Fetched anew each time: calls in between may move the core's memory.
      const log = this.#engine.call((core) => core.events());
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
    await Promise.all([...this.#writing.values()].map(({ writer }) => writer.abort()));
    this.#writing.clear();
  }

  async #take(kind: number, segment: number, payload: Uint8Array): Promise<void> {
    switch (kind) {
      case OPEN:
        return this.#open(segment);
      case DATA:
        return this.#write(segment, payload);
      case REFERENCE:
        return this.#refer(segment, new DataView(payload.buffer, payload.byteOffset).getUint32(0, true));
      case CLOSE:
        return this.#close(segment);
    }
  }

  async #open(segment: number): Promise<void> {
    this.#writing.set(segment, { writer: await SegmentWriter.open(this.#access, this.#info), references: [] });
  }

  async #write(segment: number, bytes: Uint8Array): Promise<void> {
    await this.#writing.get(segment)?.writer.write(bytes);
  }

  /** The text of the reference is the core's; where it stands is noted for restoring. */
  async #refer(segment: number, inner: number): Promise<void> {
    const writing = this.#writing.get(segment);
    const ref = this.#refs.get(inner);
    if (writing === undefined || ref === undefined) return;
    const note = this.#engine.bytesFor(ref.id, (core) => core.referenceNote(inner, writing.writer.size));
    writing.references.push(JSON.parse(new TextDecoder().decode(note)));
    await this.#write(
      segment,
      this.#engine.bytesFor(ref.id, (core) => core.reference(inner)),
    );
  }

  async #close(segment: number): Promise<void> {
    const writing = this.#writing.get(segment);
    if (writing === undefined) return;
    const { size } = writing.writer;
    const facts = JSON.parse(this.#engine.ask((core) => core.segment(segment, size))) as SegmentFacts;
    const patch: ArtifactPatch = {
      mime_type: facts.mime_type,
      source: {
        ...this.#info.source,
        description: facts.description,
        ...(writing.references.length > 0 && { references: writing.references }),
      },
    };
    this.#refs.set(segment, await writing.writer.close(patch));
    this.#writing.delete(segment);
  }
}
