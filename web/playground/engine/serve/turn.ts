/**
 * One question of the chat at the server, and how it is given up there.
 * @module
 */
import { CANCELLED } from "../problem.js";
import type { Cursor } from "./events.js";
import { Away, type Exchange } from "./exchange.js";

/** Milliseconds that a run is waited for which is given up before it has a name. */
const NAMELESS = 5000;

/** One question. */
export class ServedTurn {
  readonly controller = new AbortController();
  readonly cursor: Cursor = {};
  readonly #exchange: Exchange;
  /** What the run is called there, once it has begun. */
  #run: string | undefined;
  #isStopped = false;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  get run(): string | undefined {
    return this.#run;
  }

  set run(name: string | undefined) {
    this.#run = name;
    if (this.#isStopped) this.stop();
  }

  /** Gives up one of its calls, or everything: there too. */
  stop(call?: string): void {
    const run = this.#run;
    if (call !== undefined) {
      if (run !== undefined) this.#delete(`chat/${encodeURIComponent(run)}?call=${encodeURIComponent(call)}`);
      return;
    }
    this.#isStopped = true;
    const leave = (): void => this.controller.abort(new DOMException(CANCELLED.message, "AbortError"));
    if (run === undefined) {
      setTimeout(leave, NAMELESS);
      return;
    }
    this.#delete(`chat/${encodeURIComponent(run)}`);
    leave();
  }

  #delete(path: string): void {
    const asking = (): Promise<unknown> => this.#exchange.ask(path, { method: "DELETE" });
    // What is over cannot be given up. Who does not answer is asked once more.
    asking().catch((error: unknown) => (error instanceof Away ? asking().catch(() => undefined) : undefined));
  }
}
