/**
 * A run that this process has.
 * @module
 */
import type { CallPlace } from "../../planner/event.js";
import type { ServedSession } from "../sessions/session.js";
import type { RunPlace } from "./run-place.js";

/** Why it is stopped: a person gave it up, its session is over, or the server closes and others may go on with it. */
export type Stop = "given up" | "session over" | "closing";

/** Calls of one run that can be given up by name: more are not remembered. */
const MAX_CALLS = 10_000;

/** What gives up the run, and each of its calls. */
export class LiveRun {
  readonly session: ServedSession;
  readonly place: RunPlace;
  /** The id of its first event, empty where none was told; rejects with why it did not begin. */
  readonly begun: Promise<string>;
  /** Settles when nothing more is done for it here. Does not reject. */
  done: Promise<void> = Promise.resolve();
  /** Undefined where nobody stopped it. */
  why: Stop | undefined;
  hasBegun = false;
  readonly #controller = new AbortController();
  readonly #calls = new Map<string, AbortController>();
  #resolve: (id: string) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(session: ServedSession, place: RunPlace) {
    this.session = session;
    this.place = place;
    this.begun = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Those who take over a run may not wait for it.
    this.begun.catch(() => undefined);
  }

  /** Gives up the run. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What gives up one call, which may have been given up before it begins. */
  callSignal({ step, call }: CallPlace): AbortSignal | undefined {
    return this.#call(`${step} ${call}`)?.signal;
  }

  /** Gives up the run. */
  stop(why: Stop): void {
    this.why ??= why;
    this.#controller.abort(new DOMException("The run is given up.", "AbortError"));
  }

  /** Gives up one call: `{step} {id}`. */
  stopCall(call: string): void {
    this.#call(call)?.abort(new DOMException("The call is given up.", "AbortError"));
  }

  /** Says how it began. Only what is said first counts, of this and `failsWith`. */
  beginsWith(id: Promise<string>): void {
    id.then(this.#resolve, this.#reject);
  }

  /** Says why it did not begin. */
  failsWith(error: unknown): void {
    this.#reject(error);
  }

  #call(key: string): AbortController | undefined {
    const known = this.#calls.get(key);
    if (known !== undefined || this.#calls.size >= MAX_CALLS) return known;
    const controller = new AbortController();
    this.#calls.set(key, controller);
    return controller;
  }
}
