/**
 * One result from its first byte to its observation.
 * @module
 */
import type { ArtifactRef, ArtifactStore } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import { guarded } from "../errors/storage.js";
import type { Engine } from "./engine.js";
import { Intake } from "./intake.js";
import { readLink } from "./link.js";
import type { Transformed, TransformOptions } from "./sluice.js";

interface Task {
  readonly kind: "annotate" | "decode" | "read";
  readonly index: number;
  readonly mime_type: string;
  readonly filename: string;
  readonly uri: string;
  readonly size_bytes: number;
}

/** What `render` tells of the answer. */
interface Report {
  readonly changed: boolean;
  readonly clamped: boolean;
  readonly shelve: boolean;
}

/** What a message needs beside an engine. */
export interface MessageSurroundings {
  readonly store: ArtifactStore;
  readonly options: TransformOptions;
  /** Reduces another result under the same options: what was read from a link. */
  readonly reduce: (result: unknown, options: TransformOptions) => Promise<Transformed>;
  readonly resources: { readonly inlineTextUnderChars: number; readonly cacheReads: boolean };
}

/** Drives one engine through one message. */
export class Message {
  readonly #engine: Engine;
  readonly #around: MessageSurroundings;
  readonly #intake: Intake;
  /** What was stored of resources that were read. */
  readonly #linked: ArtifactRef[] = [];
  #bytesIn = 0;

  /** Throws E_MISUSE when an option is wrong. */
  constructor(engine: Engine, around: MessageSurroundings) {
    const { tool, namespace, scope, dialect, clientShowsImages } = around.options;
    this.#engine = engine;
    this.#around = around;
    this.#intake = new Intake(engine, around.store, {
      ...(namespace !== undefined && { namespace }),
      ...(scope !== undefined && { scope }),
      source: tool === undefined ? {} : { tool },
    });
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
    for (const [segment, ref] of this.#intake.refs) this.#tellStored(segment, ref);
    this.#engine.must((core) => core.render());
    let bytesOut = this.#engine.call((core) => core.output().length);
    let text = this.#engine.call((core) => new TextDecoder().decode(core.output()));
    const report = JSON.parse(this.#engine.ask((core) => core.report())) as Report;
    if (report.shelve) {
      text = await this.#shelve();
      bytesOut = new TextEncoder().encode(text).length;
    }
    const refs = this.#around.options.dialect === "mcp" && report.changed ? this.#refs() : undefined;
    const artifacts = [...this.#intake.refs.values(), ...this.#linked];
    return new Answer(text, artifacts, report, this.#bytesIn, bytesOut, refs);
  }

  /** Leaves nothing half-written behind. */
  async abort(): Promise<void> {
    await this.#intake.abort();
  }

  #tellStored(segment: number, ref: ArtifactRef): void {
    this.#engine.tell(JSON.stringify(storedMessage(segment, ref)), (core) => core.stored());
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

  async #annotate({ index, mime_type, filename }: Task): Promise<void> {
    const ref = this.#intake.refs.get(index);
    if (ref === undefined) return;
    const patch = { ...(mime_type !== "" && { mime_type }), ...(filename !== "" && { filename }) };
    const updated = await guarded("write", () => this.#around.store.update(ref.id, patch, ref.scope));
    this.#intake.setRef(index, updated ?? { ...ref, ...patch });
  }

  /** What was stored as text is base64 of a block: its bytes take the text's place. */
  async #decode({ index }: Task): Promise<void> {
    const { store, options } = this.#around;
    const ref = this.#intake.refs.get(index);
    if (ref === undefined) return;
    const reader = await guarded("read", () => store.openReader(ref.id, { scope: ref.scope }));
    if (reader === null) return;
    const writer = await guarded("write", () => store.openWriter({ ...options, source: ref.source }));
    try {
      this.#engine.call((core) => core.beginDecode(index));
      for await (const chunk of reader) if (!(await this.#decodePiece(chunk, writer))) return;
      if (!this.#engine.call((core) => core.endDecode())) return;
      await writer.write(this.#engine.call((core) => core.output().slice()));
      // The text stays, for retention to remove: the same string may stand elsewhere, and be named by this id.
      this.#intake.setRef(index, await writer.close());
    } finally {
      await writer.abort();
    }
  }

  async #decodePiece(chunk: Uint8Array, writer: { write(bytes: Uint8Array): Promise<void> }): Promise<boolean> {
    const decoded = this.#engine.call((core) => {
      core.input(chunk.length).set(chunk);
      return core.decode();
    });
    if (decoded) await writer.write(this.#engine.call((core) => core.output().slice()));
    return decoded;
  }

  async #read({ index, uri }: Task): Promise<void> {
    const { outcome, artifacts } = await readLink(uri, this.#around);
    this.#linked.push(...artifacts);
    this.#engine.tell(JSON.stringify(outcome), (core) => {
      core.link(index);
      return true;
    });
  }

  /** The observation was clamped: the whole of it is stored, and referred to. */
  async #shelve(): Promise<string> {
    const intake = new Intake(this.#engine, this.#around.store, {
      ...this.#around.options,
      source: { observation: true },
    });
    this.#engine.call((core) => core.shelve());
    try {
      await intake.drain();
    } finally {
      await intake.abort();
    }
    const ref = intake.refs.get(0);
    if (ref === undefined) throw new SluiceError("E_STORE_WRITE", "the store took the observation but gave no ref");
    this.#intake.setRef(Number.MAX_SAFE_INTEGER, ref);
    this.#engine.tell(JSON.stringify(storedMessage(0, ref)), (core) => core.shelved());
    return this.#engine.call((core) => new TextDecoder().decode(core.output()));
  }
}

function storedMessage(segment: number, { id, filename, mime_type, source }: ArtifactRef): Record<string, unknown> {
  return { segment, id, filename, mime_type, warning: source["warning"] };
}

/** The value is parsed when it is first asked for: many hosts only pass the text on. */
class Answer implements Transformed {
  readonly text: string;
  readonly artifacts: readonly ArtifactRef[];
  readonly changed: boolean;
  readonly clamped: boolean;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly refs?: string;
  #value: unknown;
  #parsed = false;

  constructor(
    text: string,
    artifacts: readonly ArtifactRef[],
    report: Report,
    bytesIn: number,
    bytesOut: number,
    refs: string | undefined,
  ) {
    this.text = text;
    this.artifacts = artifacts;
    this.changed = report.changed;
    this.clamped = report.clamped;
    this.bytesIn = bytesIn;
    this.bytesOut = bytesOut;
    if (refs !== undefined) this.refs = refs;
  }

  get value(): unknown {
    if (!this.#parsed) this.#value = JSON.parse(this.text);
    this.#parsed = true;
    return this.#value;
  }
}
