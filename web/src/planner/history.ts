/**
 * The history of a run: its events, as a store keeps them.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { HostStateStore } from "./state-store.js";
import type { PlannerEvent } from "./event.js";

/** Events that are worth nothing later, or contained in a later one. */
const FLEETING: ReadonlySet<PlannerEvent["kind"]> = new Set([
  "text",
  "text_discarded",
  "tool_progress",
  "tool_waiting",
  "chunk_emitted",
]);

/**
 * Stores the events of one run, in order. After a failure no more are stored: each would wait for a store that is
 * away.
 */
export class History {
  readonly #save: ((event: PlannerEvent) => Promise<void>) | undefined;
  readonly #onFailure: (error: SluiceError) => void;
  #last: Promise<void> = Promise.resolve();
  #hasFailed = false;

  /** Stores nothing if the store cannot, or the run has no trace. */
  constructor(
    store: HostStateStore | undefined,
    traceId: string | null | undefined,
    onFailure: (error: SluiceError) => void,
  ) {
    const save = store?.saveEvent?.bind(store);
    this.#save = save === undefined || traceId == null ? undefined : (event) => save(traceId, event);
    this.#onFailure = onFailure;
  }

  /** Stores an event after all earlier ones. */
  add(event: PlannerEvent): void {
    const save = this.#save;
    if (save === undefined || FLEETING.has(event.kind)) return;
    this.#last = this.#last
      .then(() => (this.#hasFailed ? undefined : save(event)))
      .catch((error: unknown) => this.#failed(error));
  }

  /** Settles when all events are stored or have failed. */
  async settled(): Promise<void> {
    await this.#last;
  }

  #failed(cause: unknown): void {
    this.#hasFailed = true;
    const sentence = "The events of the run cannot be saved: check the state store.";
    this.#onFailure(cause instanceof SluiceError ? cause : new SluiceError("E_STORE_WRITE", sentence, {}, { cause }));
  }
}
