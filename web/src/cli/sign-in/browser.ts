/**
 * The browser of the person at the terminal: opens a URL in it, and listens for its return after a sign-in (RFC 8252 §7.3).
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { childEnvironment } from "../../mcp/stdio/server-process.js";
import { cannotListen, Exit } from "../exit.js";

/** The programs that open a URL, by platform. None is a shell, which might execute parts of the URL. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Whether the person is likely to see a browser that we open. */
export function hasBrowser(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  const isThere = (name: string): boolean => (env[name] ?? "") !== "";
  if (isThere("CI") || isThere("SSH_CONNECTION")) return false;
  return platform === "darwin" || platform === "win32" || isThere("DISPLAY") || isThere("WAYLAND_DISPLAY");
}

/** Opens an http(s) URL. Ignores failure, since the URL is printed as well. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): void {
  const [program, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, url], { stdio: "ignore", detached: true, env: childEnvironment(env) });
  child.on("error", () => undefined);
  child.unref();
}

const PATH = "/callback";
const HOST = "127.0.0.1";

/** Takes the URL that the browser returned with. Throws if it is an error; `unknown` if no sign-in waits for it. */
type TakeAnswer = (answer: URL) => Promise<"taken" | "unknown">;

/** Listens on this machine for the browser's return. */
export class CallbackListener implements AsyncDisposable {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Listens on `port`, or any free one for 0. Throws CommandError 69 if the port is taken. */
  static async open(port: number, take: TakeAnswer): Promise<CallbackListener> {
    const server = createServer({ maxHeaderSize: 32 * 1024, requestTimeout: 10_000 });
    server.on("request", (request, response) => void answer(request, response, server, take));
    try {
      server.listen(port, HOST);
      await once(server, "listening");
    } catch (error) {
      throw cannotListen(Exit.unavailable, `http://${HOST}:${port}`, "--port N", error);
    }
    return new CallbackListener(server);
  }

  /** The URL that the provider sends the browser to. */
  get redirectUri(): string {
    return `http://${HOST}:${getPort(this.#server)}${PATH}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    // The last page may still be on its way.
    this.#server.closeIdleConnections();
    setTimeout(() => this.#server.closeAllConnections(), 1000).unref();
    await closed;
  }
}

function getPort(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function answer(
  { url = "", method, headers }: IncomingMessage,
  response: ServerResponse,
  server: Server,
  take: TakeAnswer,
): Promise<void> {
  const own = `${HOST}:${getPort(server)}`;
  const asked = new URL(url, `http://${own}`);
  // Refuses pages of other sites whose DNS name resolves to this machine.
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
const UNKNOWN: Page = { title: "Nothing is waiting for this answer", text: "Start again in the terminal." };
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
