/**
 * A question in the thread that asks it, for runtimes that have no other one: Cloudflare's workerd, service workers, and bundles without
 * the program of the worker. The tables are held in memory. Nothing can end the question but its own limits.
 * @module
 */
import { joinBytes } from "../artifacts/bytes.js";
import type { WasmSource } from "../core/engine.js";
import { loadTables } from "../core/tables-module.js";
import { SluiceError } from "../errors/error.js";
import { type Answers, type QueryThread, QueryServant, type Request } from "./thread.js";
import type { QueryLimits, TableBytes } from "./types.js";

/** Most bytes of all tables of a question. */
const MAX_HELD = 64 * 1024 * 1024;

/** See {@link OpenThread}. */
export async function openThread(
  signal: AbortSignal | undefined,
  module: WasmSource | undefined,
  limits: QueryLimits,
): Promise<QueryThread> {
  const thread = new InlineThread(signal);
  await thread.ask({ is: "begin", module: await loadTables(module), limits });
  return thread;
}

class InlineThread implements QueryThread {
  readonly #signal: AbortSignal | undefined;
  readonly #held: Uint8Array[] = [];
  #size = 0;
  readonly #servant = new QueryServant((artifact, offset, into) => {
    const part = this.#held[artifact]?.subarray(offset, offset + into.length) ?? new Uint8Array(0);
    into.set(part);
    return part.length;
  });

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  async hold(bytes: TableBytes): Promise<number> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytes.open(0)) {
      this.#signal?.throwIfAborted();
      this.#size += chunk.length;
      if (this.#size > MAX_HELD) throw tooLarge();
      // The chunk belongs to the source, which uses it again.
      chunks.push(chunk.slice());
    }
    return this.#held.push(joinBytes(chunks)) - 1;
  }

  async ask<Asked extends Request>(request: Asked): Promise<Answers[Asked["is"]]> {
    this.#signal?.throwIfAborted();
    return this.#servant.answer(request);
  }

  close(): void {
    this.#held.length = 0;
  }
}

function tooLarge(): SluiceError {
  return new SluiceError(
    "E_TOO_LARGE",
    "Only tables of up to 64 MiB can be asked in this runtime: read it with rows, lines or search.",
    { path: "query" },
  );
}
