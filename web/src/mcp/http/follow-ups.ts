/**
 * What is sent to a client while its calls are silent, beside a response that has not come or has not ended.
 * @module
 */
import type { FollowUp } from "../call-limit.js";

/** What follows the calls of one exchange, in the order in which it comes. */
export class FollowUps {
  readonly #waiting: FollowUp[] = [];
  /** Calls that were not answered in the server's place. */
  #left: number;
  #next: Promise<FollowUp> | undefined;
  #wake: ((first: FollowUp) => void) | undefined;

  /** @param requests how many requests the exchange has: there may be others beside the calls. */
  constructor(calls: readonly AsyncIterable<FollowUp>[], requests: number) {
    this.#left = requests;
    for (const call of calls) void this.#read(call);
  }

  /** Whether every request was answered in the server's place: its response is of no use any more. */
  get isSettled(): boolean {
    return this.#left === 0;
  }

  /** The next one, which stays it until it is taken. Never resolves if there is none. */
  get next(): Promise<FollowUp> {
    return (this.#next ??= new Promise((resolve) => {
      const [first] = this.#waiting;
      if (first === undefined) this.#wake = resolve;
      else resolve(first);
    }));
  }

  /** Takes the next one, which is there. */
  take(): FollowUp {
    this.#next = undefined;
    const taken = this.#waiting.shift() as FollowUp;
    if (taken.toServer !== undefined) this.#left -= 1;
    return taken;
  }

  async #read(call: AsyncIterable<FollowUp>): Promise<void> {
    for await (const each of call) {
      this.#waiting.push(each);
      this.#wake?.(this.#waiting[0] as FollowUp);
      this.#wake = undefined;
    }
  }
}

/** Waits for `work` or for what is to be sent before it, whichever comes first: undefined is the latter. */
export function waitFor<T extends object>(work: Promise<T>, followUps: FollowUps | undefined): Promise<T | undefined> {
  return followUps === undefined ? work : Promise.race([work, followUps.next.then(() => undefined)]);
}
