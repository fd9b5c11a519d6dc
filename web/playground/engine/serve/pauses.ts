/**
 * The pauses of runs at the page's server: answered here, or by returning from a provider.
 * @module
 */
import { serverOf } from "../displays.js";
import type { Pauses } from "../pauses.js";
import type { ServedEvent } from "./events.js";

/** The server's event for a pause. */
interface Paused {
  readonly tool: string;
  readonly reason: Parameters<ReturnType<Pauses["for"]>>[0];
  readonly payload: Readonly<Record<string, unknown>>;
}

interface OpenPause {
  /** The provider of a sign-in; undefined for other pauses. */
  readonly provider: unknown;
  readonly over: AbortController;
  isGiven: boolean | undefined;
}

/** The open pauses. */
export class ServedPauses {
  readonly #pauses: Pauses;
  readonly #asked = new Set<OpenPause>();

  constructor(pauses: Pauses) {
    this.#pauses = pauses;
  }

  /** The user's answer to a pause; null declines. Throws the signal's reason. */
  async ask(event: ServedEvent, question: string, signal: AbortSignal): Promise<unknown> {
    const { tool, reason, payload } = event as unknown as Paused;
    const asked: OpenPause = { provider: payload["provider"], over: new AbortController(), isGiven: undefined };
    const either = AbortSignal.any([signal, asked.over.signal]);
    this.#asked.add(asked);
    try {
      const answer = await this.#pauses.for(serverOf(tool), either, question)(reason, payload);
      // Opening a page is answered without a value.
      return answer === undefined ? true : answer;
    } catch (error) {
      if (asked.isGiven === undefined) throw error;
      return asked.isGiven ? true : null;
    } finally {
      this.#asked.delete(asked);
    }
  }

  /** Answers the pauses that wait for a provider the user returned from. */
  consented(provider: string, isGiven: boolean): void {
    for (const asked of this.#asked) {
      if (asked.provider !== provider) continue;
      asked.isGiven = isGiven;
      asked.over.abort(new DOMException("The provider was answered.", "AbortError"));
    }
  }
}
