/**
 * What happened in a trace, kept for whoever looks at it later (ToolNode 2.1 "StateStore": `save_event`, `load_history`).
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { PlannerEvent } from "./event.js";
import type { HostStateStore } from "./state-store.js";

/** Pieces that a later event has the whole of, or that are worth nothing later. */
const FLEETING: ReadonlySet<PlannerEvent["kind"]> = new Set([
  "text",
  "text_discarded",
  "tool_progress",
  "tool_waiting",
  "chunk_emitted",
]);

/**
 * Saves the events of one run, one after the other. That one cannot be saved is told, and no more of them are tried: a store that is
 * away would be waited for at each.
 */
export class History {
  readonly #save: ((event: PlannerEvent) => Promise<void>) | undefined;
  readonly #onFailure: (error: SluiceError) => void;
  #last: Promise<void> = Promise.resolve();
  #hasFailed = false;

  /** Saves nothing where the store cannot, or the run has no trace. */
  constructor(
    store: HostStateStore | undefined,
    traceId: string | null | undefined,
    onFailure: (error: SluiceError) => void,
  ) {
    const save = store?.saveEvent?.bind(store);
    this.#save = save === undefined || traceId == null ? undefined : (event) => save(traceId, event);
    this.#onFailure = onFailure;
  }

  /** Takes an event, which is saved when those before are. */
  add(event: PlannerEvent): void {
    const save = this.#save;
    if (save === undefined || FLEETING.has(event.kind)) return;
    this.#last = this.#last
      .then(() => (this.#hasFailed ? undefined : save(event)))
      .catch((error: unknown) => this.#failed(error));
  }

  /** Settles when all that was taken is saved, or could not be. */
  async settled(): Promise<void> {
    await this.#last;
  }

  #failed(cause: unknown): void {
    this.#hasFailed = true;
    const sentence = "What happens in the run cannot be kept: check the state store.";
    this.#onFailure(cause instanceof SluiceError ? cause : new SluiceError("E_STORE_WRITE", sentence, {}, { cause }));
  }
}
