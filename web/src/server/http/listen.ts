/**
 * A server on a port of this machine, for Node.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";
import { refusal } from "./answers.js";
import { closingRefused } from "./refusals.js";

/** Where to listen, and how patiently. */
export interface ListenOptions {
  /** A name or an address of this machine. */
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /**
   * Connections at the same time; of more each is ended at once.
   * @defaultValue `4096`
   */
  readonly maxConnections?: number;
  /**
   * Seconds for the headers of a request, for each 64 KiB of an answer to be taken, and until an idle connection is ended.
   * @defaultValue `30`
   */
  readonly clientSeconds?: number;
  /**
   * Seconds that requests under way have when it ends. Who listens to events is let go at once, and comes back elsewhere.
   * @defaultValue `10`
   */
  readonly graceSeconds?: number;
}

/** Something that listens. Disposed of, it takes no more requests, waits for those under way, and then ends them. */
export interface ListeningServer extends AsyncDisposable {
  /** The port. */
  readonly port: number;
}

/** Answers requests, as `SluiceServer` does. */
export interface RequestHandler {
  /** Must not throw. */
  fetch(request: Request): Response | Promise<Response>;
}

/** Milliseconds between two looks for connections that have become idle. */
const LOOK = 50;

/**
 * Listens until it is disposed of. A client that sends or takes nothing costs bounded time and memory.
 *
 * @example
 * await using server = new SluiceServer({ store });
 * await using listening = await listen(server, { host: "127.0.0.1", port: 8080 });
 * @throws SluiceError E_INVALID_ARGUMENT where nothing can listen.
 */
export async function listen(server: RequestHandler, options: ListenOptions): Promise<ListeningServer> {
  const { host, port, maxConnections = 4096, clientSeconds = 30, graceSeconds = 10 } = options;
  const requests = new RequestListener(server, clientSeconds * 1000);
  const http = createServer(
    {
      // Bodies are held to times of their own, where they are read.
      requestTimeout: 0,
      headersTimeout: clientSeconds * 1000,
      keepAliveTimeout: clientSeconds * 1000,
      connectionsCheckingInterval: Math.min(5000, clientSeconds * 500),
      keepAlive: true,
      keepAliveInitialDelay: clientSeconds * 1000,
      noDelay: true,
    },
    requests.listener,
  );
  http.maxConnections = maxConnections;
  http.on("connection", (socket) => requests.connections.add(socket));
  await bound(http, host, port);
  return {
    port: (http.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => ended(http, requests, graceSeconds * 1000),
  };
}

/** Stands between Node's requests and those of the web. */
class RequestListener {
  readonly listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  readonly connections = new Connections();
  readonly #server: RequestHandler;
  readonly #patience: number;
  readonly #answers = new Set<PacedAnswer>();
  #isClosing = false;

  constructor(server: RequestHandler, patience: number) {
    this.#server = server;
    this.#patience = patience;
    const listener = getRequestListener((request, env) => this.#answer(request, env as HttpBindings), {
      overrideGlobalObjects: false,
      errorHandler: notHttp,
    });
    this.listener = (incoming, outgoing) => {
      if (!this.connections.enter(incoming.socket, outgoing)) return;
      // Whatever fails here has cost one client its connection.
      listener(incoming, outgoing).catch(() => outgoing.destroy());
    };
  }

  /** Takes no more requests, and lets those go who only listen. */
  close(): void {
    this.#isClosing = true;
    for (const answer of this.#answers) if (answer.isLasting) answer.end();
  }

  async #answer(request: Request, { incoming, outgoing }: HttpBindings): Promise<Response> {
    // One for a proxy names a host of its own, which nobody here would look at.
    if (incoming.url?.startsWith("/") !== true) return notHttp();
    if (this.#isClosing) return leaving(closingRefused());
    return this.#paced(await this.#server.fetch(request), incoming, outgoing);
  }

  #paced(response: Response, incoming: IncomingMessage, outgoing: ServerResponse): Response {
    const isEarly = isUnread(incoming);
    if (this.#isClosing || isEarly) outgoing.shouldKeepAlive = false;
    if (response.body === null) return response;
    const beforeEnd = isEarly ? (): Promise<void> => letGo(incoming) : undefined;
    const answer = new PacedAnswer(response, outgoing, { patience: this.#patience, beforeEnd });
    this.#answers.add(answer);
    outgoing.once("close", () => this.#answers.delete(answer));
    if (this.#isClosing && answer.isLasting) answer.end();
    return answer.response;
  }
}

async function bound(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      const why = systemCode(error) ?? "unknown";
      const message = `Nothing can listen at that host and port (${why}): choose another, or end what is there.`;
      reject(new SluiceError("E_INVALID_ARGUMENT", message, { path: "port" }, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
}

async function ended(server: Server, requests: RequestListener, grace: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  requests.close();
  const isClosed = closed.then(() => true);
  const until = performance.now() + grace;
  while (performance.now() < until) {
    requests.connections.endIdle();
    if (await Promise.race([isClosed, sleep(LOOK, false)])) return;
  }
  server.closeAllConnections();
  await closed;
}

function notHttp(): Response {
  return refusal(400, "E_INVALID_ARGUMENT", "The request is not as it should be: check its address and its host.");
}

function leaving(response: Response): Response {
  response.headers.set("Connection", "close");
  return response;
}

/** Requests that may wait on one connection for the answers before theirs: no browser sends two. */
const MOST_WAITING = 16;

/** Knows what is under way on each connection. Node holds one for busy that was opened and never used. */
class Connections {
  readonly #open = new Map<Socket, Set<ServerResponse>>();

  /** Notes a connection. */
  add(socket: Socket): void {
    const answers = new Set<ServerResponse>();
    this.#open.set(socket, answers);
    socket.once("close", () => {
      this.#open.delete(socket);
      for (const answer of answers) dropped(answer);
    });
  }

  /** Notes an answer until it is closed. False where the connection is over, or has just been ended: it asked for too much at once. */
  enter(socket: Socket, answer: ServerResponse): boolean {
    const answers = this.#open.get(socket);
    if (answers === undefined || socket.destroyed) return false;
    if (answers.size >= MOST_WAITING) {
      socket.destroy();
      return false;
    }
    answers.add(answer);
    answer.once("close", () => answers.delete(answer));
    return true;
  }

  /** Ends those on which nothing is under way. */
  endIdle(): void {
    for (const [socket, answers] of this.#open) if (answers.size === 0) socket.destroy();
  }
}

/** Node tells only the answer whose turn it was that its connection is gone; those behind it would wait for ever. */
function dropped(answer: ServerResponse): void {
  if (answer.closed) return;
  answer.destroy();
  answer.emit("close");
}

/** Bytes that a client has to take in time. */
const PIECE = 64 * 1024;

/** How it is sent. */
interface PacedDeps {
  /** Milliseconds for each piece. */
  readonly patience: number;
  /** What is waited for between the last piece and the end; must not throw. */
  readonly beforeEnd: (() => Promise<void>) | undefined;
}

/**
 * The body of an answer in pieces, each of which has to be taken in time. What fails breaks the connection: a part must not look
 * like the whole.
 */
class PacedAnswer {
  /** To be sent in place of the one that was given. */
  readonly response: Response;
  /** Whether it is one that lasts as long as somebody listens. */
  readonly isLasting: boolean;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #outgoing: ServerResponse;
  readonly #patience: number;
  readonly #beforeEnd: (() => Promise<void>) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #rest: Uint8Array | undefined;
  #isOver = false;
  #isGone = false;

  /** To be made where the answer is about to be sent. */
  constructor(response: Response, outgoing: ServerResponse, { patience, beforeEnd }: PacedDeps) {
    this.#reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
    this.#outgoing = outgoing;
    this.#patience = patience;
    this.#beforeEnd = beforeEnd;
    this.isLasting = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    outgoing.once("close", () => {
      this.#isGone = true;
      this.#leave();
    });
    const body = new ReadableStream<Uint8Array>(
      { pull: (controller) => this.#pull(controller), cancel: (reason) => this.#cancel(reason) },
      { highWaterMark: 0 },
    );
    this.response = new Response(body, response);
  }

  /** Has it end early, as if there were no more. */
  end(): void {
    this.#isOver = true;
    this.#reader.cancel().catch(() => undefined);
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#leave();
    const piece = await this.#next();
    if (piece === undefined) await this.#beforeEnd?.();
    if (!this.#isGone) this.#timer = setTimeout(() => this.#outgoing.destroy(), this.#patience);
    if (piece === undefined) controller.close();
    else controller.enqueue(piece);
  }

  async #next(): Promise<Uint8Array | undefined> {
    try {
      const whole = this.#rest ?? (await this.#read());
      if (whole === undefined) return undefined;
      this.#rest = whole.byteLength > PIECE ? whole.subarray(PIECE) : undefined;
      return this.#rest === undefined ? whole : whole.subarray(0, PIECE);
    } catch {
      this.#outgoing.destroy();
      return undefined;
    }
  }

  async #read(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.#reader.read();
    return done || this.#isOver ? undefined : value;
  }

  async #cancel(reason: unknown): Promise<void> {
    this.#leave();
    await this.#reader.cancel(reason);
  }

  #leave(): void {
    clearTimeout(this.#timer);
  }
}

/** Milliseconds that whoever still sends has to come to read the answer. */
const LONGEST = 500;

/** Bytes that are taken from them meanwhile, and thrown away. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Whether more of a body was announced than has been read. */
function isUnread(incoming: IncomingMessage): boolean {
  const { "transfer-encoding": coding, "content-length": length } = incoming.headers;
  return (coding !== undefined || Number(length ?? 0) > 0) && !incoming.readableEnded;
}

/**
 * Throws away what still comes of a body, for a while: a connection that is ended with bytes unread is reset, and the answer may be
 * lost with it (RFC 9112 §9.6).
 */
async function letGo(incoming: IncomingMessage): Promise<void> {
  if (incoming.destroyed) return;
  await new Promise<void>((resolve) => {
    let bytes = 0;
    const timer = setTimeout(resolve, LONGEST);
    // Whoever read until now holds it up.
    incoming.removeAllListeners("data");
    incoming.on("data", (piece: Uint8Array) => {
      bytes += piece.byteLength;
      if (bytes > MOST_BYTES) resolve();
    });
    incoming.once("end", resolve).once("close", resolve);
    incoming.once("close", () => clearTimeout(timer));
    incoming.resume();
  });
}
