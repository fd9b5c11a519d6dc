/**
 * A connection that receives messages, and the followers that it wakes.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { onAbort, untilLate } from "../../core/abort.js";
import { connectClient, endConnection, type Client } from "../../redis/connection.js";
import { NoAnswer } from "../../redis/failures.js";

interface SubscriberParts {
  readonly url: string;
  /** Milliseconds for connecting. */
  readonly timeout: number;
  /** The message channel. */
  readonly channel: string;
  /** Receives each message. Must not throw. */
  readonly onMessage: (message: string) => void;
  /** Called when it listens. Earlier messages may have been missed. Must not throw. */
  readonly onListening: () => void;
}

/** Milliseconds between two attempts to connect: at first, and at most. */
const PAUSE = 100;
const LONGEST_PAUSE = 5000;

/** Listens from opening to closing, and reconnects. Keeps no process alive. */
export class Subscriber {
  readonly #parts: SubscriberParts;
  readonly #over = new AbortController();
  #client: Client | undefined;
  #trying: Promise<void> | undefined;
  #heard = true;

  constructor(parts: SubscriberParts) {
    this.#parts = parts;
  }

  /** Makes sure that there is a connection, now or soon. */
  open(): void {
    if (this.#client?.isReady === true || this.#over.signal.aborted) return;
    this.#drop(this.#client);
    this.#trying ??= this.#listen().finally(() => (this.#trying = undefined));
  }

  /** Replaces a connection that received nothing since the last call, although something was sent. */
  check(): void {
    if (!this.#heard) this.#drop(this.#client);
    this.#heard = false;
    this.open();
  }

  /** Ends the connection, and attempts to connect. */
  async close(): Promise<void> {
    this.#over.abort();
    this.#drop(this.#client);
    await this.#trying;
  }

  async #listen(): Promise<void> {
    const { signal } = this.#over;
    for (let pause = PAUSE; !signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        const client = await this.#subscribe();
        if (this.#isTaken(client)) return;
      } catch {
        // Followers look by themselves meanwhile.
      }
      await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Takes over a connection. False if it is gone already and listening goes on. */
  #isTaken(client: Client): boolean {
    const isClosed = this.#over.signal.aborted;
    if (isClosed) endConnection(client);
    if (isClosed || !client.isReady) return isClosed;
    this.#client = client;
    this.#heard = true;
    this.#parts.onListening();
    return true;
  }

  async #subscribe(): Promise<Client> {
    const { url, timeout, channel, onMessage } = this.#parts;
    let mine: Client | undefined;
    const client = (mine = await connectClient(url, timeout, () => this.#onGone(mine)));
    const hearMessage = (message: string): void => {
      this.#heard = true;
      if (message !== "") onMessage(message);
    };
    try {
      const late = (): Error => new NoAnswer(timeout / 1000);
      await untilLate(() => client.subscribe(channel, hearMessage), { most: timeout, late, signal: undefined });
      return client;
    } catch (error) {
      endConnection(client);
      throw error;
    }
  }

  /** A connection that is not in use yet fails where it is awaited. */
  #onGone(client: Client | undefined): void {
    if (client === undefined || client !== this.#client) return;
    this.#drop(client);
    this.open();
  }

  #drop(client: Client | undefined): void {
    if (client === undefined) return;
    if (client === this.#client) this.#client = undefined;
    endConnection(client);
  }
}

/** A follower of a channel. */
export class Follower {
  /** The newest event at its last look, or empty. */
  seen = "";
  #isDue = true;
  #wake: (() => void) | undefined;

  /** There may be new events. */
  wake(): void {
    this.#isDue = true;
    this.#wake?.();
  }

  /** Marks what comes from now on as new. */
  look(): void {
    this.#isDue = false;
  }

  /** Waits for new events since the last look, or for the signal. */
  async due(signal: AbortSignal): Promise<void> {
    if (this.#isDue || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const forget = onAbort(signal, resolve);
      this.#wake = () => {
        forget();
        resolve();
      };
    });
    this.#wake = undefined;
  }
}

/** All followers, by the hashes of their channels. */
export class Followers {
  readonly #channels = new Map<string, Set<Follower>>();

  /** The followed channels. */
  get channels(): readonly string[] {
    return [...this.#channels.keys()];
  }

  /** Whether there are no followers. */
  get isEmpty(): boolean {
    return this.#channels.size === 0;
  }

  add(channel: string): Follower {
    const follower = new Follower();
    const followers = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, followers.add(follower));
    return follower;
  }

  remove(channel: string, follower: Follower): void {
    const followers = this.#channels.get(channel);
    followers?.delete(follower);
    if (followers?.size === 0) this.#channels.delete(channel);
  }

  /** Wakes the followers of a channel. */
  wake(channel: string): void {
    for (const follower of this.#channels.get(channel) ?? []) follower.wake();
  }

  /** Wakes all followers. */
  wakeAll(): void {
    for (const channel of this.#channels.keys()) this.wake(channel);
  }

  /** Wakes the followers of a channel that have not seen its newest event. */
  compare(channel: string, newest: string): void {
    for (const follower of this.#channels.get(channel) ?? []) if (follower.seen !== newest) follower.wake();
  }
}
