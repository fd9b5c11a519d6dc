/**
 * A connection by the package that the host installs, made when needed and renewed when it is gone.
 * @module
 */
import { onAbort, untilLate } from "../core/abort.js";
import { SluiceError } from "../errors/error.js";
import { ConnectionFailure, isReplica, isReply, wantsPassword } from "./failures.js";
import type { RedisCommands } from "./options.js";

/** A connection, and the calls that wait on it. */
interface Line {
  readonly client: Client;
  readonly waiting: Set<object>;
}

/**
 * Sends commands to one server. Keeps no process alive. A connection that leaves a call unanswered gets no further
 * calls, and is closed when its last call ends: later calls get a new connection.
 */
export class OwnConnection implements RedisCommands {
  readonly #url: string;
  readonly #timeout: number;
  /** The connection for the next call. */
  #line: Line | undefined;
  #connecting: Promise<Line> | undefined;
  #isClosed = false;

  /** `timeout`: milliseconds for connecting. */
  constructor(url: string, timeout: number) {
    this.#url = url;
    this.#timeout = timeout;
  }

  /** Throws the server's error, ConnectionFailure, SluiceError E_MISUSE if the package is not installed. */
  async sendCommand(command: string[], { abortSignal }: { abortSignal?: AbortSignal } = {}): Promise<unknown> {
    // Does not await an existing connection: it might end meanwhile.
    const line = this.#ready() ?? (await this.#openLine());
    abortSignal?.throwIfAborted();
    const call = {};
    line.waiting.add(call);
    const forget = abortSignal && onAbort(abortSignal, () => this.#gaveUp(line, call));
    try {
      return await line.client.sendCommand(command, { ...(abortSignal && { abortSignal }) });
    } catch (error) {
      // After a failover the name may lead to another server.
      if (isReplica(error)) this.#retire(line);
      if (isReply(error)) throw error;
      throw new ConnectionFailure(true, error);
    } finally {
      forget?.();
      this.#over(line, call);
    }
  }

  /** Closes the connection. */
  close(): void {
    this.#isClosed = true;
    const line = this.#line;
    if (line === undefined) return;
    this.#line = undefined;
    endConnection(line.client);
  }

  #ready(): Line | undefined {
    const line = this.#line;
    if (line === undefined || line.client.isReady) return line;
    this.#retire(line);
    return undefined;
  }

  /** A connection without an answer may never give one: a machine that is gone says nothing. */
  #gaveUp(line: Line, call: object): void {
    this.#retire(line);
    this.#over(line, call);
  }

  #over(line: Line, call: object): void {
    line.waiting.delete(call);
    if (line !== this.#line && line.waiting.size === 0) endConnection(line.client);
  }

  #retire(line: Line): void {
    if (this.#line === line) this.#line = undefined;
    if (line.waiting.size === 0) endConnection(line.client);
  }

  #openLine(): Promise<Line> {
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #connect(): Promise<Line> {
    const client = await connectClient(this.#url, this.#timeout);
    const line = { client, waiting: new Set<object>() };
    // Closed while connecting.
    if (this.#isClosed) endConnection(client);
    else this.#line = line;
    return line;
  }
}

/** The part of node-redis that is used. */
export interface Client extends RedisCommands {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  destroy(): void;
}

/**
 * Connects. The connection keeps no process alive and is not renewed: `onGone` is called when it is gone, maybe more
 * than once. Throws ConnectionFailure after so many milliseconds; SluiceError E_MISUSE if the package is not
 * installed.
 */
export async function connectClient(
  url: string,
  timeout: number,
  onGone: () => void = () => undefined,
): Promise<Client> {
  const { createClient } = await loadPackage();
  const client = createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    socket: { connectTimeout: timeout, reconnectStrategy: false },
  });
  // Waiting calls fail by themselves. Without a listener the error would end the process.
  client.on("error", onGone);
  try {
    await untilLate(() => greetServer(client), { most: timeout, late: noGreeting, signal: undefined });
  } catch (error) {
    endConnection(client);
    throw error instanceof ConnectionFailure ? error : new ConnectionFailure(false, error);
  }
  client.unref();
  return client;
}

/** Closes a connection in any state. */
export function endConnection(client: Client): void {
  // Some versions refuse to destroy a failed client.
  if (client.isOpen) client.destroy();
}

/** Connects, and finds out if a password is missing: otherwise the server may drop a long command without an error. */
async function greetServer(client: Client & { connect(): Promise<unknown> }): Promise<void> {
  await client.connect();
  try {
    await client.sendCommand(["PING"]);
  } catch (error) {
    if (!isReply(error) || wantsPassword(error)) throw error;
  }
}

function noGreeting(): Error {
  return new ConnectionFailure(false, new Error("The server did not answer the handshake."));
}

async function loadPackage() {
  try {
    return await import("@redis/client");
  } catch (error) {
    throw new SluiceError(
      "E_MISUSE",
      "A url needs the package @redis/client: install it, or pass a client instead.",
      {},
      { cause: error },
    );
  }
}
