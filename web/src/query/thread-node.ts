/**
 * A question in a worker of Node, which waits for bytes while it reads. One worker is kept for the next question.
 * @module
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { onAbort } from "../core/abort.js";
import type { WasmSource } from "../core/engine.js";
import { Semaphore } from "../core/semaphore.js";
import { loadTables } from "../core/tables-module.js";
import { SluiceError } from "../errors/error.js";
import type { Answers, QueryThread, Request } from "./thread.js";
import type { QueryLimits, TableBytes } from "./types.js";

/** Bytes that a worker is given at once. */
const SHARED_BYTES = 1024 * 1024;

/** Questions that are answered at a time in one process: each may use all of its memory. */
const AT_A_TIME = 4;

/** Milliseconds that a worker waits for the next question. */
const IDLE_MS = 30_000;

/** Milliseconds by which a worker may be later than its question before it is ended. */
const GRACE_MS = 5000;

/** What a worker starts with. */
export interface WorkerData {
  /** Whether bytes are there, and their number: -1 where they cannot be read. */
  readonly control: Int32Array;
  readonly bytes: Uint8Array;
}

/** What a worker is told. */
export type WorkerRequest = Request | { readonly is: "end" };

/** What a worker says: it wants bytes, it answers, or it has failed. */
export type WorkerMessage =
  | { readonly read: readonly [artifact: number, offset: number] }
  | { readonly answer: Answers[keyof Answers] }
  | { readonly trap: string };

interface OwnWorker {
  readonly worker: Worker;
  readonly data: WorkerData;
}

const turns = new Semaphore(AT_A_TIME);
let idle: (OwnWorker & { readonly end: NodeJS.Timeout }) | undefined;

/** See {@link OpenThread}. Where no worker can be started, the question is answered in this thread. */
export async function openThread(
  signal: AbortSignal | undefined,
  module: WasmSource | undefined,
  limits: QueryLimits,
): Promise<QueryThread> {
  const compiled = await loadTables(module);
  const endTurn = await takeTurn(signal);
  const own = takeWorker();
  if (own === undefined) {
    endTurn();
    return (await import("./thread-inline.js")).openThread(signal, compiled, limits);
  }
  const thread = new NodeThread(own, { signal, timeoutMs: limits.timeoutMs ?? 20_000, endTurn });
  await thread.ask({ is: "begin", module: compiled, limits });
  return thread;
}

/** Waits until fewer questions are answered. The turn ends when what is returned is called. */
async function takeTurn(signal: AbortSignal | undefined): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const turn = (): Promise<void> => new Promise((end) => resolve(end));
    turns.run(turn, signal).catch(reject);
  });
}

function takeWorker(): OwnWorker | undefined {
  if (idle !== undefined) {
    const { worker, data, end } = idle;
    idle = undefined;
    clearTimeout(end);
    forgetWorker(worker);
    return { worker, data };
  }
  const data: WorkerData = {
    control: new Int32Array(new SharedArrayBuffer(8)),
    bytes: new Uint8Array(new SharedArrayBuffer(SHARED_BYTES)),
  };
  try {
    // Given as a parameter, bundlers do not take the name for a part of theirs.
    const program = programAt("#query-worker");
    // It inherits nothing that is secret, and nothing that the host preloads.
    return { worker: new Worker(program, { workerData: data, env: {}, execArgv: [] }), data };
  } catch {
    return undefined;
  }
}

const programAt = (name: string): string => createRequire(import.meta.url).resolve(name);

/** A stream of bytes that is read one piece ahead. */
interface Stream {
  readonly pieces: AsyncIterator<Uint8Array>;
  /** Where the next piece begins. */
  at: number;
  rest: Uint8Array | undefined;
  ahead: Promise<IteratorResult<Uint8Array>> | undefined;
}

interface ThreadOptions {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly endTurn: () => void;
}

class NodeThread implements QueryThread {
  readonly #own: OwnWorker;
  readonly #held: TableBytes[] = [];
  readonly #streams = new Map<number, Stream>();
  readonly #endTurn: () => void;
  readonly #forget: (() => void) | undefined;
  readonly #limit: NodeJS.Timeout;
  #waiting: { readonly resolve: (answer: unknown) => void; readonly reject: (error: unknown) => void } | undefined;
  #failed: { readonly error: unknown } | undefined;
  #isClosed = false;

  constructor(own: OwnWorker, { signal, timeoutMs, endTurn }: ThreadOptions) {
    this.#own = own;
    this.#endTurn = endTurn;
    const { worker } = own;
    worker.ref();
    worker.on("message", (message: WorkerMessage) => this.#take(message));
    worker.on("error", (cause) => this.#fail(toTrap(cause)));
    worker.on("exit", () => this.#fail(toTrap()));
    this.#forget = signal && onAbort(signal, () => this.#fail(signal.reason));
    const late = new SluiceError("E_TOO_LARGE", "The query took too long: ask for less.", { path: "query" });
    this.#limit = setTimeout(() => this.#fail(late), timeoutMs + GRACE_MS);
    if (signal?.aborted === true) this.#fail(signal.reason);
  }

  async hold(bytes: TableBytes): Promise<number> {
    return this.#held.push(bytes) - 1;
  }

  async ask<Asked extends Request>(request: Asked): Promise<Answers[Asked["is"]]> {
    if (this.#failed !== undefined) throw this.#failed.error;
    const answer = await new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#own.worker.postMessage(request satisfies WorkerRequest, []);
    });
    return answer as Answers[Asked["is"]];
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#forget?.();
    clearTimeout(this.#limit);
    for (const stream of this.#streams.values()) endStream(stream);
    // One that works on, or has failed, is of no use.
    keepWorker(this.#own, this.#waiting === undefined && this.#failed === undefined);
    this.#endTurn();
  }

  #fail(error: unknown): void {
    this.#failed ??= { error };
    this.close();
    this.#waiting?.reject(this.#failed.error);
    this.#waiting = undefined;
  }

  #take(message: WorkerMessage): void {
    if ("read" in message) void this.#serve(...message.read);
    else if ("trap" in message) this.#fail(toTrap(message.trap));
    else {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting?.resolve(message.answer);
    }
  }

  async #serve(artifact: number, offset: number): Promise<void> {
    const { control, bytes } = this.#own.data;
    try {
      const piece = await this.#read(artifact, offset);
      bytes.set(piece);
      this.#readAhead(artifact);
      Atomics.store(control, 1, piece.length);
    } catch (error) {
      Atomics.store(control, 1, -1);
      // It is closed, and the worker ended.
      this.#fail(error);
    }
    Atomics.store(control, 0, 1);
    Atomics.notify(control, 0);
  }

  async #read(artifact: number, offset: number): Promise<Uint8Array> {
    let stream = this.#streams.get(artifact);
    if (stream?.at !== offset) {
      if (stream !== undefined) endStream(stream);
      const pieces = (this.#held[artifact] as TableBytes).open(offset)[Symbol.asyncIterator]();
      stream = { pieces, at: offset, rest: undefined, ahead: undefined };
      this.#streams.set(artifact, stream);
    }
    let piece = stream.rest ?? new Uint8Array(0);
    while (piece.length === 0) {
      const { done, value } = await (stream.ahead ?? stream.pieces.next());
      stream.ahead = undefined;
      if (done === true) return piece;
      piece = value;
    }
    const part = piece.subarray(0, SHARED_BYTES);
    stream.rest = piece.length > part.length ? piece.subarray(part.length) : undefined;
    stream.at += part.length;
    return part;
  }

  /** Reads the next piece while the worker looks at this one, whose place it may take. */
  #readAhead(artifact: number): void {
    const stream = this.#streams.get(artifact);
    if (stream === undefined || stream.rest !== undefined) return;
    stream.ahead ??= stream.pieces.next();
    stream.ahead.catch(() => undefined);
  }
}

/** Lets a source know that no more is read. What it says of that concerns no answer. */
function endStream({ pieces }: Stream): void {
  pieces.return?.(undefined).catch(() => undefined);
}

/** Keeps a worker for the next question, if there is none and it is fit; else ends it. */
function keepWorker({ worker, data }: OwnWorker, isFit: boolean): void {
  forgetWorker(worker);
  if (!isFit || idle !== undefined) {
    // An error event without a listener would end the process.
    worker.on("error", () => undefined);
    void worker.terminate();
    return;
  }
  const drop = (): void => {
    if (idle?.worker === worker) idle = undefined;
    clearTimeout(end);
  };
  const end = setTimeout(() => {
    drop();
    void worker.terminate();
  }, IDLE_MS);
  idle = { worker, data, end };
  worker.on("error", drop);
  worker.on("exit", drop);
  worker.postMessage({ is: "end" } satisfies WorkerRequest, []);
  end.unref();
  worker.unref();
}

/** Takes our listeners off, one event at a time: Node has listeners of its own there. */
function forgetWorker(worker: Worker): void {
  for (const event of ["message", "error", "exit"]) worker.removeAllListeners(event);
}

function toTrap(cause?: unknown): SluiceError {
  return new SluiceError(
    "E_CORE_TRAP",
    "The part that answers queries failed: ask in another way, or read with rows, lines or search.",
    { path: "query" },
    { cause },
  );
}
