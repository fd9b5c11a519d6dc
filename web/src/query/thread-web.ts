/**
 * A question in a web worker, which reads tables from blobs. Where there is no worker, as in service workers, in the thread that asks.
 * @module
 */
import { onAbort } from "../core/abort.js";
import type { WasmSource } from "../core/engine.js";
import { loadTables } from "../core/tables-module.js";
import { SluiceError } from "../errors/error.js";
import type { Answers, QueryThread, Request } from "./thread.js";
import type { QueryLimits, TableBytes } from "./types.js";

/** What the worker is told: a blob, or a request. */
export type WorkerRequest = { readonly blob: Blob } | { readonly request: Request };

/** What the worker says. */
export type WorkerAnswer = { readonly answer: Answers[keyof Answers] } | { readonly trap: string };

/** Milliseconds by which a worker may be later than its question before it is ended. */
const GRACE_MS = 5000;

/** See {@link OpenThread}. */
export async function openThread(
  signal: AbortSignal | undefined,
  module: WasmSource | undefined,
  limits: QueryLimits,
): Promise<QueryThread> {
  if (typeof Worker === "undefined") return (await import("./thread-inline.js")).openThread(signal, module, limits);
  const compiled = await loadTables(module);
  signal?.throwIfAborted();
  const thread = new WebThread(signal, limits.timeoutMs ?? 20_000);
  await thread.ask({ is: "begin", module: compiled, limits });
  return thread;
}

class WebThread implements QueryThread {
  readonly #worker = new Worker(new URL("./worker-web.js", import.meta.url), { type: "module" });
  readonly #forget: (() => void) | undefined;
  readonly #limit: ReturnType<typeof setTimeout>;
  #held = 0;
  #waiting: { readonly resolve: (answer: unknown) => void; readonly reject: (error: unknown) => void } | undefined;
  #failed: { readonly error: unknown } | undefined;

  constructor(signal: AbortSignal | undefined, timeoutMs: number) {
    this.#worker.addEventListener("message", ({ data }: MessageEvent<WorkerAnswer>) => {
      if ("trap" in data) {
        this.#fail(
          new SluiceError(
            "E_CORE_TRAP",
            "The part that answers queries failed: ask in another way, or read with rows, lines or search.",
            { path: "query" },
            { cause: data.trap },
          ),
        );
        return;
      }
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting?.resolve(data.answer);
    });
    this.#worker.addEventListener("error", () =>
      this.#fail(
        new SluiceError("E_CORE_LOAD", "The worker that answers queries could not be loaded: reload the page.", {
          path: "query",
        }),
      ),
    );
    this.#forget = signal && onAbort(signal, () => this.#fail(signal.reason));
    const late = new SluiceError("E_TOO_LARGE", "The query took too long: ask for less.", { path: "query" });
    this.#limit = setTimeout(() => this.#fail(late), timeoutMs + GRACE_MS);
  }

  async hold(bytes: TableBytes): Promise<number> {
    const parts: Blob[] = [];
    for await (const chunk of bytes.open(0)) {
      if (this.#failed !== undefined) throw this.#failed.error;
      // A blob may lie on the disk, which a list of chunks does not.
      parts.push(new Blob([chunk as Uint8Array<ArrayBuffer>]));
    }
    this.#worker.postMessage({ blob: new Blob(parts) } satisfies WorkerRequest, []);
    this.#held += 1;
    return this.#held - 1;
  }

  async ask<Asked extends Request>(request: Asked): Promise<Answers[Asked["is"]]> {
    if (this.#failed !== undefined) throw this.#failed.error;
    const answer = await new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#worker.postMessage({ request } satisfies WorkerRequest, []);
    });
    return answer as Answers[Asked["is"]];
  }

  close(): void {
    this.#forget?.();
    clearTimeout(this.#limit);
    this.#worker.terminate();
  }

  #fail(error: unknown): void {
    this.#failed ??= { error };
    this.close();
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}
