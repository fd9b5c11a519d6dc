/**
 * How many calls a source is given at a time. Cockatiel's bulkhead is not it: a caller who gives up in its line stops the
 * line, and whoever calls at the right moment overtakes all who wait.
 * @module
 */
import { subjectOf, type ToolPlace } from "../adapting/place.js";
import { ToolNodeError } from "../errors.js";
import { untilAborted } from "./abort.js";

/** Calls that may wait for one source: more are no load to wait for but a loop that has lost control. */
const MOST_WAITING = 10_000;

/** Lets so many calls through at a time; others wait, first come first served. */
export class ConcurrencyLimit {
  readonly #most: number;
  readonly #mostWaiting: number;
  /** Each begins a call whose turn it is. */
  readonly #line = new Set<() => void>();
  #inFlight = 0;

  constructor(most: number, mostWaiting = MOST_WAITING) {
    this.#most = most;
    this.#mostWaiting = mostWaiting;
  }

  /** Calls let through and not over. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Calls not let through yet, and not given up. */
  get waiting(): number {
    return this.#line.size;
  }

  /**
   * Does the work when its turn comes.
   *
   * @throws what the work throws; the signal's reason when it is aborted before; a ToolNodeError when too many wait.
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal | undefined, place: ToolPlace): Promise<T> {
    signal?.throwIfAborted();
    if (this.#inFlight < this.#most) this.#inFlight += 1;
    else await this.#turn(signal, place);
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  async #turn(signal: AbortSignal | undefined, place: ToolPlace): Promise<void> {
    if (this.#line.size >= this.#mostWaiting) throw tooMany(place);
    const { promise, begin } = beginning();
    this.#line.add(begin);
    try {
      await untilAborted(promise, signal);
    } catch (error) {
      // The turn may have come in the same moment: then it is somebody else's.
      if (!this.#line.delete(begin)) this.#next();
      throw error;
    }
  }

  /** A turn is handed on, never up for grabs: nobody overtakes. */
  #next(): void {
    const [begin] = this.#line;
    if (begin === undefined) {
      this.#inFlight -= 1;
      return;
    }
    this.#line.delete(begin);
    begin();
  }
}

function beginning(): { readonly promise: Promise<void>; readonly begin: () => void } {
  let begin: (() => void) | undefined;
  const promise = new Promise<void>((resolve) => {
    begin = resolve;
  });
  return { promise, begin: () => begin?.() };
}

function tooMany(place: ToolPlace): ToolNodeError {
  const remedy = "call again when some of them are done";
  return new ToolNodeError(`${subjectOf(place)} has too many calls waiting for it: ${remedy}.`, {
    code: "E_TOOL_RATE_LIMIT",
    category: "non_retryable",
    neverSent: true,
  });
}
