/**
 * Lists of a source, kept until it says that they changed, or for a while.
 * @module
 */
import { scopeKey } from "../../artifacts/scope.js";
import type { Clock } from "../../artifacts/store.js";
import type { Reading } from "./cache.js";
import { Flights } from "./flights.js";
import { LIST_TTL, MAX_ALL_KEPT_CHARS, MAX_KEPT } from "./limits.js";
import type { Listing } from "./listed.js";
import { Shelf } from "./shelf.js";

/** One kind of list, by scope. */
export class ListCache<T> {
  readonly #lists: Shelf<Listing<T>>;
  readonly #flights = new Flights<Listing<T>>();
  /** Grows with every change: what was fetched before one is not kept after it. */
  #changes = 0;

  constructor(clock: Clock = Date.now) {
    this.#lists = new Shelf({ count: MAX_KEPT, size: MAX_ALL_KEPT_CHARS }, clock);
  }

  /** The list that is kept, else the one on its way, else what `fetch` gives; throws what `ResourceCache.read` does. */
  async read({ scope, signal }: Reading, fetch: (signal: AbortSignal) => Promise<Listing<T>>): Promise<Listing<T>> {
    const key = scopeKey(scope);
    return this.#lists.get(key) ?? this.#flights.join(key, signal, (over) => this.#fetched(key, fetch, over));
  }

  /** Nothing that is kept, or on its way, is given to whoever asks from now on. */
  clear(): void {
    this.#changes += 1;
    this.#lists.clear();
    this.#flights.close();
  }

  async #fetched(
    key: string,
    fetch: (signal: AbortSignal) => Promise<Listing<T>>,
    signal: AbortSignal,
  ): Promise<Listing<T>> {
    const changes = this.#changes;
    const listing = await fetch(signal);
    if (changes === this.#changes) this.#lists.set(key, listing, { size: listing.chars, ttl: LIST_TTL });
    return listing;
  }
}
