/**
 * Work under way, shared by all who ask for the same meanwhile.
 * @module
 */
import { untilAborted } from "../../core/abort.js";

interface Flight<T> {
  readonly outcome: Promise<T>;
  readonly over: AbortController;
  waiting: number;
}

/** Work by key. */
export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /**
   * Joins the work under way for a key, or starts it. The work's own signal is aborted when the last of those who wait
   * has given up, so that none of them ends it for the others.
   *
   * @throws the signal's reason, or what the work throws.
   */
  async join(key: string, signal: AbortSignal | undefined, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#begin(key, start);
    flight.waiting += 1;
    try {
      return await untilAborted(flight.outcome, signal);
    } finally {
      flight.waiting -= 1;
      if (flight.waiting === 0) this.#end(key, flight, signal);
    }
  }

  /** Nothing under way is joined any more; whoever waits gets what it comes to. */
  close(): void {
    this.#flights.clear();
  }

  #begin(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const over = new AbortController();
    const flight: Flight<T> = { outcome: start(over.signal), over, waiting: 0 };
    this.#flights.set(key, flight);
    return flight;
  }

  #end(key: string, flight: Flight<T>, signal: AbortSignal | undefined): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
    if (signal?.aborted === true) flight.over.abort(signal.reason);
  }
}
