/**
 * Answers: what callers get of a result, written from what an engine holds of it.
 * @module
 */
import { isTruncated } from "../artifacts/unstored.js";
import type { Engine } from "./engine.js";
import { readLink } from "./link.js";
import { keepSidecarRefs } from "./restore.js";
import { Intake, SegmentWriter } from "./segments.js";
import type { AnswerRef, Transformed, TransformOptions } from "./sluice.js";
import { textOf } from "./stored-text.js";
import { Answer } from "./transformed.js";
import { checked, infoOf, STORE_SILENCE, unlessExpired, type StoreAccess } from "./store-access.js";

interface Task {
  readonly kind: "annotate" | "decode" | "read";
  readonly index: number;
  readonly mime_type: string;
  readonly filename: string;
  readonly uri: string;
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

/** Writes one answer. */
export class AnswerWriter {
  readonly #engine: Engine;
  readonly #around: MessageSurroundings;
  readonly #intake: Intake;
  /** What was stored of resources that were read. */
  readonly #linked: AnswerRef[] = [];
  /** Segments whose text may be encoded bytes: the store could not give it back to be decoded. */
  readonly #opaque = new Set<number>();
  /** Whether the store no longer knew of something that it had taken. */
  #missing = false;

  /** @param refs of what the gate stored; the layers may add some. */
  constructor(engine: Engine, around: MessageSurroundings, refs: ReadonlyMap<number, AnswerRef>) {
    this.#engine = engine;
    this.#around = around;
    this.#intake = new Intake(engine, around.access, infoOf(around.options), refs);
  }

  /** `isAsBegun`: for the call that the message was begun for. */
  async write(bytesIn: number, isAsBegun: boolean): Promise<Transformed> {
    const { access, options } = this.#around;
    if (isAsBegun) this.#engine.must((core) => core.plan(false));
    else this.#engine.tell(callOf(options), (core) => core.plan(true));
    await this.#takeAll(this.#intake);
    // Without segments only links can ask for anything, and only of a host that reads them.
    if (this.#intake.refs.size > 0 || options.readResource !== undefined) await this.#doTasks();
    await this.#tellStored();
    this.#engine.must((core) => core.render());
    let { text, bytesOut } = this.#written();
    const report = JSON.parse(this.#engine.ask((core) => core.report())) as Report;
    let { method } = report;
    if (report.shelve) {
      if (await this.#storeWhole()) method = "stored";
      ({ text, bytesOut } = this.#written());
    }
    const cut = report.clamped ? { originalChars: report.original_chars, method } : undefined;
    const { changed } = report;
    const isMcp = options.dialect === "mcp";
    const refs = isMcp && changed ? this.#engine.ask((core) => core.refs()) : undefined;
    if (isMcp) await keepSidecarRefs(access, options, text, refs);
    const artifacts = eachOnce([...this.#intake.refs.values(), ...this.#linked]);
    const { failures } = access;
    return new Answer({ text, artifacts, failures, changed, cut, bytesIn, bytesOut, refs });
  }

  #written(): Pick<Transformed, "text" | "bytesOut"> {
    const bytesOut = this.#engine.call((core) => core.output().length);
    return { bytesOut, text: this.#engine.ask(() => undefined) };
  }

  async #takeAll(intake: Intake): Promise<void> {
    try {
      await intake.drain();
    } finally {
      await intake.abort();
    }
  }

  async #tellStored(): Promise<void> {
    const { refs } = this.#intake;
    const isCrowded = refs.size > 1 || this.#missing;
    for (const [segment, ref] of refs) {
      const kept = isCrowded ? await this.#around.access.storedOrTruncated(ref) : ref;
      this.#intake.setRef(segment, kept);
      this.#engine.tell(storedMessage(segment, kept, this.#opaque.has(segment)), (core) => core.stored());
    }
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
      access.call(
        "write",
        async (store) => {
          const updated = await unlessExpired(async () => store.update(ref.id, patch, ref.scope));
          this.#missing ||= updated === null;
          return updated && checked(updated);
        },
        STORE_SILENCE.look,
      );
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
      const bytes = this.#engine.put([chunk], (core) => (core.decode() ? core.output().slice() : undefined));
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
    this.#engine.put(JSON.stringify(outcome), (core) => core.link(index));
  }

  /**
   * The observation was clamped: the whole of it is stored, and referred to. False when the store refuses: what was
   * left of it is more than a reference to nothing, and says so.
   */
  async #storeWhole(): Promise<boolean> {
    const intake = new Intake(this.#engine, this.#around.access, infoOf(this.#around.options, { observation: true }));
    this.#engine.call((core) => core.shelve());
    await this.#takeAll(intake);
    const ref = intake.refs.get(0);
    if (ref === undefined) return false;
    const isStored = !isTruncated(ref);
    if (isStored) this.#intake.setRef(Number.MAX_SAFE_INTEGER, ref);
    this.#engine.tell(storedMessage(0, ref, false), (core) => core.shelved());
    return isStored;
  }
}

/** What the core is told of a call. */
export function callOf({ tool, namespace, dialect, clientShowsImages, transformed }: TransformOptions): string {
  return JSON.stringify({ tool, namespace, dialect, client_shows_images: clientShowsImages, transformed });
}

/** One content may stand in a result twice, as text and as structure: it is one artifact. */
export function eachOnce(refs: readonly AnswerRef[]): readonly AnswerRef[] {
  return [...new Map(refs.map((ref) => [ref.id, ref])).values()];
}

/** A store may be anybody's: only what the core can read is passed on. */
function storedMessage(segment: number, { id, filename, mime_type, source }: AnswerRef, opaque: boolean): string {
  const said = { filename: stringOr(filename), mime_type: stringOr(mime_type), warning: stringOr(source["warning"]) };
  return JSON.stringify({ segment, id, ...said, opaque });
}

function stringOr(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
