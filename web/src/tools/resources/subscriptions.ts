/**
 * Who wants to know of which resources' changes, in one session.
 * @module
 */
import { Turns } from "../auth/turns.js";
import { ToolClientError } from "../errors.js";
import { MAX_SUBSCRIPTIONS } from "./limits.js";
import { untilAborted } from "../../core/abort.js";

/** Counts by URI: the source is asked when the first one comes and when the last one goes. */
export class Subscriptions {
  readonly #counts = new Map<string, number>();
  /** What the source is being asked for: it may tell of it before it answers. */
  readonly #asking = new Set<string>();
  /** For each URI one step follows the other. */
  readonly #turns = new Turns();

  /** URIs that somebody wants to know of. */
  get uris(): readonly string[] {
    return [...this.#counts.keys()];
  }

  /** Whether somebody wants to know of it. */
  has(uri: string): boolean {
    return this.#counts.has(uri) || this.#asking.has(uri);
  }

  /** One more; `subscribe` is called for the first. Throws what it throws: then nothing was counted. */
  add(uri: string, signal: AbortSignal, subscribe: () => Promise<void>): Promise<void> {
    return this.#step(uri, signal, async () => {
      const count = this.#counts.get(uri) ?? 0;
      if (count === 0) {
        if (this.#counts.size >= MAX_SUBSCRIPTIONS) throw tooMany();
        this.#asking.add(uri);
        // Of one URI no two steps are under way at a time.
        await subscribe().finally(() => this.#asking.delete(uri));
      }
      this.#counts.set(uri, count + 1);
    });
  }

  /** One less; `unsubscribe` is called for the last, which is gone whatever comes of it. Without one, nothing is done. */
  remove(uri: string, signal: AbortSignal, unsubscribe: () => Promise<void>): Promise<void> {
    return this.#step(uri, signal, async () => {
      const count = this.#counts.get(uri) ?? 0;
      if (count > 1) this.#counts.set(uri, count - 1);
      if (count !== 1) return;
      this.#counts.delete(uri);
      await unsubscribe();
    });
  }

  #step(uri: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const step = this.#turns.take(uri, async () => {
      signal.throwIfAborted();
      await work();
    });
    return untilAborted(step, signal);
  }
}

function tooMany(): ToolClientError {
  return new ToolClientError(
    `This session asks for changes of ${MAX_SUBSCRIPTIONS} resources already: unsubscribe from some of them.`,
  );
}
