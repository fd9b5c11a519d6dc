/**
 * A result on its way through the gate, as its caller sees it: calls in order, failures that stick.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { isBytes, noBytes } from "./call.js";
import type { Engine, EnginePool } from "./engine.js";
import { Message, type MessageSurroundings } from "./message.js";
import type { AnswerOptions, GatedResult, SluiceStream, Transformed } from "./sluice.js";
import type { ValuePiece } from "./value.js";

/** Bytes handed to the gate at a time, so that a large chunk costs no more memory than a small one. */
const CHUNK = 262_144;

/**
 * A message whose engine is taken when its first bytes come. Calls that are not awaited are taken in order; the
 * first failure throws away what is half written, and is what every later write reports.
 */
export class Stream implements SluiceStream {
  readonly #pool: EnginePool;
  readonly #around: MessageSurroundings;
  #engine: Engine | undefined;
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
    return this.#inTurn(async () => {
      for (let at = 0; at < chunk.length; at += CHUNK) {
        await (await this.#begun()).push(chunk.subarray(at, at + CHUNK));
      }
    });
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
    const ending = this.#inTurn(() => this.#finish());
    this.#ended = true;
    return ending;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true;
    await this.#pending?.catch(() => undefined);
    await this.#message?.abort();
    this.#release();
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
      await this.#message?.abort();
      this.#release();
      throw error;
    }
  }

  /** The engine goes with the result, which gives it back. */
  async #finish(): Promise<GatedResult> {
    const message = await this.#begun();
    await message.finish();
    const [engine, pool] = [this.#engine as Engine, this.#pool];
    this.#engine = undefined;
    return new HeldResult(message, () => giveBack(pool, engine, message));
  }

  async #begun(): Promise<Message> {
    if (this.#message === undefined) {
      this.#engine = await this.#pool.take();
      this.#message = new Message(this.#engine, this.#around);
    }
    return this.#message;
  }

  #release(): void {
    if (this.#engine !== undefined && this.#message !== undefined) giveBack(this.#pool, this.#engine, this.#message);
    this.#engine = undefined;
  }
}

/** An engine whose memory the store may still look at is not used again. */
function giveBack(pool: EnginePool, engine: Engine, message: Message): void {
  if (!message.abandoned) pool.release(engine);
}

/** A message that has ended, until nobody wants an answer any more. */
class HeldResult implements GatedResult {
  readonly #message: Message;
  readonly #release: () => void;
  #isOver = false;

  constructor(message: Message, release: () => void) {
    this.#message = message;
    this.#release = release;
  }

  get original(): readonly Uint8Array[] | undefined {
    return this.#message.original;
  }

  async answer(options: AnswerOptions = {}): Promise<Transformed> {
    if (this.#isOver) throw new SluiceError("E_MISUSE", "this result was disposed of: ask for its answers before that");
    return this.#message.answer(options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#release();
  }
}

function noMatter(): void {
  // What became of the call before is told to whoever made it, and to this one by the failure that was kept.
}

function closed(): SluiceError {
  return new SluiceError("E_MISUSE", "this stream was closed; open another for the next result");
}
