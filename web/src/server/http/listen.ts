/**
 * A server on a port of this machine, for Node.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";
import { AnswerWriter } from "./answer-writer.js";
import { refusal } from "./answers.js";
import { Connections, isStanding, onceASecond, workSentence } from "./connections.js";
import { closingRefused } from "./refusals.js";
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
   * Seconds at the end in which `GET ready` fails and everything is served as before, so that balancers stop sending
   * requests here.
   * @defaultValue `0`
   */
  readonly drainSeconds?: number;
  /**
   * Seconds for running requests to finish then. Event streams are told and ended at once: their clients reconnect
   * elsewhere.
   * @defaultValue `10`
   */
  readonly graceSeconds?: number;
}

/**
 * A listening server. When disposed of, it drains the handler, takes no more requests, waits for running ones, and then closes
 * them.
 */
export interface ListeningServer extends AsyncDisposable {
  /** The port. */
  readonly port: number;
}

/** Answers requests, as `SluiceServer` does. */
export interface RequestHandler extends Partial<AsyncDisposable> {
  /** Must not throw. */
  fetch(request: Request): Response | Promise<Response>;
  /**
   * Begins the end, and resolves when nothing more should be sent here: after `seconds`, or earlier by the signal. Event streams
   * are over then. What runs when `graceSeconds` are over is ended by disposing of the handler.
   */
  drain?(options: { readonly seconds?: number; readonly signal?: AbortSignal }): Promise<void>;
}

/** How a listening server is closed. */
export interface CloseOptions {
  /** Ends the time for balancers early. */
  readonly signal?: AbortSignal;
  /** Called when that time is over. Must not throw. */
  readonly onClosing?: () => void;
  /** Told at most once a second what is waited for. Must not throw. */
  readonly onWaiting?: (sentence: string) => void;
}

/** A listening server whose end can be watched. */
export interface ClosableServer extends ListeningServer {
  /** Does what disposal does. Gives what did not finish in time, in words; empty if all did. */
  close(options: CloseOptions): Promise<string>;
}

/** Milliseconds for event streams to say their last event. */
const LAST_EVENT = 1000;

/**
 * Listens until it is disposed of. A client that sends or takes nothing costs bounded time and memory.
 *
 * When it is disposed of, it does in this order: `GET ready` fails for `drainSeconds`, while everything else goes on; event
 * streams end with an event `closing`, and no more connections are taken; what runs has `graceSeconds`.
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
  return openListener(server, options);
}

/** As {@link listen}, with an end that can be watched. */
export async function openListener(server: RequestHandler, options: ListenOptions): Promise<ClosableServer> {
  const names = ["clientSeconds", "drainSeconds", "graceSeconds", "host", "maxConnections", "port"] as const;
  checkOptionNames(options, "listen", names);
  const { host, port, maxConnections = 4096, clientSeconds = 30, drainSeconds = 0, graceSeconds = 10 } = options;
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
  await bindServer(http, host, port);
  let ended: Promise<string> | undefined;
  const close = (how: CloseOptions): Promise<string> =>
    (ended ??= closeServer(http, requests, { ...how, drainSeconds, grace: graceSeconds * 1000 }));
  return {
    port: (http.address() as AddressInfo).port,
    close,
    [Symbol.asyncDispose]: async () => void (await close({})),
  };
}

/** Converts between Node's requests and those of the Fetch API. */
class RequestListener {
  readonly listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  readonly connections = new Connections();
  readonly #server: RequestHandler;
  readonly #timeout: number;
  readonly #answers = new Set<AnswerWriter>();
  #isDraining = false;
  #isClosing = false;

  constructor(server: RequestHandler, timeout: number) {
    this.#server = server;
    this.#timeout = timeout;
    const listener = getRequestListener((request, env) => this.#answer(request, env as HttpBindings), {
      overrideGlobalObjects: false,
      errorHandler: notHttp,
    });
    this.listener = (incoming, outgoing) => {
      if (!this.connections.enter(incoming, outgoing)) return;
      // A failure costs one client its connection.
      listener(incoming, outgoing).catch(() => outgoing.destroy());
    };
  }

  /** Serves on, but no connection is kept: its next request should go elsewhere. Resolves when the time for that is over. */
  async drain(seconds: number, signal: AbortSignal | undefined): Promise<void> {
    this.#isDraining = true;
    const drained = this.#server.drain?.({ seconds, ...(signal && { signal }) });
    if (drained === undefined) this.#endStreams();
    else await drained;
  }

  /** Takes no more requests. */
  close(): void {
    this.#isClosing = true;
    // By now they have ended by themselves, but for those of other servers, and for clients that do not read.
    setTimeout(() => this.#endStreams(), LAST_EVENT).unref();
  }

  /** Ends what still runs, in the handler's own words. */
  giveUp(): void {
    this.#server[Symbol.asyncDispose]?.().then(undefined, () => undefined);
  }

  #endStreams(): void {
    for (const answer of this.#answers) if (answer.isLasting) answer.end();
  }

  async #answer(request: Request, { incoming, outgoing }: HttpBindings): Promise<Response> {
    // A request for a proxy names another host, which would stay unchecked.
    if (incoming.url?.startsWith("/") !== true) return notHttp();
    if (this.#isClosing) return leaving(closingRefused());
    return this.#send(await this.#server.fetch(request), incoming, outgoing);
  }

  /** Sends an answer that has a body; leaves one without to the library. */
  async #send(response: Response, incoming: IncomingMessage, outgoing: ServerResponse): Promise<Response> {
    const isEarly = isUnread(incoming);
    if (this.#isDraining || isEarly) outgoing.shouldKeepAlive = false;
    if (response.body === null) return response;
    const beforeEnd = isEarly ? (): Promise<void> => letGo(incoming) : undefined;
    const isStream = isStanding(incoming);
    const answer = new AnswerWriter(response, outgoing, { timeout: this.#timeout, beforeEnd, isStream });
    this.connections.answering(incoming, outgoing, isEvents(response));
    this.#answers.add(answer);
    if (this.#isClosing && answer.isLasting) answer.end();
    await answer.send();
    this.#answers.delete(answer);
    return RESPONSE_ALREADY_SENT;
  }
}

async function bindServer(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      const why = systemCode(error) ?? "unknown";
      const message = `Cannot listen on that host and port (${why}): choose another, or stop the program that uses it.`;
      reject(new SluiceError("E_INVALID_ARGUMENT", message, { path: "port" }, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
}

interface Ending extends CloseOptions {
  readonly drainSeconds: number;
  /** Milliseconds. */
  readonly grace: number;
}

/** The end, in order. Gives what did not finish, in words. */
async function closeServer(
  server: Server,
  requests: RequestListener,
  { drainSeconds, grace, signal, onClosing, onWaiting }: Ending,
): Promise<string> {
  await requests.drain(drainSeconds, signal);
  onClosing?.();
  requests.close();
  const left = await requests.connections.close(server, {
    grace,
    onWaiting: onWaiting && onceASecond(onWaiting),
    giveUp: () => requests.giveUp(),
  });
  return workSentence(left);
}

function isEvents({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") === true;
}

function notHttp(): Response {
  return refusal(400, "E_INVALID_ARGUMENT", "The request is malformed: check its address and its Host header.");
}

function leaving(response: Response): Response {
  response.headers.set("Connection", "close");
  return response;
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
