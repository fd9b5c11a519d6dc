/**
 * One connection on which a server tells what happens.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { onAbort, untilLate } from "../../core/abort.js";
import { connected, ended, type Client } from "../../redis/connection.js";
import { NoAnswer } from "../../redis/failures.js";

/** What a subscriber is made of. */
interface SubscriberParts {
  readonly url: string;
  /** Milliseconds that connecting may take. */
  readonly timeout: number;
  /** What it listens to. */
  readonly channel: string;
  /** Told each message. Must not throw. */
  readonly onMessage: (message: string) => void;
  /** Told when it listens: what was told before may have been missed. Must not throw. */
  readonly onListening: () => void;
}

/** Milliseconds before connecting is tried again: at first, and at most. */
const PAUSE = 100;
const LONGEST_PAUSE = 5000;

/** Listens from when it is opened until it is closed, with a new connection when one is gone. Keeps no process alive. */
export class Subscriber {
  readonly #parts: SubscriberParts;
  readonly #over = new AbortController();
  #client: Client | undefined;
  #trying: Promise<void> | undefined;
  #heard = true;

  constructor(parts: SubscriberParts) {
    this.#parts = parts;
  }

  /** Sees to it that there is a connection, now or soon. */
  open(): void {
    if (this.#client?.isReady === true || this.#over.signal.aborted) return;
    this.#drop(this.#client);
    this.#trying ??= this.#listen().finally(() => (this.#trying = undefined));
  }

  /** Replaces a connection on which nothing was heard since this was called before, though something was said. */
  check(): void {
    if (!this.#heard) this.#drop(this.#client);
    this.#heard = false;
    this.open();
  }

  /** Ends the connection, and what is done for one. */
  async close(): Promise<void> {
    this.#over.abort();
    this.#drop(this.#client);
    await this.#trying;
  }

  async #listen(): Promise<void> {
    const { signal } = this.#over;
    for (let pause = PAUSE; !signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        const client = await this.#subscribed();
        if (this.#isTaken(client)) return;
      } catch {
        // Followers look for themselves meanwhile, at times.
      }
      await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Whether it is of use, or nothing is any more. */
  #isTaken(client: Client): boolean {
    const isClosed = this.#over.signal.aborted;
    if (isClosed) ended(client);
    if (isClosed || !client.isReady) return isClosed;
    this.#client = client;
    this.#heard = true;
    this.#parts.onListening();
    return true;
  }

  async #subscribed(): Promise<Client> {
    const { url, timeout, channel, onMessage } = this.#parts;
    let mine: Client | undefined;
    const client = (mine = await connected(url, timeout, () => this.#gone(mine)));
    const heard = (message: string): void => {
      this.#heard = true;
      if (message !== "") onMessage(message);
    };
    try {
      const late = (): Error => new NoAnswer(timeout / 1000);
      await untilLate(() => client.subscribe(channel, heard), { most: timeout, late, signal: undefined });
      return client;
    } catch (error) {
      ended(client);
      throw error;
    }
  }

  /** Of one that is not listened to yet, whoever waits for it is told otherwise. */
  #gone(client: Client | undefined): void {
    if (client === undefined || client !== this.#client) return;
    this.#drop(client);
    this.open();
  }

  #drop(client: Client | undefined): void {
    if (client === undefined) return;
    if (client === this.#client) this.#client = undefined;
    ended(client);
  }
}

/** Somebody who follows a channel. */
export class Follower {
  /** The newest event that was there when it looked last; empty where there was none. */
  seen = "";
  #isDue = true;
  #wake: (() => void) | undefined;

  /** There may be something. */
  wake(): void {
    this.#isDue = true;
    this.#wake?.();
  }

  /** From now on whatever comes is new. */
  look(): void {
    this.#isDue = false;
  }

  /** Until there may be something new since it looked, or the signal is aborted. */
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

/** Followers by the hashes of their channels. */
export class Followers {
  readonly #channels = new Map<string, Set<Follower>>();

  /** Channels that are followed. */
  get channels(): readonly string[] {
    return [...this.#channels.keys()];
  }

  /** Whether anybody follows. */
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

  /** Something happened in a channel. */
  wake(channel: string): void {
    for (const follower of this.#channels.get(channel) ?? []) follower.wake();
  }

  /** Something may have happened anywhere. */
  wakeAll(): void {
    for (const channel of this.#channels.keys()) this.wake(channel);
  }

  /** What is the newest of a channel: whoever has not seen it is told. */
  compare(channel: string, newest: string): void {
    for (const follower of this.#channels.get(channel) ?? []) if (follower.seen !== newest) follower.wake();
  }
}
