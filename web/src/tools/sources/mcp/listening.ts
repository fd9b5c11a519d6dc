/**
 * A subscription that is kept up (MCP 2026-07-28, `subscriptions/listen`).
 * @module
 */
import type { McpSubscription, SubscriptionFilter } from "@modelcontextprotocol/client";
import { onAbort } from "../../../core/abort.js";

/** Opens a subscription; the signal ends it. */
export type Listen = (filter: SubscriptionFilter, signal: AbortSignal) => Promise<McpSubscription>;

/** Milliseconds before each attempt at listening again; behind the last one nobody listens any more. */
const DELAYS: readonly number[] = [500, 1000, 2000, 5000, 10_000, 30_000];

/** What is listened to. */
interface Current {
  readonly subscription: McpSubscription;
  readonly filter: SubscriptionFilter;
}

/** Listens to one filter at a time, and again when the server ends it. */
export class Listening {
  readonly #listen: Listen;
  readonly #onAgain: () => void;
  #current: Current | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** `onAgain` is called when it is listened to again, after a while in which nobody did. */
  constructor(listen: Listen, onAgain: () => void) {
    this.#listen = listen;
    this.#onAgain = onAgain;
  }

  /**
   * Listens to a filter in place of the one before, without a gap. `check` sees what the server agrees to; what it throws
   * leaves everything as it was.
   */
  async to(
    filter: SubscriptionFilter,
    signal: AbortSignal,
    check: (honored: SubscriptionFilter) => void = () => undefined,
  ): Promise<void> {
    const subscription = await this.#opened(filter, signal);
    try {
      check(subscription.honoredFilter);
    } catch (error) {
      await subscription.close();
      throw error;
    }
    if (this.#isClosed) return subscription.close();
    const before = this.#current;
    this.#follow(subscription, filter);
    await before?.subscription.close();
  }

  /** Listens to nothing. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    const before = this.#current;
    this.#current = undefined;
    await before?.subscription.close();
  }

  /** Listens to nothing, now and later. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.stop();
  }

  /** The signal is that of the request for it: what is open outlives it. */
  async #opened(filter: SubscriptionFilter, signal: AbortSignal): Promise<McpSubscription> {
    const opening = new AbortController();
    signal.throwIfAborted();
    const forget = onAbort(signal, () => opening.abort(signal.reason));
    try {
      return await this.#listen(filter, opening.signal);
    } finally {
      forget();
    }
  }

  #follow(subscription: McpSubscription, filter: SubscriptionFilter): void {
    clearTimeout(this.#timer);
    this.#current = { subscription, filter };
    void this.#watch(this.#current);
  }

  async #watch(current: Current): Promise<void> {
    const how = await current.subscription.closed;
    if (how !== "local" && this.#current === current) this.#wait(current, 0);
  }

  #wait(gone: Current, attempt: number): void {
    const delay = DELAYS[attempt];
    if (this.#isClosed || delay === undefined) return;
    this.#timer = setTimeout(() => void this.#again(gone, attempt), delay);
    // Nobody's process lives on for this.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  async #again(gone: Current, attempt: number): Promise<void> {
    let subscription: McpSubscription;
    try {
      subscription = await this.#listen(gone.filter, new AbortController().signal);
    } catch {
      if (this.#current === gone) this.#wait(gone, attempt + 1);
      return;
    }
    if (this.#isClosed || this.#current !== gone) {
      // Somebody listens to something else by now.
      await subscription.close();
      return;
    }
    this.#follow(subscription, gone.filter);
    this.#onAgain();
  }
}
