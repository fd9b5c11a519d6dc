/**
 * Calls that wait for the user.
 * @module
 */
import type { PlannerPause } from "mcp-sluice/planner";
import type { ShownPause } from "./messages.js";

interface Waiting {
  /** The OAuth `state`; undefined for other pauses. */
  readonly state: string | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** The open pauses. */
export class Pauses {
  readonly #waiting = new Map<string, Waiting>();
  readonly #onPause: (pause: ShownPause) => void;
  readonly #onEnd: (id: string) => void;

  constructor(onPause: (pause: ShownPause) => void, onEnd: (id: string) => void) {
    this.#onPause = onPause;
    this.#onEnd = onEnd;
  }

  /** The `pause` function for the context of a call. `question` is the id of the chat turn. */
  for(
    server: string,
    signal: AbortSignal,
    question?: string,
  ): (reason: PlannerPause["reason"], payload: Readonly<Record<string, unknown>>) => Promise<unknown> {
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

  /** Answers a pause. */
  answer(id: string, value: unknown): void {
    this.#end(id)?.resolve(value);
  }

  /** Ends the pause of a sign-in, with its error if it failed. */
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
