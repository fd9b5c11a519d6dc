/**
 * Work of which only the last asking counts.
 * @module
 */

/** Does work for one input at a time; of those that come meanwhile, for the last one. */
export class Latest<T, R> {
  readonly #work: (input: T) => Promise<R>;
  #waiting: { readonly input: T; readonly done: Promise<R> } | undefined;
  #running: Promise<unknown> | undefined;

  constructor(work: (input: T) => Promise<R>) {
    this.#work = work;
  }

  /** What came of this input, or of a later one that took its place. */
  run(input: T): Promise<R> {
    if (this.#waiting !== undefined) {
      this.#waiting = { ...this.#waiting, input };
      return this.#waiting.done;
    }
    const before = this.#running ?? Promise.resolve();
    const done = before.then(() => this.#next(input));
    this.#waiting = { input, done };
    // Who comes next begins after this one, whatever came of it.
    this.#running = done.catch(() => undefined);
    return done;
  }

  #next(first: T): Promise<R> {
    const input = this.#waiting === undefined ? first : this.#waiting.input;
    this.#waiting = undefined;
    return this.#work(input);
  }
}
