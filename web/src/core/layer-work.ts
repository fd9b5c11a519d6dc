/**
 * The work that the layers ask for while an answer is written: the store learns names and types, base64 that was stored as text is
 * decoded, and resource links are read if `resources.auto_read_if_size_under_bytes` says so.
 * @module
 */
import { isTruncated } from "../artifacts/reference.js";
import { SluiceError } from "../errors/error.js";
import type { Engine } from "./engine.js";
import { plainType } from "./media-type.js";
import { textOf } from "./restore.js";
import { Intake, SegmentWriter } from "./segments.js";
import type { AnswerRef, Transformed } from "./sluice.js";
import { checked, infoOf } from "./store-access.js";
import type { MessageDeps } from "./transform.js";

interface Task {
  readonly kind: "annotate" | "decode" | "read";
  readonly index: number;
  readonly mime_type: string;
  readonly filename: string;
  readonly uri: string;
}

/** What a stored text turned out to be. Unread: the store did not give it back. */
type Decoded = "bytes" | "text" | "unread";

/** The work for one answer. */
export class LayerWork {
  readonly #engine: Engine;
  readonly #deps: MessageDeps;
  readonly #intake: Intake;
  /** The artifacts of resources that were read. */
  readonly #linked: AnswerRef[] = [];
  /** Segments whose text may be encoded bytes, but which the store did not give back for decoding. */
  readonly #opaque = new Set<number>();
  /** Whether the store has lost an artifact that it had taken. */
  #isMissing = false;

  /** @param refs of what the gate stored; the layers may add some. */
  constructor(engine: Engine, deps: MessageDeps, refs: ReadonlyMap<number, AnswerRef>) {
    this.#engine = engine;
    this.#deps = deps;
    this.#intake = new Intake(engine, deps.access, infoOf(deps.options), refs);
  }

  /** All artifacts, each once: the same content may stand in a result twice, as text and as structure. */
  get artifacts(): readonly AnswerRef[] {
    const once = new Map<string, AnswerRef>();
    for (const ref of this.#intake.refs.values()) once.set(ref.id, ref);
    for (const ref of this.#linked) once.set(ref.id, ref);
    return [...once.values()];
  }

  /** Stores what the layers divert, does their tasks, and tells the core what was stored. */
  async do(): Promise<void> {
    await this.#takeAll(this.#intake);
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
    const { refs } = this.#intake;
    const isCrowded = refs.size > 1 || this.#isMissing;
    for (const [segment, ref] of refs) {
      const kept = isCrowded ? await this.#deps.access.storedOrTruncated(ref) : ref;
      this.#intake.setRef(segment, kept);
      this.#engine.give(storedMessage(segment, kept, this.#opaque.has(segment)));
      this.#engine.must("stored");
    }
  }

  /**
   * Stores the whole of an observation that was clamped, and refers to it. False if the store refuses: the clamped text then says
   * more than a reference to nothing.
   */
  async storeWhole(): Promise<boolean> {
    const { access, options } = this.#deps;
    const intake = new Intake(this.#engine, access, infoOf(options, { observation: true }));
    this.#engine.call("storeWhole");
    await this.#takeAll(intake);
    const ref = intake.refs.get(0);
    if (ref === undefined) return false;
    const isStored = !isTruncated(ref);
    if (isStored) this.#intake.setRef(Number.MAX_SAFE_INTEGER, ref);
    this.#engine.give(storedMessage(0, ref, false));
    this.#engine.must("storedWhole");
    return isStored;
  }

  async #takeAll(intake: Intake): Promise<void> {
    try {
      await intake.drain();
    } finally {
      await intake.abort();
    }
  }

  /** Tells the store a name and a type. The answer has them even if the store fails. */
  async #annotate({ index, mime_type, filename }: Task): Promise<void> {
    const ref = this.#intake.refs.get(index);
    if (ref === undefined) return;
    const { access, options } = this.#deps;
    const { tool } = options;
    const patch = {
      ...(mime_type !== "" && { mime_type }),
      ...(filename !== "" && { filename }),
      // The gate may not have known yet.
      ...(tool !== undefined && ref.source["tool"] !== tool && { source: { ...ref.source, tool } }),
    };
    let updated: AnswerRef | null = null;
    if (!isTruncated(ref)) {
      try {
        updated = await access.update(ref, patch);
        this.#isMissing ||= updated === null;
      } catch (error) {
        access.survived(error);
      }
    }
    this.#intake.setRef(index, updated ?? { ...ref, ...patch });
  }

  /** Replaces a text that turns out to be base64 of a block by its bytes. */
  async #decode({ index }: Task): Promise<void> {
    const ref = this.#intake.refs.get(index);
    if (ref === undefined) return;
    if (isTruncated(ref)) return void this.#opaque.add(index);
    const { access, options } = this.#deps;
    const writer = await SegmentWriter.open(access, infoOf(options, ref.source));
    try {
      const outcome = await access.attempt<Decoded>(
        () => this.#decoded(index, ref, writer),
        () => "unread",
      );
      // The text stays stored: the same string may stand elsewhere under this id. Retention removes it.
      if (outcome === "bytes") {
        const original = this.#engine.call("original", index);
        if (original >= 0 && !this.#intake.refs.has(original)) this.#intake.setRef(original, ref);
        this.#intake.setRef(index, await writer.close());
      }
      if (outcome === "unread") this.#opaque.add(index);
    } finally {
      await writer.abort();
    }
  }

  async #decoded(index: number, ref: AnswerRef, writer: SegmentWriter): Promise<Decoded> {
    const chunks = await textOf(ref, this.#engine, this.#deps.access);
    if (chunks === null) return "unread";
    this.#engine.call("beginDecode", index);
    for await (const chunk of chunks) {
      if (chunk === null) return "unread";
      this.#engine.give([chunk]);
      if (!this.#engine.call("decode")) return "text";
      await writer.write(this.#engine.bytes());
    }
    if (!this.#engine.call("endDecode")) return "text";
    await writer.write(this.#engine.bytes());
    return "bytes";
  }

  async #read({ index, uri }: Task): Promise<void> {
    const { outcome, artifacts } = await readLink(uri, this.#deps);
    this.#linked.push(...artifacts);
    this.#engine.give(JSON.stringify(outcome));
    this.#engine.call("link", index);
  }
}

/** A ref as the core reads it. A foreign store may have put anything in the ref. */
function storedMessage(segment: number, { id, filename, mime_type, source }: AnswerRef, opaque: boolean): string {
  const said = { filename: stringOr(filename), mime_type: stringOr(mime_type), warning: stringOr(source["warning"]) };
  return JSON.stringify({ segment, id, ...said, opaque });
}

function stringOr(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** What the block of a link shows of its content. */
interface LinkOutcome {
  readonly fetched: boolean;
  readonly artifact?: unknown;
  readonly summary?: unknown;
  readonly preview?: unknown;
  /** The beginning of JSON that is not stored. */
  readonly beginning?: unknown;
  readonly text?: unknown;
  readonly fetch_error?: string;
}

/** What the block of a link shows, and the artifacts that were stored for it. */
interface LinkRead {
  readonly outcome: LinkOutcome;
  readonly artifacts: readonly AnswerRef[];
}

/** For the host. The model learns only that the resource could not be read. */
const NO_RESULT =
  "readResource must give a resources/read result: an object with contents, each with a text or a blob.";

type Content = Readonly<Record<string, unknown>>;

/**
 * Reads `uri`. Bytes and large texts become an artifact, a small text stays. Throws the signal's reason, and store errors if those
 * are to be thrown: neither is the resource's failure.
 */
async function readLink(uri: string, deps: MessageDeps): Promise<LinkRead> {
  const { access, options } = deps;
  const { readResource, signal } = options;
  if (readResource === undefined) return { outcome: { fetched: false }, artifacts: [] };
  try {
    return await readOf(await access.ended(readResource(uri)), deps);
  } catch (error) {
    signal?.throwIfAborted();
    if (access.caused(error)) throw error;
    // The reason may hold paths or tokens of the host.
    return { outcome: { fetched: false, fetch_error: "the resource could not be read" }, artifacts: [] };
  }
}

/** Passes the resource through the gate like any result. A plain text has limits of its own. */
async function readOf(result: unknown, deps: MessageDeps): Promise<LinkRead> {
  if (!isReadResult(result)) throw new SluiceError("E_INVALID_ARGUMENT", NO_RESULT);
  const { readResource: _, ...options } = deps.options;
  const answer = await deps.reduce(result, { ...options, dialect: "observation" }, deps.access);
  const [only, ...more] = result.contents;
  const text = only?.["text"];
  if (more.length > 0 || typeof text !== "string" || !isPlain(text, answer.artifacts)) return shown(answer);
  const { inlineTextUnderChars, cacheReads } = deps.resources;
  const small = text.length < 2 * inlineTextUnderChars && Array.from(text).length < inlineTextUnderChars;
  if (!small && answer.artifacts.length > 0) return shown(answer);
  if (small && !cacheReads) return { outcome: { fetched: true, text }, artifacts: answer.artifacts };
  const ref = await stored(text, only?.["mimeType"], deps);
  // Without a store the text stands in the answer, as the gate left it.
  if (ref === null) return { outcome: { fetched: true, text }, artifacts: answer.artifacts };
  return { outcome: { fetched: true, artifact: named(ref), ...(small && { text }) }, artifacts: [ref] };
}

/** Whether the gate found nothing in a text, or only that it is long. */
function isPlain(text: string, artifacts: readonly AnswerRef[]): boolean {
  const [whole, ...more] = artifacts;
  return more.length === 0 && (whole === undefined || whole.size_bytes === new TextEncoder().encode(text).length);
}

/** Shows one reduced content in the fields of its block, several as text. */
function shown({ value, text, clamped, artifacts }: Transformed): LinkRead {
  const contents = contentsOf(value);
  const [only, ...more] = contents;
  if (clamped || only === undefined || more.length > 0) {
    return { outcome: { fetched: true, text: clamped ? text : JSON.stringify(contents) }, artifacts };
  }
  const { artifact, summary, preview, beginning, text: own } = only;
  if (artifact === undefined && own === undefined) {
    return { outcome: { fetched: true, text: JSON.stringify(contents) }, artifacts };
  }
  return { outcome: { fetched: true, artifact, summary, preview, beginning, text: own }, artifacts };
}

/** Whether the host gave a `resources/read` result, or contents that are artifacts already. */
function isReadResult(result: unknown): result is { readonly contents: readonly Content[] } {
  const contents = (result as Content | null | undefined)?.["contents"];
  return Array.isArray(contents) && contents.every(isContent);
}

function isContent(content: unknown): boolean {
  if (typeof content !== "object" || content === null) return false;
  const { text, blob, artifact } = content as Content;
  if (text !== undefined) return typeof text === "string";
  return typeof (blob ?? artifact) === "object" || typeof blob === "string";
}

/** Stores a text. Null if the store refuses or there is none. */
function stored(text: string, mimeType: unknown, deps: MessageDeps): Promise<AnswerRef | null> {
  const { access, options } = deps;
  const type = plainType(typeof mimeType === "string" ? mimeType : null);
  const info = { ...infoOf(options, {}), ...(type !== undefined && { mime_type: type }) };
  const put = async (): Promise<AnswerRef | null> => {
    const ref = await access.call("write", async (store) => checked(await store.putText(text, info)));
    return isTruncated(ref) ? null : ref;
  };
  return access.attempt(put, () => null);
}

/** The contents of a reduced result. A list or result that was diverted as a whole is one content. */
function contentsOf(value: unknown): readonly Content[] {
  const { contents = value } = Object(value) as Content;
  return [contents].flat().filter((each): each is Content => typeof each === "object" && each !== null);
}

/** The fields of a ref that a model may see. */
function named({ id, mime_type, size_bytes, filename, source }: AnswerRef): Content {
  const { warning } = source;
  return {
    id,
    mime_type: plainType(mime_type) ?? null,
    size_bytes,
    ...(filename !== null && { filename }),
    ...(warning !== undefined && { source: { warning, truncated: true } }),
  };
}
