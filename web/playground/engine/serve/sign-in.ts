/**
 * Sources of the server whose users have tokens of their own: a person gives access before the chat has their tools.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import type { Pauses } from "../pauses.js";
import { followed } from "./events.js";
import { errorIn, type Exchange } from "./exchange.js";

const LAST: ReadonlySet<string> = new Set(["connected", "failed"]);

/** What is asked meanwhile. */
interface Paused {
  readonly pause: string;
  readonly reason: Parameters<ReturnType<Pauses["for"]>>[0];
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Has the server connect a source; the person is asked for what that takes. Throws what the server says, and Away. */
export async function signIn(source: string, exchange: Exchange, pauses: Pauses): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const open = (): Promise<Response> =>
    exchange.ask(`sources/${encodeURIComponent(source)}/connection`, { method: "POST", body: {}, signal });
  try {
    for await (const event of followed({ open, signal, cursor: {}, last: LAST, tries: 1 })) {
      if (event.kind === "paused") void ask(event as unknown as Paused);
      if (event.kind !== "failed") continue;
      const { code = "E_TOOL_AUTH", message = "It was not connected: try again." } = errorIn(event);
      throw new SluiceError(code, message);
    }
  } finally {
    // Who came back from a provider is not asked any more.
    over.abort(new DOMException("It is over.", "AbortError"));
  }

  async function ask({ pause, reason, payload }: Paused): Promise<void> {
    try {
      const answer = await pauses.for(source, signal)(reason, payload);
      const body = { answer: answer === undefined ? true : answer };
      await exchange.ask(`pauses/${encodeURIComponent(pause)}`, { method: "POST", body });
    } catch {
      // It is over, or the server says of the call itself what became of it.
    }
  }
}
