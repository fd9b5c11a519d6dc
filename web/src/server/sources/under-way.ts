/**
 * What is under way for sessions in this process.
 * @module
 */
import { onAbort } from "../../core/abort.js";
import { sessionChannel } from "../events/announcer.js";
import type { EventLog } from "../events/event-log.js";

/** Work that ends with its session: what it would store later nobody would clean up. */
export class UnderWay {
  readonly #sessions = new Map<string, Set<AbortController>>();
  readonly #events: EventLog;
  readonly #report: (error: unknown) => void;

  /** `report` must not throw. */
  constructor(events: EventLog, report: (error: unknown) => void) {
    this.#events = events;
    this.#report = report;
  }

  /** Works with a signal that is aborted when one of these is, or the session is ended by this process. */
  async within<T>(
    session: string,
    signals: readonly AbortSignal[],
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const first = new AbortController();
    const own = this.#sessions.get(session) ?? new Set();
    this.#sessions.set(session, own.add(first));
    const forgets = signals.map((signal) => {
      if (signal.aborted) first.abort(signal.reason);
      return onAbort(signal, () => first.abort(signal.reason));
    });
    try {
      return await work(first.signal);
    } finally {
      for (const forget of forgets) forget();
      own.delete(first);
      if (own.size === 0 && this.#sessions.get(session) === own) this.#sessions.delete(session);
    }
  }

  /** The same for work that may take long: its signal is aborted too when another process ends the session. */
  async lasting<T>(
    session: string,
    signals: readonly AbortSignal[],
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const done = new AbortController();
    try {
      return await this.within(session, signals, (signal) => {
        void this.#followed(session, AbortSignal.any([signal, done.signal]));
        return work(signal);
      });
    } finally {
      done.abort();
    }
  }

  /** Gives up what is under way for a session. */
  end(session: string): void {
    const reason = new DOMException("The session is over.", "AbortError");
    for (const each of this.#sessions.get(session) ?? []) each.abort(reason);
  }

  /** A session's channel ends with it. */
  async #followed(session: string, signal: AbortSignal): Promise<void> {
    const after = `${Date.now()}-0`;
    try {
      const told = this.#events.follow(sessionChannel(session), { after, signal })[Symbol.asyncIterator]();
      while ((await told.next()).done !== true);
      if (!signal.aborted) this.end(session);
    } catch (error) {
      if (!signal.aborted) this.#report(error);
    }
  }
}
