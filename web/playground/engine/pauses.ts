/**
 * Calls that wait for a person.
 * @module
 */
import type { PauseReason } from "mcp-sluice/tools";
import type { ShownPause } from "./contract.js";

interface Waiting {
  /** What a provider's answer names it by; undefined for other questions. */
  readonly state: string | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Everything that is asked at the moment. */
export class Pauses {
  readonly #waiting = new Map<string, Waiting>();
  readonly #onPause: (pause: ShownPause) => void;
  readonly #onEnd: (id: string) => void;

  constructor(onPause: (pause: ShownPause) => void, onEnd: (id: string) => void) {
    this.#onPause = onPause;
    this.#onEnd = onEnd;
  }

  /** What a call's context has as `pause`, until its signal; `question` is that of the chat which it is for. */
  for(
    server: string,
    signal: AbortSignal,
    question?: string,
  ): (reason: PauseReason, payload: Readonly<Record<string, unknown>>) => Promise<unknown> {
    return (reason, payload) => {
      const id = crypto.randomUUID();
      return new Promise<unknown>((resolve, reject) => {
        const abort = (): void => this.#end(id)?.reject(signal.reason);
        signal.addEventListener("abort", abort, { once: true });
        this.#waiting.set(id, { state: stateIn(payload["auth_url"]), resolve, reject });
        this.#onPause({ id, server, reason, payload, ...(question !== undefined && { question }) });
      });
    };
  }

  /** Gives a person's answer to the call that asked. */
  answer(id: string, value: unknown): void {
    this.#end(id)?.resolve(value);
  }

  /** Ends the pause that asked for a provider's consent, with what came of it. */
  consented(url: URL, error?: unknown): void {
    const state = url.searchParams.get("state");
    for (const [id, waiting] of this.#waiting) {
      if (state === null || waiting.state !== state) continue;
      this.#end(id);
      if (error === undefined) waiting.resolve(undefined);
      else waiting.reject(error);
    }
  }

  #end(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (this.#waiting.delete(id)) this.#onEnd(id);
    return waiting;
  }
}

function stateIn(authUrl: unknown): string | undefined {
  if (typeof authUrl !== "string" || !URL.canParse(authUrl)) return undefined;
  return new URL(authUrl).searchParams.get("state") ?? undefined;
}
