/**
 * What runs at the server wait for: a person is asked here, or comes back from a provider there.
 * @module
 */
import { serverOf } from "../chat/displays.js";
import type { Pauses } from "../pauses.js";
import type { ServedEvent } from "./events.js";

/** What a run waits for, as the server says it. */
interface Paused {
  readonly tool: string;
  readonly reason: Parameters<ReturnType<Pauses["for"]>>[0];
  readonly payload: Readonly<Record<string, unknown>>;
}

interface Asked {
  /** Who is asked for consent; undefined in other questions. */
  readonly provider: unknown;
  readonly over: AbortController;
  isGiven: boolean | undefined;
}

/** All that is asked at the moment. */
export class Questions {
  readonly #pauses: Pauses;
  readonly #asked = new Set<Asked>();

  constructor(pauses: Pauses) {
    this.#pauses = pauses;
  }

  /** The answer of the person to what a run waits for; null where they decline. Throws the signal's reason. */
  async ask(event: ServedEvent, question: string, signal: AbortSignal): Promise<unknown> {
    const { tool, reason, payload } = event as unknown as Paused;
    const asked: Asked = { provider: payload["provider"], over: new AbortController(), isGiven: undefined };
    const either = AbortSignal.any([signal, asked.over.signal]);
    this.#asked.add(asked);
    try {
      const answer = await this.#pauses.for(serverOf(tool), either, question)(reason, payload);
      // A page that was opened has no answer of its own.
      return answer === undefined ? true : answer;
    } catch (error) {
      if (asked.isGiven === undefined) throw error;
      return asked.isGiven ? true : null;
    } finally {
      this.#asked.delete(asked);
    }
  }

  /** A person came back from a provider: what waits for that is answered. */
  consented(provider: string, isGiven: boolean): void {
    for (const asked of this.#asked) {
      if (asked.provider !== provider) continue;
      asked.isGiven = isGiven;
      asked.over.abort(new DOMException("The provider was answered.", "AbortError"));
    }
  }
}
