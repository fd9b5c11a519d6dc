/**
 * One result on its way through the gate, from its first byte to its answers. `Stream` is what callers write to, `Message` drives
 * one engine, `Answer` is what hosts get.
 * @module
 */
import { fullScope, sameScope, scopeKey } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { toTruncatedRef, isTruncated, toWarning } from "../artifacts/reference.js";
import { DEFAULT_NAMESPACE, isBytes, noBytes } from "../errors/arguments.js";
import { SluiceError } from "../errors/error.js";
import { isMeasured, record } from "../telemetry/metrics.js";
import { toolAttributes } from "../telemetry/names.js";
import type { Engine, EnginePool } from "./engine.js";
import { keepSidecarRefs } from "./restore.js";
import { Segments, SegmentWriter } from "./segments.js";
import { showContent } from "./shown-content.js";
import type {
  AnswerOptions,
  AnswerRef,
  ClampReport,
  GatedResult,
  ResultClient,
  SluiceStream,
  Transformed,
  TransformOptions,
} from "./types.js";
import { toInfo, type StoreAccess, type MessageDeps } from "./store-access.js";
import { encodePieces, chunksIn, getFilename, getType, NotBytes, type ByteSource } from "./value.js";

const BROKEN_OFF = "Content not stored: its stream ended early. Call the tool again.";

/** Bytes that the core gets at a time, so that a large chunk costs no more memory than a small one. */
const CHUNK = 262_144;

/** Diverted bytes that wait until there are more of them: each trip to the store costs the same. */
const DIVERTED = 262_144;

/** Characters that are encoded at a time. */
const TEXT_PIECE = 65_536;

/** Bytes of a character, at most: room for less could take none. */
const MOST_BYTES = 4;

const NO_REFS: ReadonlyMap<number, AnswerRef> = new Map();
const NO_SEGMENTS: ReadonlySet<number> = new Set();

const encoder = new TextEncoder();

/** Bits of the core's `outcome`: the result differs, it was clamped, the whole of it should be stored. */
const CHANGED = 1;
const CLAMPED = 2;
const STORE_WHOLE = 4;

/**
 * A message that takes its engine when the first bytes come. Calls that are not awaited run in order. The first failure discards
 * what is half written, and every later call throws it again.
 */
export class Stream implements SluiceStream {
  readonly #pool: EnginePool;
  readonly #deps: MessageDeps;
  #message: Message | undefined;
  /** The last call, until it settles. */
  #pending: Promise<unknown> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #ended = false;

  constructor(pool: EnginePool, deps: MessageDeps) {
    this.#pool = pool;
    this.#deps = deps;
  }

  write(chunk: Uint8Array): Promise<void> {
    if (!isBytes(chunk)) return Promise.reject(noBytes("chunk"));
    return this.#inTurn(async () => (await this.#begin()).pushBytes(chunk));
  }

  async close(): Promise<Transformed> {
    await using gated = await this.end();
    return await gated.answer();
  }

  end(): Promise<GatedResult> {
    const ending = this.#inTurn(async () => {
      const message = await this.#begin();
      await message.finish();
      // The caller disposes of it from here on.
      this.#message = undefined;
      return message;
    });
    this.#ended = true;
    return ending;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true;
    await this.#pending?.catch(noMatter);
    await this.#message?.[Symbol.asyncDispose]();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#ended) return Promise.reject(toClosedError());
    const turn =
      this.#pending === undefined
        ? this.#run(work)
        : this.#pending.then(noMatter, noMatter).then(() => this.#run(work));
    this.#pending = turn;
    const forget = (): void => {
      if (this.#pending === turn) this.#pending = undefined;
    };
    turn.then(forget, forget);
    return turn;
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#failure !== undefined) throw this.#failure.error;
    try {
      return await work();
    } catch (error) {
      this.#failure = { error };
      await this.#message?.[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #begin(): Promise<Message> {
    return (this.#message ??= new Message(this.#pool, await this.#pool.take(), this.#deps));
  }
}

/** Drives one engine through one message: its bytes, its end, and any number of answers. */
export class Message implements GatedResult {
  readonly #pool: EnginePool;
  readonly #engine: Engine;
  readonly #deps: MessageDeps;
  /** What the core is told of the call. */
  readonly #call: {
    readonly [Name in "tool" | "namespace" | "dialect" | "clientShowsImages" | "transformed"]: TransformOptions[Name];
  } & Omit<ResultClient, "show"> & { readonly readTool: string };
  /** What the gate diverts. Made for the first segment. */
  #segments: Segments | undefined;
  /** The document so far, while it is short enough for `keepOriginal`. */
  #original: Uint8Array[] | undefined;
  #bytesIn = 0;
  /** The document, if it came as one text. */
  #whole: string | undefined;
  /** The store access of the last answer. */
  #answering: StoreAccess | undefined;
  /** The refs of what the gate stored, in the scope of the last answer. */
  #adopted: { readonly scope: string; readonly refs: ReadonlyMap<number, AnswerRef> } | undefined;
  #isOver = false;
  /** Whether its bytes were counted: a result may be answered several times. */
  #isCounted = false;

  constructor(pool: EnginePool, engine: Engine, deps: MessageDeps) {
    this.#pool = pool;
    this.#engine = engine;
    this.#deps = deps;
    if ((deps.options.keepOriginal ?? 0) > 0) this.#original = [];
    const { tool, namespace, dialect, clientShowsImages, transformed, client } = deps.options;
    const { show: _, ...needs } = client ?? {};
    this.#call = { tool, namespace, dialect, clientShowsImages, readTool: deps.readTool ?? "", transformed, ...needs };
    engine.give(JSON.stringify(this.#call));
    engine.call("begin");
  }

  get original(): readonly Uint8Array[] | undefined {
    return this.#original;
  }

  /** Takes bytes of the document. Settles once the store has taken what they diverted, but for a last piece. */
  async pushBytes(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += CHUNK) {
      const chunk = bytes.subarray(at, at + CHUNK);
      this.#deps.options.signal?.throwIfAborted();
      this.#engine.call("body", chunk.length).set(chunk);
      this.#engine.call("push", chunk.length);
      this.#bytesIn += chunk.length;
      if (this.#original !== undefined) this.#keep(new Uint8Array(chunk));
      await this.#drain(DIVERTED);
    }
  }

  /** Takes text of the document: all of it, or what stands before and after bytes. */
  async pushText(text: string): Promise<void> {
    this.#whole = this.#bytesIn === 0 ? text : undefined;
    for (let at = 0; at < text.length;) {
      this.#deps.options.signal?.throwIfAborted();
      let next = Math.min(text.length, at + TEXT_PIECE);
      // A surrogate pair stays together: encoded apart, each half would become U+FFFD.
      if (next < text.length && isHighSurrogate(text.charCodeAt(next - 1))) next -= 1;
      // Most texts are ASCII: of others a piece takes fewer characters.
      const room = this.#engine.call("body", next - at + MOST_BYTES);
      const { read, written } = encoder.encodeInto(text.slice(at, next), room);
      if (this.#original !== undefined) this.#keep(room.slice(0, written));
      this.#engine.call("push", written);
      this.#bytesIn += written;
      at += read;
      await this.#drain(DIVERTED);
    }
  }

  /** Takes bytes that stand in the place of a value. */
  async pushSource(source: ByteSource): Promise<void> {
    this.#engine.give(JSON.stringify({ mime_type: getType(source), filename: getFilename(source) }));
    const isTaken = this.#engine.call("openBytes") === 1;
    const outcome: { isWhole: boolean } = { isWhole: true };
    const chunks = this.#readChunks(source, outcome);
    if (!isTaken) {
      // There are too many already, or nothing may be taken out here: they become text.
      await this.pushText('"');
      for await (const piece of encodePieces(chunks)) await this.pushBytes(piece);
      return this.pushText(outcome.isWhole ? '"' : ` ${BROKEN_OFF}"`);
    }
    // The original document would have no text for them.
    this.#original = undefined;
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += CHUNK) await this.#take(chunk.subarray(at, at + CHUNK));
    }
    this.#engine.call("closeBytes");
    await this.#drain();
    if (!outcome.isWhole) await this.#segments?.lose(BROKEN_OFF);
  }

  /** Ends the document. */
  async finish(): Promise<void> {
    this.#engine.call("finish");
    await this.#drain();
  }

  /** Runs the layers, does what they ask for, and writes the answer. */
  async answer(options: AnswerOptions = {}): Promise<Transformed> {
    if (this.#isOver) throw new SluiceError("E_MISUSE", "this result was disposed of: read its answers first");
    const { signal } = options;
    const access = signal === undefined ? this.#deps.access : this.#deps.access.with(signal);
    const deps = { ...this.#deps, options: { ...this.#deps.options, ...options }, access };
    const engine = this.#engine;
    const gated = this.#segments;
    const isFirst = this.#answering === undefined;
    const isOthers = deps.options.scope !== this.#deps.options.scope;
    if (!isFirst || isOthers) await gated?.settle();
    const stored = gated?.refs ?? NO_REFS;
    const refs = isOthers ? await this.#refsFor(stored, deps) : stored;
    // Before any other answer the core still knows the call from `begin`.
    const isAsBegun = isFirst && options.tool === undefined && options.dialect === undefined;
    this.#answering = access;
    const { tool, dialect, readResource } = deps.options;
    if (!isAsBegun) engine.give(JSON.stringify({ ...this.#call, tool, dialect }));
    engine.call("plan", !isAsBegun);
    // Without segments only links can need work, and only if the host reads them.
    const isWork = gated?.isEmpty === false || readResource !== undefined || engine.call("events").length > 0;
    const ofAnswer = (): Segments => gated?.of(deps, refs) ?? new Segments(engine, deps);
    let segments = isWork ? ofAnswer() : undefined;
    await segments?.do();
    const back = segments === undefined ? NO_SEGMENTS : await showContent(engine, deps, segments.refs);
    engine.call("render");
    const outcome = engine.call("outcome");
    const isChanged = (outcome & CHANGED) !== 0;
    let bytesOut = engine.call("output").length;
    // What an interceptor passes on unchanged is the same text.
    let text = (isChanged || dialect !== "mcp" ? undefined : this.#whole) ?? engine.ask("output");
    let cut = (outcome & CLAMPED) === 0 ? undefined : readClamp(engine);
    if (cut !== undefined && (outcome & STORE_WHOLE) !== 0) {
      segments ??= ofAnswer();
      if (await segments.storeWhole()) cut = { ...cut, method: "stored" };
      text = engine.ask("output");
      bytesOut = engine.call("output").length;
    }
    let sidecar: string | undefined;
    if (dialect === "mcp") {
      if (isChanged) sidecar = engine.ask("refs");
      await keepSidecarRefs(access, deps.options, text, sidecar);
    }
    // Each once: the same content may stand in a result twice, as text and as structure.
    const once = new Map<string, AnswerRef>();
    const told = [...(segments?.refs ?? [])].flatMap(([segment, ref]) => (back.has(segment) ? [] : [ref]));
    for (const ref of [...told, ...(segments?.linked ?? [])]) once.set(ref.id, ref);
    if (isMeasured()) this.#count(deps.options, bytesOut, [...once.values()]);
    if (cut !== undefined) countClamp(cut.originalChars, text);
    return new Answer({
      text,
      artifacts: [...once.values()],
      failures: this.#listFailures(access),
      changed: isChanged,
      cut,
      bytesIn: this.#bytesIn,
      bytesOut,
      refs: sidecar,
    });
  }

  #count({ namespace, tool, rewritten }: TransformOptions, bytesOut: number, artifacts: readonly AnswerRef[]): void {
    if (this.#isCounted) return;
    this.#isCounted = true;
    const attributes = toolAttributes(namespace ?? DEFAULT_NAMESPACE, tool);
    if (rewritten !== true) {
      record("sluice.result.received", this.#bytesIn, attributes);
      record("sluice.result.kept_out", Math.max(0, this.#bytesIn - bytesOut), attributes);
    }
    for (const ref of artifacts) {
      if (!isTruncated(ref)) record("sluice.artifact.stored", ref.size_bytes, attributes);
    }
  }

  /** Discards what is half written. The engine is not reused if the store may still read its memory. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#segments?.abort();
    const isAbandoned = this.#deps.access.isAbandoned || this.#answering?.isAbandoned === true;
    if (!isAbandoned) this.#pool.release(this.#engine);
  }

  /** The failures of an answer, with those of the segment that was stored for it by the message's access. */
  #listFailures({ failures }: StoreAccess): readonly SluiceError[] {
    const own = this.#deps.access.failures;
    return failures === own ? own : [...new Set([...failures, ...own])];
  }

  async #refsFor(refs: ReadonlyMap<number, AnswerRef>, deps: MessageDeps): Promise<ReadonlyMap<number, AnswerRef>> {
    const from = this.#deps.options.scope;
    const { scope } = deps.options;
    if (refs.size === 0 || sameScope(from, scope)) return refs;
    if (this.#adopted?.scope !== scopeKey(scope)) {
      this.#adopted = { scope: scopeKey(scope), refs: await adoptRefs(refs, from, deps) };
    }
    return this.#adopted.refs;
  }

  /**
   * The chunks of a source. If it fails before its end, it is not whole, and the rest of the document stays. A stream of objects is
   * an error.
   */
  async *#readChunks(source: ByteSource, outcome: { isWhole: boolean }): AsyncGenerator<Uint8Array> {
    const { access, options } = this.#deps;
    const chunks = chunksIn(source);
    try {
      for (;;) {
        const next = await access.ended(chunks.next()).catch((error: unknown) => {
          if (error instanceof NotBytes) throw error;
          return undefined;
        });
        options.signal?.throwIfAborted();
        outcome.isWhole = next !== undefined;
        if (next === undefined || next.done === true) return;
        yield next.value;
      }
    } finally {
      // The source may still be running: it is told to stop.
      void chunks.return(undefined);
    }
  }

  async #take(bytes: Uint8Array): Promise<void> {
    this.#deps.options.signal?.throwIfAborted();
    this.#engine.call("bytesRoom", bytes.length).set(bytes);
    this.#engine.call("bytesWritten", bytes.length);
    this.#bytesIn += bytes.length;
    await this.#drain(DIVERTED);
  }

  /** Stores what the gate has diverted, if it is at least so much. */
  async #drain(least = 1): Promise<void> {
    if (this.#engine.call("events").length < least) return;
    this.#segments ??= new Segments(this.#engine, this.#deps);
    await this.#segments.drain();
  }

  #keep(bytes: Uint8Array): void {
    if (this.#bytesIn > (this.#deps.options.keepOriginal ?? 0)) this.#original = undefined;
    else this.#original?.push(bytes);
  }
}

type Parts = Omit<Transformed, "value" | "refs" | "clamped" | "cut"> & {
  /** Parsed from the text if left out. */
  readonly value?: unknown;
  readonly refs?: string | undefined;
  readonly cut?: ClampReport | undefined;
};

/** A reduced result. Its value is parsed on first use, since many hosts only pass the text on. */
export class Answer implements Transformed {
  readonly text: string;
  readonly artifacts: Transformed["artifacts"];
  readonly failures: Transformed["failures"];
  readonly changed: boolean;
  readonly clamped: boolean;
  readonly cut?: ClampReport;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly refs?: string;
  #value: unknown;

  constructor({ text, value, artifacts, failures, changed, cut, bytesIn, bytesOut, refs }: Parts) {
    this.text = text;
    this.#value = value;
    this.artifacts = artifacts;
    this.failures = failures;
    this.changed = changed;
    this.clamped = cut !== undefined;
    this.bytesIn = bytesIn;
    this.bytesOut = bytesOut;
    if (cut !== undefined) this.cut = cut;
    if (refs !== undefined) this.refs = refs;
  }

  get value(): unknown {
    return (this.#value ??= JSON.parse(this.text));
  }
}

/** Copies what the gate stored to another scope, for owners that are known late. What cannot be copied gets a truncated ref. */
async function adoptRefs(
  refs: ReadonlyMap<number, AnswerRef>,
  from: ArtifactScope | undefined,
  { access, options }: MessageDeps,
): Promise<ReadonlyMap<number, AnswerRef>> {
  const own = new Map<number, AnswerRef>();
  for (const [segment, ref] of refs) {
    const there = isTruncated(ref) ? ref : await copyRef(ref, from, options, access);
    own.set(segment, { ...there, scope: fullScope(options.scope) });
  }
  return own;
}

async function copyRef(
  ref: AnswerRef,
  from: ArtifactScope | undefined,
  options: TransformOptions,
  access: StoreAccess,
): Promise<AnswerRef> {
  const { mime_type, filename, source } = ref;
  try {
    const chunks = await access.openChunks(ref.id, from);
    if (chunks === null)
      return toTruncatedRef(ref, "Content not stored: it was deleted before its result was complete.");
    const writer = await SegmentWriter.open(access, { ...toInfo(options, source), mime_type, filename });
    try {
      for await (const chunk of chunks) await writer.write(chunk);
      return await writer.close();
    } finally {
      await writer.abort();
    }
  } catch (error) {
    return toTruncatedRef(ref, toWarning(access.survived(error)));
  }
}

/** How the guardrail cut the answer. */
function readClamp(engine: Engine): ClampReport {
  const { original_chars, method } = JSON.parse(engine.ask("report")) as { original_chars: number; method: string };
  return { originalChars: original_chars, method };
}

/** Counts what the guardrail cut off, in characters as it counts them. */
export function countClamp(originalChars: number, text: string): void {
  if (isMeasured()) record("sluice.observation.clamped", Math.max(0, originalChars - Array.from(text).length));
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function noMatter(): void {
  // The caller of the failed call got its error, and later calls throw the one that was kept.
}

function toClosedError(): SluiceError {
  return new SluiceError("E_MISUSE", "this stream was closed; open another for the next result");
}
