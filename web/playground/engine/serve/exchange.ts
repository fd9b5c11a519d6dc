/**
 * One server, asked over HTTP within the session whose cookie this browser has.
 * @module
 */
import { SluiceError } from "mcp-sluice";

/** What a request is, besides its path. */
export interface Asked {
  readonly method?: "GET" | "POST" | "DELETE";
  /** JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Milliseconds until an answer has to begin. */
const PATIENCE = 60_000;
/** Characters of a sentence that the server says. */
const MAX_SAID = 1000;

/** The server does not answer, or cannot at the moment: the same may come to something later. */
export class Away extends SluiceError {
  constructor(message = AWAY, code: ConstructorParameters<typeof SluiceError>[0] = "E_TOOL_CONNECTION") {
    super(code, message);
  }
}

/** Where sessions begin. */
export const BEGINNING = "sessions";

const AWAY = "This page's server does not answer: see that it runs, and try again.";
const OVER = "The session at this page's server is over: begin a new one.";

/** Asks, and makes errors of what is no answer. */
export class Exchange {
  readonly #base: string;
  readonly #onOver: () => void;

  /** `base` ends with `/`; `onOver` is told when there is no session any more. */
  constructor(base: string, onOver: () => void) {
    this.#base = base;
    this.#onOver = onOver;
  }

  /** The address of a path. */
  at(path: string): string {
    return new URL(path, this.#base).href;
  }

  /** The answer, once it has begun. Throws Away; SluiceError E_SESSION and what the server says; the signal's reason. */
  async ask(path: string, asked: Asked = {}): Promise<Response> {
    const response = await this.#sent(path, asked);
    if (response.ok) return response;
    const error = await refusalOf(response);
    if (response.status !== 401) throw error;
    this.#onOver();
    // Whoever begins one is told why not.
    throw path === BEGINNING ? error : new SluiceError("E_SESSION", OVER);
  }

  /** The answer's JSON. Throws as `ask`. */
  async json<T>(path: string, asked: Asked = {}): Promise<T> {
    const response = await this.ask(path, asked);
    try {
      return (await response.json()) as T;
    } catch {
      asked.signal?.throwIfAborted();
      throw new Away();
    }
  }

  /** The answer, whatever its status. Throws Away, the signal's reason. */
  async #sent(path: string, { method = "GET", body, headers = {}, signal }: Asked): Promise<Response> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), PATIENCE);
    try {
      return await fetch(this.at(path), {
        method,
        headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
        signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
        // What is there changes with every call.
        cache: "no-store",
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    } catch {
      signal?.throwIfAborted();
      throw new Away();
    } finally {
      clearTimeout(timer);
    }
  }
}

async function refusalOf(response: Response): Promise<SluiceError> {
  const { code, message } = errorIn(await response.json().catch(() => undefined));
  const said = message?.slice(0, MAX_SAID) ?? `This page's server answers with status ${response.status}: try again.`;
  // 500 is a fault that stays, the others are said to pass.
  if ([429, 502, 503, 504].includes(response.status)) return new Away(said, code);
  return new SluiceError(code ?? "E_INTERNAL", said);
}

/** What a server says of an error, in an answer or in an event. */
export function errorIn(value: unknown): {
  readonly code?: ConstructorParameters<typeof SluiceError>[0];
  readonly message?: string;
} {
  const { error } = objectOf(value);
  const { code, message } = objectOf(error);
  return {
    ...(typeof code === "string" && { code: code as ConstructorParameters<typeof SluiceError>[0] }),
    ...(typeof message === "string" && { message }),
  };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
