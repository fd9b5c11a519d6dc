/**
 * How many calls a source is given at a time. Cockatiel's bulkhead is not it: a caller who gives up in its line stops the
 * line, and whoever calls at the right moment overtakes all who wait.
 * @module
 */
import { Turns } from "../../mcp/arguments/turns.js";
import { subjectOf, type ToolPlace } from "../adapting/place.js";
import { ToolNodeError } from "../errors.js";

/** Calls that may wait for one source: more are no load to wait for but a loop that has lost control. */
const MOST_WAITING = 10_000;

/** Lets so many calls through at a time; others wait, first come first served. */
export class ConcurrencyLimit {
  readonly #turns: Turns;
  readonly #mostWaiting: number;

  constructor(most: number, mostWaiting = MOST_WAITING) {
    this.#turns = new Turns(most);
    this.#mostWaiting = mostWaiting;
  }

  /** Calls let through and not over. */
  get inFlight(): number {
    return this.#turns.underWay;
  }

  /** Calls not let through yet, and not given up. */
  get waiting(): number {
    return this.#turns.waiting;
  }

  /**
   * Does the work when its turn comes.
   *
   * @throws what the work throws; the signal's reason when it is aborted before; a ToolNodeError when too many wait.
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal | undefined, place: ToolPlace): Promise<T> {
    signal?.throwIfAborted();
    const { isFull, waiting } = this.#turns;
    if (isFull && waiting >= this.#mostWaiting) throw tooMany(place);
    return this.#turns.do(work, signal);
  }
}

function tooMany(place: ToolPlace): ToolNodeError {
  const remedy = "call again when some of them are done";
  return new ToolNodeError(`${subjectOf(place)} has too many calls waiting for it: ${remedy}.`, {
    code: "E_TOOL_RATE_LIMIT",
    category: "non_retryable",
    neverSent: true,
  });
}
