/**
 * Calls of tools, each until it ends or is cancelled.
 * @module
 */
import type { CallRequest, EngineEvent, Outcome, ShownProgress, ShownResult } from "./contract.js";
import { CANCELLED, outcome } from "./problem.js";
import type { Results } from "./results.js";
import type { Servers } from "./servers.js";

/** The calls under way. */
export class Calls {
  readonly #servers: Servers;
  readonly #results: Results;
  readonly #tell: (event: EngineEvent) => void;
  readonly #running = new Map<string, AbortController>();

  constructor(servers: Servers, results: Results, tell: (event: EngineEvent) => void) {
    this.#servers = servers;
    this.#results = results;
    this.#tell = tell;
  }

  /** Makes a call, and keeps its result. */
  async run(request: CallRequest): Promise<Outcome<ShownResult>> {
    const controller = new AbortController();
    const { signal } = controller;
    const { id, server } = request;
    this.#running.set(id, controller);
    const result = await outcome(async () => {
      const connection = this.#servers.get(server);
      const tell = (progress: ShownProgress): void => this.#tell({ kind: "progress", call: id, progress });
      const reduced = await connection.call(request, signal, tell);
      const tool = request.tool.slice(server.length + 1);
      const { userFiles } = connection.address;
      return this.#results.add({
        id,
        title: tool,
        server,
        tool,
        isError: reduced.isError,
        reduced,
        ...(userFiles === true && { filed: reduced }),
      });
    });
    this.#running.delete(id);
    return signal.aborted ? { ok: false, problem: CANCELLED } : result;
  }

  /** Gives up a call, if it is under way. */
  cancel(id: string): void {
    this.#running.get(id)?.abort(new DOMException(CANCELLED.message, "AbortError"));
  }

  /** Gives up all of them. */
  cancelAll(): void {
    for (const id of this.#running.keys()) this.cancel(id);
  }
}
