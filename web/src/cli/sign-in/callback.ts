/**
 * Where a browser comes back to after a person has signed in: an address of this machine, for one answer (RFC 8252 §7.3).
 * @module
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CommandError, Exit, systemReason } from "../exit.js";

const PATH = "/callback";
const HOST = "127.0.0.1";

/** Takes one answer. Throws what is wrong with it; `undefined` where it is not the one that is waited for. */
export type TakeAnswer = (answer: URL) => Promise<"taken" | "unknown">;

/** A listener on this machine. */
export class CallbackListener implements AsyncDisposable {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Listens on `port`, any free one where it is 0. Throws CommandError 69 where that is taken. */
  static async open(port: number, take: TakeAnswer): Promise<CallbackListener> {
    const server = createServer({ maxHeaderSize: 32 * 1024, requestTimeout: 10_000 });
    server.on("request", (request, response) => void answer(request, response, server, take));
    try {
      server.listen(port, HOST);
      await once(server, "listening");
    } catch (error) {
      throw new CommandError(Exit.unavailable, `cannot listen on ${HOST}:${port}: ${systemReason(error)}`);
    }
    return new CallbackListener(server);
  }

  /** Where the provider sends the browser. */
  get redirectUri(): string {
    return `http://${HOST}:${portOf(this.#server)}${PATH}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    // The page that was shown last is sent to its end.
    this.#server.closeIdleConnections();
    setTimeout(() => this.#server.closeAllConnections(), 1000).unref();
    await closed;
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function answer(
  { url = "", method, headers }: IncomingMessage,
  response: ServerResponse,
  server: Server,
  take: TakeAnswer,
): Promise<void> {
  const own = `${HOST}:${portOf(server)}`;
  const asked = new URL(url, `http://${own}`);
  // A page elsewhere whose name leads here would come with its own name.
  if (method !== "GET" || headers.host !== own || asked.pathname !== PATH) return show(response, 404, NOTHING);
  try {
    const taken = await take(asked);
    show(response, taken === "taken" ? 200 : 400, taken === "taken" ? SIGNED_IN : UNKNOWN);
  } catch {
    show(response, 400, FAILED);
  }
}

interface Page {
  readonly title: string;
  readonly text: string;
}

const SIGNED_IN: Page = { title: "You are signed in", text: "You can close this window and go back to the terminal." };
const FAILED: Page = { title: "You are not signed in", text: "The terminal says why. You can close this window." };
const UNKNOWN: Page = { title: "Nobody waits for this answer", text: "Begin again in the terminal." };
const NOTHING: Page = { title: "There is nothing here", text: "Follow the link in the terminal." };

const STYLE =
  "body{font:1.125rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark}";

function show(response: ServerResponse, status: number, { title, text }: Page): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  response.end(
    `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>${title} – Sluice</title><style>${STYLE}</style><main><h1>${title}</h1><p>${text}</p></main></html>\n`,
  );
}
