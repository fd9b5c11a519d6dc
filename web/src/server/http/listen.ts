/**
 * A server on a port of this machine, for Node.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";
import { AnswerWriter } from "./answer-writer.js";
import { refusal } from "./answers.js";
import { closingRefused, SERVER_CLOSED } from "./refusals.js";
import { checkOptionNames } from "../../errors/arguments.js";

/** Where to listen, and limits for clients. */
export interface ListenOptions {
  /** A host name or address of this machine. */
  readonly host: string;
  /** The port. 0 takes a free one. */
  readonly port: number;
  /**
   * Most concurrent connections. Further ones are closed at once.
   * @defaultValue `4096`
   */
  readonly maxConnections?: number;
  /**
   * Seconds for a client to send the headers of a request, to take each 64 KiB of an answer, and until an idle
   * connection is closed.
   * @defaultValue `30`
   */
  readonly clientSeconds?: number;
  /**
   * Seconds for running requests to finish at the end. Event streams are ended at once: their clients reconnect
   * elsewhere.
   * @defaultValue `10`
   */
  readonly graceSeconds?: number;
}

/** A listening server. When disposed of, it takes no more requests, waits for running ones, and then closes them. */
export interface ListeningServer extends AsyncDisposable {
  /** The port. */
  readonly port: number;
}

/** Answers requests, as `SluiceServer` does. */
export interface RequestHandler {
  /** Must not throw. */
  fetch(request: Request): Response | Promise<Response>;
}

/** Milliseconds between two searches for idle connections at the end. */
const LOOK = 50;

/**
 * Listens until it is disposed of. A client that sends or takes nothing costs bounded time and memory.
 *
 * @throws SluiceError E_INVALID_ARGUMENT if nothing can listen there.
 *
 * @example
 * const server = new SluiceServer({ store });
 * const listening = await listen(server, { host: "127.0.0.1", port: 8080 });
 * // When the process ends:
 * await listening[Symbol.asyncDispose]();
 * await server[Symbol.asyncDispose]();
 */
export async function listen(server: RequestHandler, options: ListenOptions): Promise<ListeningServer> {
  checkOptionNames(options, "listen", ["clientSeconds", "graceSeconds", "host", "maxConnections", "port"]);
  const { host, port, maxConnections = 4096, clientSeconds = 30, graceSeconds = 10 } = options;
  const requests = new RequestListener(server, clientSeconds * 1000);
  const http = createServer(
    {
      // Bodies have time limits of their own where they are read.
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

/** Converts between Node's requests and those of the Fetch API. */
class RequestListener {
  readonly listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  readonly connections = new Connections();
  readonly #server: RequestHandler;
  readonly #timeout: number;
  readonly #answers = new Set<AnswerWriter>();
  #isClosing = false;

  constructor(server: RequestHandler, timeout: number) {
    this.#server = server;
    this.#timeout = timeout;
    const listener = getRequestListener((request, env) => this.#answer(request, env as HttpBindings), {
      overrideGlobalObjects: false,
      errorHandler: notHttp,
    });
    this.listener = (incoming, outgoing) => {
      if (!this.connections.enter(incoming.socket, outgoing)) return;
      // A failure costs one client its connection.
      listener(incoming, outgoing).catch(() => outgoing.destroy());
    };
  }

  /** Takes no more requests, and ends event streams. */
  close(): void {
    this.#isClosing = true;
    for (const answer of this.#answers) if (answer.isLasting) answer.end(SERVER_CLOSED);
  }

  async #answer(request: Request, { incoming, outgoing }: HttpBindings): Promise<Response> {
    // A request for a proxy names another host, which nobody would check.
    if (incoming.url?.startsWith("/") !== true) return notHttp();
    if (this.#isClosing) return leaving(closingRefused());
    return this.#sent(await this.#server.fetch(request), incoming, outgoing);
  }

  /** Sends an answer that has a body; leaves one without to the library. */
  async #sent(response: Response, incoming: IncomingMessage, outgoing: ServerResponse): Promise<Response> {
    const isEarly = isUnread(incoming);
    if (this.#isClosing || isEarly) outgoing.shouldKeepAlive = false;
    if (response.body === null) return response;
    const beforeEnd = isEarly ? (): Promise<void> => letGo(incoming) : undefined;
    const answer = new AnswerWriter(response, outgoing, { timeout: this.#timeout, beforeEnd });
    this.#answers.add(answer);
    if (this.#isClosing && answer.isLasting) answer.end(SERVER_CLOSED);
    await answer.send();
    this.#answers.delete(answer);
    return RESPONSE_ALREADY_SENT;
  }
}

async function bound(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      const why = systemCode(error) ?? "unknown";
      const message = `Cannot listen on that host and port (${why}): choose another, or stop the program that uses it.`;
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
  return refusal(400, "E_INVALID_ARGUMENT", "The request is malformed: check its address and its Host header.");
}

function leaving(response: Response): Response {
  response.headers.set("Connection", "close");
  return response;
}

/** Most pipelined requests that wait on one connection. No browser sends two. */
const MOST_WAITING = 16;

/** Tracks the answers of each connection. Node treats a connection as busy that was opened and never used. */
class Connections {
  readonly #open = new Map<Socket, Set<ServerResponse>>();

  /** Adds a connection. */
  add(socket: Socket): void {
    const answers = new Set<ServerResponse>();
    this.#open.set(socket, answers);
    socket.once("close", () => {
      this.#open.delete(socket);
      for (const answer of answers) dropped(answer);
    });
  }

  /**
   * Adds an answer until it is closed. Returns false if the connection is closed, or was closed now for too many
   * requests.
   */
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

  /** Closes idle connections. */
  endIdle(): void {
    for (const [socket, answers] of this.#open) if (answers.size === 0) socket.destroy();
  }
}

/**
 * Closes an answer. When a connection is gone Node closes only the answer whose turn it was; those behind it would
 * wait for ever.
 */
function dropped(answer: ServerResponse): void {
  if (answer.closed) return;
  answer.destroy();
  answer.emit("close");
}

/** Milliseconds for a client that still sends to read the answer. */
const LONGEST = 500;

/** Most bytes that are read and discarded meanwhile. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Whether a part of the request's body is unread. */
function isUnread(incoming: IncomingMessage): boolean {
  const { "transfer-encoding": coding, "content-length": length } = incoming.headers;
  return (coding !== undefined || Number(length ?? 0) > 0) && !incoming.readableEnded;
}

/**
 * Discards the rest of a request's body, for a while. A connection that is closed with unread bytes is reset, and the
 * answer may be lost with it (RFC 9112 §9.6).
 */
async function letGo(incoming: IncomingMessage): Promise<void> {
  if (incoming.destroyed) return;
  await new Promise<void>((resolve) => {
    let bytes = 0;
    const timer = setTimeout(resolve, LONGEST);
    // An earlier reader would hold it up.
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
