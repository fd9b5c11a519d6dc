/**
 * Connects a client on our standard streams with a server at a URL: Streamable HTTP from the client's side.
 * @module
 */
import { requestsIn, type ClientRequest } from "../../mcp/client-request.js";
import type { McpInterceptor } from "../../mcp/interceptor.js";
import type { Interceptor } from "../../mcp/interceptor-interface.js";
import { PassThrough } from "../../mcp/pass-through.js";
import { passClientLines } from "../../mcp/stdio/lines.js";
import { mirrorHeaders } from "../../mcp/http/headers.js";
import { idKey, objectOr, tryParse } from "../../jsonrpc/rpc.js";
import { LineWriter } from "../../jsonrpc/lines.js";
import { Exit, awaitSignal } from "../exit.js";
import type { Terminal } from "../terminal/terminal.js";
import { createLog } from "./interceptors.js";
import { type Header, describeFailure } from "./upstream.js";
import { RemoteConnection, refusalWith, type Refusal, RemoteReader, wait } from "./remote-connection.js";

/** Options for a remote server. */
export interface RemoteDeps {
  readonly url: URL;
  /** Headers for every request. */
  readonly headers: readonly Header[];
  /** Without it everything passes through unchanged. */
  readonly interceptor: McpInterceptor | undefined;
  readonly terminal: Terminal;
}

/** Our parent process. A different one means that it has ended. */
const PARENT = process.ppid;

/** Milliseconds between two checks for that. */
const LOOK = 500;

/** Runs until the client has left and all its requests are answered, or a signal arrives. Returns the exit code. */
export async function runRemote({ url, headers, interceptor: gate, terminal }: RemoteDeps): Promise<number> {
  const interceptor = gate ?? new PassThrough(createLog(terminal.errors));
  const { input } = terminal;
  let end: (code: number) => void;
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  void awaitSignal().then((code) => end(code));
  const client = new LineWriter(async (bytes) => {
    try {
      await terminal.output.write(bytes);
    } catch (error) {
      // The host has closed the output.
      end(Exit.ok);
      throw error;
    }
  });
  const server = new RemoteServer({ url, headers, interceptor, client });
  const passed = passClientLines(input as AsyncIterable<Uint8Array>, interceptor, {
    server: (line) => server.send(line),
    client: (text) => client.line(text),
  })
    // An unreadable input has ended.
    .catch(() => undefined)
    .then(() => {
      // A client that ends early is not noticed through its output until something is written.
      const parent = setInterval(() => process.ppid !== PARENT && end(Exit.ok), LOOK);
      return server.settled().finally(() => clearInterval(parent));
    });
  const code = await Promise.race([passed.then(() => Exit.ok), ended]);
  await server.close();
  input.destroy();
  return code;
}

interface RemoteServerDeps {
  readonly url: URL;
  readonly headers: readonly Header[];
  readonly interceptor: Interceptor;
  readonly client: LineWriter;
}

/** Most requests at a time. */
const MAX_EXCHANGES = 2048;

/** Milliseconds that a notification delays messages behind it. */
const PATIENCE = 30_000;

const encoder = new TextEncoder();

const INITIALIZED: Uint8Array = encoder.encode('{"jsonrpc":"2.0","method":"notifications/initialized"}');

/** Sends messages and passes on the responses. */
class RemoteServer {
  readonly #interceptor: Interceptor;
  readonly #client: LineWriter;
  readonly #connection: RemoteConnection;
  readonly #reader: RemoteReader;
  readonly #exchanges = new Set<Promise<void>>();
  /** Streams that last until they are ended. */
  readonly #listens = new Set<Promise<void>>();
  /** Requests by id, of revisions where disconnecting cancels. */
  readonly #aborts = new Map<string, AbortController>();
  /** The `initialize` that opened the session. */
  #initialize: Uint8Array | undefined;
  /** A new session being opened. Everybody who needs one waits for the same. */
  #reopening: Promise<boolean> | undefined;

  constructor({ url, headers, interceptor, client }: RemoteServerDeps) {
    this.#interceptor = interceptor;
    this.#client = client;
    this.#connection = new RemoteConnection(url, headers);
    this.#reader = new RemoteReader({
      interceptor,
      client,
      connection: this.#connection,
      reply: (text) => void this.#post(encoder.encode(text), {}).catch(() => undefined),
    });
  }

  /** Sends a message. Resolves when the next one may follow; requests are answered later. Never throws. */
  async send(line: Uint8Array): Promise<void> {
    const requests = requestsIn(line);
    if (requests.length === 0) return this.#notify(line);
    const exchange = this.#exchange(line, requests);
    const kept = requests.some(({ method }) => method === "subscriptions/listen") ? this.#listens : this.#exchanges;
    kept.add(exchange);
    void exchange.finally(() => kept.delete(exchange));
    // Later messages belong to the session that this one opens.
    if (requests.some(({ method }) => method === "initialize")) await exchange;
    if (this.#exchanges.size >= MAX_EXCHANGES) await Promise.race(this.#exchanges);
  }

  /** Resolves when every request was answered. */
  async settled(): Promise<void> {
    while (this.#exchanges.size > 0) await Promise.all(this.#exchanges);
  }

  /** Ends the session and all requests. */
  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #exchange(line: Uint8Array, requests: readonly ClientRequest[]): Promise<void> {
    const [first] = requests;
    const isOpening = first?.method === "initialize";
    if (isOpening) this.#connection.forgetSession();
    const abort = new AbortController();
    for (const { key, isModern } of requests) if (isModern) this.#aborts.set(key, abort);
    const ids = requests.map(({ id }) => id);
    try {
      const { session } = this.#connection;
      let left = await this.#ask(line, { ids, request: first, isOpening, signal: abort.signal });
      // The request was not processed. A session that is lost right after it began is reported.
      if (left?.isSessionGone === true && session !== undefined && (await this.#reopenSession(session, abort.signal))) {
        left = await this.#ask(line, { ids, request: first, isOpening, signal: abort.signal });
      }
      if (left !== undefined) await this.#fail(ids, left);
    } catch (error) {
      const isOver = abort.signal.aborted || this.#connection.signal.aborted;
      if (!isOver) await this.#fail(ids, refusalWith(describeFailure(error)));
    } finally {
      for (const { key } of requests) this.#aborts.delete(key);
    }
  }

  /** Sends a request once. Returns the refusal for requests that were not answered. */
  async #ask(
    line: Uint8Array,
    {
      request,
      isOpening,
      ids,
      signal,
    }: {
      readonly request: ClientRequest | undefined;
      readonly isOpening: boolean;
      readonly ids: readonly string[];
      readonly signal: AbortSignal;
    },
  ): Promise<Refusal | undefined> {
    const inSession = this.#connection.session !== undefined;
    const response = await this.#post(line, { request, signal });
    if (isOpening && response.ok) {
      this.#connection.openSession(response.headers);
      this.#initialize = line;
    }
    return this.#reader.read(response, { ids, signal, isOpening, inSession });
  }

  /** Opens a new session in place of a lost one, with the client's `initialize`. Returns false if that fails. */
  async #reopenSession(lost: string, signal: AbortSignal): Promise<boolean> {
    if (this.#connection.session !== lost) return true;
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = undefined;
    });
    const isOpen = await this.#reopening;
    signal.throwIfAborted();
    return isOpen;
  }

  async #reopen(): Promise<boolean> {
    const line = this.#initialize;
    if (line === undefined) return false;
    try {
      const response = await this.#connection.begin(line, AbortSignal.timeout(PATIENCE));
      const version = await this.#reader.agreed(response);
      // The client goes on with the version it has negotiated.
      if (version === undefined || version !== this.#connection.version) return false;
      this.#connection.openSession(response.headers);
      await this.#deliver(INITIALIZED, true);
      return true;
    } catch {
      // The client is told that the session is gone.
      return false;
    }
  }

  async #notify(line: Uint8Array): Promise<void> {
    const message = parse(line);
    const { method, params } = objectOr(message);
    if (method === "notifications/cancelled" && this.#hangUp(objectOr(params)["requestId"])) return;
    const patience = new AbortController();
    const sent = this.#deliver(line, method === "notifications/initialized");
    await Promise.race([sent, wait(PATIENCE, patience.signal)]);
    patience.abort();
  }

  /** Never throws: the sender of a notification cannot be told that it did not arrive. */
  async #deliver(line: Uint8Array, isInitialized: boolean): Promise<void> {
    try {
      const response = await this.#post(line, {});
      await response.body?.cancel();
      if (isInitialized && response.ok) void this.#reader.listen();
    } catch {
      // Later requests will show what is wrong.
    }
  }

  /** Since 2026-07-28, ending the stream cancels the request. */
  #hangUp(id: unknown): boolean {
    const key = idKey(JSON.stringify(id)) ?? "";
    const abort = this.#aborts.get(key);
    if (abort === undefined) return false;
    this.#interceptor.forget(key);
    abort.abort();
    return true;
  }

  #post(
    line: Uint8Array,
    { request, signal }: { readonly request?: ClientRequest | undefined; readonly signal?: AbortSignal },
  ): Promise<Response> {
    const message = request === undefined ? parse(line) : { method: request.method, params: request.params };
    const mirrored = mirrorHeaders(message, (name) => this.#interceptor.tool(name));
    return this.#connection.post(line, mirrored, signal);
  }

  async #fail(ids: readonly string[], refusal: Refusal): Promise<void> {
    for (const id of ids) {
      if (!this.#interceptor.isWaiting(id)) continue;
      this.#interceptor.forget(id);
      await this.#client.line(refusal.text(id)).catch(() => undefined);
    }
  }
}

function parse(line: Uint8Array): unknown {
  return tryParse(new TextDecoder().decode(line));
}
