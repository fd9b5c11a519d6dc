/**
 * Events that are kept for clients that come back.
 * @module
 */

interface ReplayBufferDeps<E> {
  /** Most events, and most bytes of them: beyond either the oldest are dropped. The largest event must fit. */
  readonly maxEvents: number;
  readonly maxBytes: number;
  /** Called with each event that was dropped. */
  readonly onDrop: (event: E) => void;
}

/** Events, oldest first. They are numbered from 0 on, dropped ones included. */
export class ReplayBuffer<E extends { readonly bytes: number }> implements Iterable<E> {
  readonly #deps: ReplayBufferDeps<E>;
  #events: E[] = [];
  #bytes = 0;
  #start = 0;

  constructor(deps: ReplayBufferDeps<E>) {
    this.#deps = deps;
  }

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  /** Bytes of all events. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of the first event that is kept. */
  get start(): number {
    return this.#start;
  }

  /** The number of the next event. */
  get end(): number {
    return this.#start + this.#events.length;
  }

  append(event: E): void {
    this.#events.push(event);
    this.#bytes += event.bytes;
    while (this.#events.length > this.#deps.maxEvents || this.#bytes > this.#deps.maxBytes) this.drop();
  }

  /** The event of a number, if it is kept. */
  at(number: number): E | undefined {
    return this.#events[number - this.#start];
  }

  /** Drops the oldest event, if there is one. */
  drop(): void {
    const event = this.#events.shift();
    if (event === undefined) return;
    this.#start += 1;
    this.#bytes -= event.bytes;
    this.#deps.onDrop(event);
  }

  /** Removes unwanted events. Those behind them get lower numbers. */
  remove(isUnwanted: (event: E) => boolean): void {
    this.#events = this.#events.filter((event) => !isUnwanted(event));
    this.#bytes = this.#events.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  [Symbol.iterator](): Iterator<E> {
    return this.#events.values();
  }
}
