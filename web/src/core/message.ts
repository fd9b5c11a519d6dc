/**
 * One result on its way through the gate, from its first byte to its answers: as its caller sees it, calls in order and
 * failures that stick, and as an engine does it.
 * @module
 */
import { fullScope, sameScope, scopeKey } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { insteadOf, isTruncated, warningOf } from "../artifacts/unstored.js";
import { SluiceError } from "../errors/error.js";
import { AnswerWriter, callOf, type MessageSurroundings } from "./answer.js";
import { base64Of } from "./base64.js";
import { isBytes, noBytes } from "../errors/arguments.js";
import type { Engine, EnginePool } from "./engine.js";
import { Intake, SegmentWriter } from "./segments.js";
import type { AnswerOptions, AnswerRef, GatedResult, SluiceStream, Transformed, TransformOptions } from "./sluice.js";
import { infoOf, type StoreAccess } from "./store-access.js";
import { chunksIn, filenameOf, typeOf, type ByteSource, type ValuePiece } from "./value.js";

const BROKEN_OFF = "Content not stored: the stream that it came from broke off. Call the tool again.";

/** Bytes that the core is handed at a time, so that a large chunk costs no more memory than a small one. */
const CHUNK = 262_144;

/** Characters of text handed to the encoder at a time. */
const TEXT_PIECE = 65_536;

const encoder = new TextEncoder();

/**
 * A message whose engine is taken when its first bytes come. Calls that are not awaited are taken in order; the
 * first failure throws away what is half written, and is what every later write reports.
 */
export class Stream implements SluiceStream {
  readonly #pool: EnginePool;
  readonly #around: MessageSurroundings;
  #message: Message | undefined;
  /** What was called last and has not settled. */
  #pending: Promise<unknown> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #ended = false;

  constructor(pool: EnginePool, around: MessageSurroundings) {
    this.#pool = pool;
    this.#around = around;
  }

  write(chunk: Uint8Array): Promise<void> {
    if (!isBytes(chunk)) return Promise.reject(noBytes("chunk"));
    return this.#inTurn(async () => (await this.#begun()).push(chunk));
  }

  /** The same for a document that is there as a whole, with bytes in the place of values. */
  writePieces(pieces: readonly ValuePiece[]): Promise<void> {
    return this.#inTurn(async () => {
      const message = await this.#begun();
      for (const piece of pieces) {
        if (typeof piece === "string") await message.pushText(piece);
        else await message.pushBytes(piece);
      }
    });
  }

  async close(): Promise<Transformed> {
    await using gated = await this.end();
    return await gated.answer();
  }

  end(): Promise<GatedResult> {
    const ending = this.#inTurn(async () => {
      const message = await this.#begun();
      await message.finish();
      // From here on it belongs to whoever asked for it.
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
    if (this.#ended) return Promise.reject(closed());
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

  async #begun(): Promise<Message> {
    return (this.#message ??= await Message.begin(this.#pool, this.#around));
  }
}

/** Drives one engine through one message: its bytes, its end, and any number of answers until it is disposed of. */
export class Message implements GatedResult {
  readonly #pool: EnginePool;
  readonly #engine: Engine;
  readonly #around: MessageSurroundings;
  readonly #intake: Intake;
  /** The first bytes of the document, as long as all of it may be asked for. */
  #original: Uint8Array[] | undefined;
  #bytesIn = 0;
  /** The store as the last answer met it. */
  #answering: StoreAccess | undefined;
  /** What the gate stored, in the scope of the last answer. */
  #adopted: { readonly scope: string; readonly refs: ReadonlyMap<number, AnswerRef> } | undefined;
  #isOver = false;

  private constructor(pool: EnginePool, engine: Engine, around: MessageSurroundings) {
    const { options, access } = around;
    this.#pool = pool;
    this.#engine = engine;
    this.#around = around;
    this.#intake = new Intake(engine, access, infoOf(options));
    if ((options.keepOriginal ?? 0) > 0) this.#original = [];
    engine.tell(callOf(options), (core) => core.begin());
  }

  static async begin(pool: EnginePool, around: MessageSurroundings): Promise<Message> {
    return new Message(pool, await pool.take(), around);
  }

  get original(): readonly Uint8Array[] | undefined {
    return this.#original;
  }

  /** Bytes of the document. Settles when the store has taken what came out. */
  async push(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += CHUNK) {
      const chunk = bytes.subarray(at, at + CHUNK);
      this.#around.options.signal?.throwIfAborted();
      this.#engine.must((core) => {
        core.body(chunk.length).set(chunk);
        return core.push(chunk.length);
      });
      this.#came(chunk.length, () => chunk.slice());
      await this.#intake.drain();
    }
  }

  /** Text of the document: all of it, or what stands before and behind bytes. */
  async pushText(text: string): Promise<void> {
    for (let at = 0; at < text.length;) {
      this.#around.options.signal?.throwIfAborted();
      let next = Math.min(text.length, at + TEXT_PIECE);
      // Never between the halves of a surrogate pair: apart, each would become U+FFFD.
      if (next < text.length && isHighSurrogate(text.charCodeAt(next - 1))) next -= 1;
      const piece = text.slice(at, next);
      let bytes = 0;
      this.#engine.must((core) => {
        bytes = encoder.encodeInto(piece, core.body(piece.length * 3)).written;
        return core.push(bytes);
      });
      this.#came(bytes, () => encoder.encode(piece));
      at = next;
      await this.#intake.drain();
    }
  }

  /** Bytes in the place of a value. */
  async pushBytes(source: ByteSource): Promise<void> {
    const told = { mime_type: typeOf(source), filename: filenameOf(source) };
    const isTaken = this.#engine.put(JSON.stringify(told), (core) => core.openBytes());
    const outcome: { isWhole: boolean } = { isWhole: true };
    const chunks = this.#chunksOf(source, outcome);
    if (!isTaken) {
      // Among too many others, and where nothing may be taken out, they are text like any other.
      await this.pushText('"');
      for await (const piece of base64Of(chunks)) await this.push(piece);
      return this.pushText(outcome.isWhole ? '"' : ` ${BROKEN_OFF}"`);
    }
    // The document has no text for them.
    this.#original = undefined;
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += CHUNK) await this.#take(chunk.subarray(at, at + CHUNK));
    }
    this.#engine.call((core) => core.closeBytes());
    await this.#intake.drain();
    if (!outcome.isWhole) this.#intake.lose(BROKEN_OFF);
  }

  /** The end of the document. */
  async finish(): Promise<void> {
    this.#engine.must((core) => core.finish());
    await this.#intake.drain();
  }

  /** What the layers make of it: tasks are done, the answer is written. */
  async answer(options: AnswerOptions = {}): Promise<Transformed> {
    if (this.#isOver) throw new SluiceError("E_MISUSE", "this result was disposed of: ask for its answers before that");
    const { access } = this.#around;
    const around = {
      ...this.#around,
      options: { ...this.#around.options, ...options },
      access: options.signal === undefined ? access : access.with(options.signal),
    };
    // As long as nobody asked for another answer, the core knows the call.
    const isAsBegun = this.#answering === undefined && options.tool === undefined && options.dialect === undefined;
    const writer = new AnswerWriter(this.#engine, around, await this.#refsFor(around));
    this.#answering = around.access;
    return writer.write(this.#bytesIn, isAsBegun);
  }

  /** Leaves nothing half-written behind. An engine whose memory the store may still look at is not used again. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#intake.abort();
    const isAbandoned = this.#around.access.abandoned || this.#answering?.abandoned === true;
    if (!isAbandoned) this.#pool.release(this.#engine);
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

  /** What a source gives. Where it fails before its end, it is not whole, and what else is in the document stays. */
  async *#chunksOf(source: ByteSource, outcome: { isWhole: boolean }): AsyncGenerator<Uint8Array> {
    const { access, options } = this.#around;
    const chunks = chunksIn(source);
    try {
      for (;;) {
        const next = await access.ended(chunks.next()).catch(() => undefined);
        options.signal?.throwIfAborted();
        outcome.isWhole = next !== undefined;
        if (next === undefined || next.done === true) return;
        yield next.value;
      }
    } finally {
      // Whoever gives the bytes may still be waited for: it is told that nobody wants them.
      void chunks.return(undefined);
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
    if (chunks === null) return insteadOf(ref, "Content not stored: it was gone before its result was complete.");
    const writer = await SegmentWriter.open(access, { ...infoOf(options, source), mime_type, filename });
    try {
      for await (const chunk of chunks) await writer.write(chunk);
      return await writer.close();
    } finally {
      await writer.abort();
    }
  };
  return access.attempt(copy, (failure) => insteadOf(ref, warningOf(failure)));
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function noMatter(): void {
  // What became of the call before is told to whoever made it, and to this one by the failure that was kept.
}

function closed(): SluiceError {
  return new SluiceError("E_MISUSE", "this stream was closed; open another for the next result");
}
