/**
 * A connection of the store's own, by the package that the host installs beside this one: made when it is needed, and anew when
 * it is gone.
 * @module
 */
import { onAbort, untilLate } from "../core/abort.js";
import { SluiceError } from "../errors/error.js";
import { ConnectionFailure, isReplica, isReply, wantsPassword } from "./failures.js";
import type { RedisCommands } from "./options.js";

/** One connection, and who waits for its answers. */
interface Line {
  readonly client: Client;
  readonly waiting: Set<object>;
}

/**
 * Speaks to one server. It keeps no process alive. A connection that leaves a call without an answer gets no more of them, and
 * ends when nobody waits for it any more: those who asked later have time of their own.
 */
export class OwnConnection implements RedisCommands {
  readonly #url: string;
  readonly #timeout: number;
  /** For what is sent next. */
  #line: Line | undefined;
  #connecting: Promise<Line> | undefined;
  #isClosed = false;

  /** `timeout`: milliseconds that connecting may take. */
  constructor(url: string, timeout: number) {
    this.#url = url;
    this.#timeout = timeout;
  }

  /** Throws what the server said, ConnectionFailure, SluiceError E_MISUSE where there is no package to connect with. */
  async sendCommand(command: string[], { abortSignal }: { abortSignal?: AbortSignal } = {}): Promise<unknown> {
    // Not awaited where there is one: it might end in between.
    const line = this.#ready() ?? (await this.#connected());
    abortSignal?.throwIfAborted();
    const call = {};
    line.waiting.add(call);
    const forget = abortSignal && onAbort(abortSignal, () => this.#gaveUp(line, call));
    try {
      return await line.client.sendCommand(command, { ...(abortSignal && { abortSignal }) });
    } catch (error) {
      // After a failover the same name may lead to another server.
      if (isReplica(error)) this.#retire(line);
      if (isReply(error)) throw error;
      throw new ConnectionFailure(true, error);
    } finally {
      forget?.();
      this.#over(line, call);
    }
  }

  /** Ends what is under way. */
  close(): void {
    this.#isClosed = true;
    const line = this.#line;
    if (line === undefined) return;
    this.#line = undefined;
    ended(line.client);
  }

  #ready(): Line | undefined {
    const line = this.#line;
    if (line === undefined || line.client.isReady) return line;
    this.#retire(line);
    return undefined;
  }

  /** What gave no answer for so long may never give one: a machine that is gone says nothing. */
  #gaveUp(line: Line, call: object): void {
    this.#retire(line);
    this.#over(line, call);
  }

  #over(line: Line, call: object): void {
    line.waiting.delete(call);
    if (line !== this.#line && line.waiting.size === 0) ended(line.client);
  }

  #retire(line: Line): void {
    if (this.#line === line) this.#line = undefined;
    if (line.waiting.size === 0) ended(line.client);
  }

  #connected(): Promise<Line> {
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #connect(): Promise<Line> {
    const client = await connected(this.#url, this.#timeout);
    const line = { client, waiting: new Set<object>() };
    // Nobody waited for it any more.
    if (this.#isClosed) ended(client);
    else this.#line = line;
    return line;
  }
}

/** What is used of node-redis. */
export interface Client extends RedisCommands {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  destroy(): void;
}

/**
 * A connection that keeps no process alive, and is not made anew when it is gone: then `onGone` is called, maybe more than once.
 * Throws ConnectionFailure when there is none within so many milliseconds; SluiceError E_MISUSE where there is no package.
 */
export async function connected(url: string, timeout: number, onGone: () => void = () => undefined): Promise<Client> {
  const { createClient } = await installed();
  const client = createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    socket: { connectTimeout: timeout, reconnectStrategy: false },
  });
  // Whoever waits for an answer is told; without a listener it would end the process.
  client.on("error", onGone);
  try {
    await untilLate(() => greeted(client), { most: timeout, late: noGreeting, signal: undefined });
  } catch (error) {
    ended(client);
    throw error instanceof ConnectionFailure ? error : new ConnectionFailure(false, error);
  }
  client.unref();
  return client;
}

/** Ends a connection, whatever became of it. */
export function ended(client: Client): void {
  // Some versions refuse to destroy what has failed.
  if (client.isOpen) client.destroy();
}

/** Connects. Who has to say a password first hears that now: of what is long a server breaks off without a word. */
async function greeted(client: Client & { connect(): Promise<unknown> }): Promise<void> {
  await client.connect();
  try {
    await client.sendCommand(["PING"]);
  } catch (error) {
    if (!isReply(error) || wantsPassword(error)) throw error;
  }
}

function noGreeting(): Error {
  return new ConnectionFailure(false, new Error("The server does not greet."));
}

async function installed() {
  try {
    return await import("@redis/client");
  } catch (error) {
    throw new SluiceError(
      "E_MISUSE",
      "A url needs the package @redis/client: install it, or give the store a client.",
      {},
      { cause: error },
    );
  }
}
