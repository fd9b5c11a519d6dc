/**
 * Who follows channels in this process, and how they learn that there is something.
 * @module
 */
import { onAbort } from "../../core/abort.js";

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
