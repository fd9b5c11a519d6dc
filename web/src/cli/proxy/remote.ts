/**
 * A client on our standard streams, and a server at an address: Streamable HTTP, from the client's side.
 * @module
 */
import { requestsIn, type ClientRequest } from "../../mcp/client-request.js";
import type { Door } from "../../mcp/door.js";
import { PlainDoor, type Doorway } from "../../mcp/doorway.js";
import { passClientLines } from "../../mcp/lines.js";
import { mirrorHeaders } from "../../mcp/mirror-headers.js";
import { idKey, objectOr, parsedOr } from "../../mcp/rpc.js";
import { LineWriter } from "../../transports/line-writer.js";
import { Exit } from "../exit.js";
import type { Terminal } from "../terminal.js";
import { logOf } from "./doors.js";
import type { Header } from "./headers.js";
import { signalled } from "./listen-http.js";
import { RemoteConnection, saying, type Refusal } from "./remote-connection.js";
import { RemoteReader, waited } from "./remote-reader.js";
import { failureOf } from "./upstream.js";

/** Which server, and for whom. */
export interface RemoteTerms {
  readonly url: URL;
  /** Headers for every request. */
  readonly headers: readonly Header[];
  /** Left out, everything passes as it is. */
  readonly door: Door | undefined;
  readonly terminal: Terminal;
}

/** Who started us; another one once that has ended. */
const PARENT = process.ppid;

/** How often, in milliseconds, it is looked for. */
const LOOK = 500;

/** Works until the client has sent its last and got every answer, or a signal comes. Gives the exit code. */
export async function runRemote({ url, headers, door: gate, terminal }: RemoteTerms): Promise<number> {
  const door = gate ?? new PlainDoor(logOf(terminal.errors));
  const { input } = terminal;
  let end: (code: number) => void;
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  void signalled().then((code) => end(code));
  const client = new LineWriter(async (bytes) => {
    try {
      await terminal.output.write(bytes);
    } catch (error) {
      // Nobody reads any more.
      end(Exit.ok);
      throw error;
    }
  });
  const server = new RemoteServer({ url, headers, door, client });
  const passed = passClientLines(input as AsyncIterable<Uint8Array>, door, {
    server: (line) => server.send(line),
    client: (text) => client.line(text),
  })
    // An input that cannot be read has ended.
    .catch(() => undefined)
    .then(() => {
      // Who has ended before the answers came cannot be told by its output until something is written.
      const parent = setInterval(() => process.ppid !== PARENT && end(Exit.ok), LOOK);
      return server.settled().finally(() => clearInterval(parent));
    });
  const code = await Promise.race([passed.then(() => Exit.ok), ended]);
  await server.close();
  input.destroy();
  return code;
}

interface RemoteServerTerms {
  readonly url: URL;
  readonly headers: readonly Header[];
  readonly door: Doorway;
  readonly client: LineWriter;
}

/** Requests at a time; the next one waits. */
const MAX_EXCHANGES = 2048;

/** How long, in milliseconds, a message that has no answer holds up those behind it. */
const PATIENCE = 30_000;

const encoder = new TextEncoder();

/** Sends messages, and passes on what comes back. */
class RemoteServer {
  readonly #door: Doorway;
  readonly #client: LineWriter;
  readonly #connection: RemoteConnection;
  readonly #reader: RemoteReader;
  readonly #exchanges = new Set<Promise<void>>();
  /** Streams that go on until they are ended. */
  readonly #listens = new Set<Promise<void>>();
  /** Requests of revisions where hanging up is how to cancel, by id. */
  readonly #aborts = new Map<string, AbortController>();

  constructor({ url, headers, door, client }: RemoteServerTerms) {
    this.#door = door;
    this.#client = client;
    this.#connection = new RemoteConnection(url, headers);
    this.#reader = new RemoteReader({
      door,
      client,
      connection: this.#connection,
      reply: (text) => void this.#post(encoder.encode(text), {}).catch(() => undefined),
    });
  }

  /** Sends a message; settles when the next one may follow. Requests are answered meanwhile. Never throws. */
  async send(line: Uint8Array): Promise<void> {
    const requests = requestsIn(line);
    if (requests.length === 0) return this.#notify(line);
    const exchange = this.#exchange(line, requests);
    const kept = requests.some(({ method }) => method === "subscriptions/listen") ? this.#listens : this.#exchanges;
    kept.add(exchange);
    void exchange.finally(() => kept.delete(exchange));
    // What follows belongs to the session that this one opens.
    if (requests.some(({ method }) => method === "initialize")) await exchange;
    if (this.#exchanges.size >= MAX_EXCHANGES) await Promise.race(this.#exchanges);
  }

  /** Settles when every request was answered. */
  async settled(): Promise<void> {
    while (this.#exchanges.size > 0) await Promise.all(this.#exchanges);
  }

  /** Ends the session and everything that is open. */
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
      const response = await this.#post(line, { request: first, signal: abort.signal });
      if (isOpening && response.ok) this.#connection.openSession(response.headers);
      const left = await this.#reader.read(response, { ids, signal: abort.signal, isOpening });
      if (left !== undefined) await this.#fail(ids, left);
    } catch (error) {
      const isOver = abort.signal.aborted || this.#connection.signal.aborted;
      if (!isOver) await this.#fail(ids, saying(failureOf(error)));
    } finally {
      for (const { key } of requests) this.#aborts.delete(key);
    }
  }

  async #notify(line: Uint8Array): Promise<void> {
    const message = parsed(line);
    const { method, params } = objectOr(message);
    if (method === "notifications/cancelled" && this.#hangUp(objectOr(params)["requestId"])) return;
    const patience = new AbortController();
    const sent = this.#deliver(line, method === "notifications/initialized");
    await Promise.race([sent, waited(PATIENCE, patience.signal)]);
    patience.abort();
  }

  /** Never throws: who sends a notification cannot be told that it did not arrive. */
  async #deliver(line: Uint8Array, isInitialized: boolean): Promise<void> {
    try {
      const response = await this.#post(line, {});
      await response.body?.cancel();
      if (isInitialized && response.ok) void this.#reader.listen();
    } catch {
      // The requests behind it will tell what is wrong.
    }
  }

  /** Since 2026-07-28 the end of the stream is what tells the server. */
  #hangUp(id: unknown): boolean {
    const key = idKey(JSON.stringify(id)) ?? "";
    const abort = this.#aborts.get(key);
    if (abort === undefined) return false;
    this.#door.forget(key);
    abort.abort();
    return true;
  }

  #post(
    line: Uint8Array,
    { request, signal }: { readonly request?: ClientRequest | undefined; readonly signal?: AbortSignal },
  ): Promise<Response> {
    const message = request === undefined ? parsed(line) : { method: request.method, params: request.params };
    const mirrored = mirrorHeaders(message, (name) => this.#door.tool(name));
    return this.#connection.post(line, mirrored, signal);
  }

  async #fail(ids: readonly string[], refusal: Refusal): Promise<void> {
    for (const id of ids) {
      if (!this.#door.isWaiting(id)) continue;
      this.#door.forget(id);
      await this.#client.line(refusal(id)).catch(() => undefined);
    }
  }
}

function parsed(line: Uint8Array): unknown {
  return parsedOr(new TextDecoder().decode(line));
}
