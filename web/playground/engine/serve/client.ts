/**
 * An HTTP client for the page's server, in the session whose cookie the browser holds.
 * @module
 */
import { SluiceError } from "mcp-sluice";

/** Options of a request. */
export interface RequestOptions {
  readonly method?: "GET" | "POST" | "DELETE";
  /** JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Milliseconds until a response has to start. */
const TIMEOUT_MS = 60_000;
/** Characters of a server's message. */
const MAX_SAID = 1000;

/** The server does not answer, or cannot at the moment. A retry may succeed. */
export class Unreachable extends SluiceError {
  constructor(message = AWAY, code: ConstructorParameters<typeof SluiceError>[0] = "E_TOOL_CONNECTION") {
    super(code, message);
  }
}

/** The path that starts sessions. */
export const SESSIONS = "sessions";

const AWAY = "This page's server does not answer: check that it is running, and try again.";
const OVER = "The session at this page's server has ended: start a new one.";

/** Sends requests and turns failed responses into errors. */
export class ServerClient {
  readonly #base: string;
  readonly #onOver: () => void;

  /** `base` ends with `/`; `onOver` is called when the session has ended. */
  constructor(base: string, onOver: () => void) {
    this.#base = base;
    this.#onOver = onOver;
  }

  /** The URL of a path. */
  at(path: string): string {
    return new URL(path, this.#base).href;
  }

  /** The response, once it has started. Throws Unreachable, SluiceError with the server's code, or the signal's reason. */
  async ask(path: string, asked: RequestOptions = {}): Promise<Response> {
    const response = await this.#send(path, asked);
    if (response.ok) return response;
    const error = await readRefusal(response);
    if (response.status !== 401) throw error;
    this.#onOver();
    // Starting a session reports the server's own reason.
    throw path === SESSIONS ? error : new SluiceError("E_SESSION", OVER);
  }

  /** The JSON of the response. Throws as `ask`. */
  async json<T>(path: string, asked: RequestOptions = {}): Promise<T> {
    const response = await this.ask(path, asked);
    try {
      return (await response.json()) as T;
    } catch {
      asked.signal?.throwIfAborted();
      throw new Unreachable();
    }
  }

  /** The response with any status. Throws Unreachable or the signal's reason. */
  async #send(path: string, { method = "GET", body, headers = {}, signal }: RequestOptions): Promise<Response> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), TIMEOUT_MS);
    try {
      return await fetch(this.at(path), {
        method,
        headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
        signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
        cache: "no-store",
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    } catch {
      signal?.throwIfAborted();
      throw new Unreachable();
    } finally {
      clearTimeout(timer);
    }
  }
}

async function readRefusal(response: Response): Promise<SluiceError> {
  const { code, message } = errorIn(await response.json().catch(() => undefined));
  const said = message?.slice(0, MAX_SAID) ?? `This page's server answers with status ${response.status}: try again.`;
  // These are temporary, unlike 500.
  if ([429, 502, 503, 504].includes(response.status)) return new Unreachable(said, code);
  return new SluiceError(code ?? "E_INTERNAL", said);
}

/** The error in a response or an event. */
export function errorIn(value: unknown): {
  readonly code?: ConstructorParameters<typeof SluiceError>[0];
  readonly message?: string;
} {
  const { error } = toObject(value);
  const { code, message } = toObject(error);
  return {
    ...(typeof code === "string" && { code: code as ConstructorParameters<typeof SluiceError>[0] }),
    ...(typeof message === "string" && { message }),
  };
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
