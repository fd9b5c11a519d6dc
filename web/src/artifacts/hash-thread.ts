/**
 * SHA-256 in a thread of its own: one for the process, started for the first large content.
 * @module
 */
import { Worker } from "node:worker_threads";
import { SluiceError } from "../errors/error.js";
import type { ParallelHash } from "./hash.js";

/** What the thread is told: a piece of a hash, its digest, or that it is no longer needed. */
type Order = readonly [hash: number, piece: Uint8Array] | readonly [hash: number, end: "digest" | "discard"];

// Not a file of its own: those who bundle the library for Node would have to know of it. Imported by `import`, since some runtimes take
// it for a script and others for a module.
const PROGRAM = `
Promise.all([import("node:crypto"), import("node:worker_threads")]).then(([{ createHash }, { parentPort }]) => {
  const hashes = new Map();
  parentPort.on("message", ([id, said]) => {
    const hash = hashes.get(id) ?? createHash("sha256");
    if (typeof said === "string") hashes.delete(id);
    else hashes.set(id, hash.update(said));
    if (said === "digest") parentPort.postMessage(hash.digest("hex"));
    else if (said !== "discard") parentPort.postMessage(said, [said.buffer]);
  });
});`;

interface Waiter {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The thread. It answers in order, and keeps the process running only while an answer is due. */
class HashThread {
  // Flags of this process, such as `--input-type=module`, are not meant for it.
  readonly #worker = new Worker(PROGRAM, { eval: true, execArgv: [] });
  readonly #waiting: Waiter[] = [];
  #hashes = 0;
  /** Whether it has ended, for whatever reason. */
  isOver = false;

  constructor() {
    this.#worker.unref();
    this.#worker.on("message", (answer) => this.#settle((waiter) => waiter.resolve(answer)));
    this.#worker.on("error", () => this.#end());
    this.#worker.on("exit", () => this.#end());
  }

  hash(): ParallelHash {
    const id = (this.#hashes += 1);
    return {
      update: (piece) => this.#ask<Uint8Array>([id, piece], piece.buffer as ArrayBuffer),
      digest: () => this.#ask<string>([id, "digest"]),
      discard: () => this.#worker.postMessage([id, "discard"] satisfies Order, []),
    };
  }

  #ask<Answer>(order: Order, ...memory: readonly ArrayBuffer[]): Promise<Answer> {
    if (this.isOver) return Promise.reject(toEndedError());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve: resolve as Waiter["resolve"], reject });
      this.#worker.ref();
      this.#worker.postMessage(order, memory);
    });
  }

  #settle(tell: (waiter: Waiter) => void): void {
    const waiter = this.#waiting.shift();
    if (this.#waiting.length === 0) this.#worker.unref();
    if (waiter !== undefined) tell(waiter);
  }

  #end(): void {
    this.isOver = true;
    while (this.#waiting.length > 0) this.#settle((waiter) => waiter.reject(toEndedError()));
  }
}

let thread: HashThread | undefined;

/**
 * Begins a hash in the thread. Undefined where none can be started, which not every runtime lets a program do, or once it has ended.
 * Also in Deno 2, whose threads take a tenth of a second for an answer.
 */
export function parallelHash(): ParallelHash | undefined {
  if ("Deno" in globalThis) return undefined;
  try {
    thread ??= new HashThread();
    return thread.isOver ? undefined : thread.hash();
  } catch {
    return undefined;
  }
}

function toEndedError(): SluiceError {
  return new SluiceError("E_STORE_WRITE", "The thread that hashes has ended: try again.");
}
