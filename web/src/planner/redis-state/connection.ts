/**
 * A connection of the store's own: made when it is needed, and anew when it is gone.
 * @module
 */
import { onAbort, untilLate } from "../../core/abort.js";
import { SluiceError } from "../../errors/error.js";
import { ConnectionFailure, isReplica, isReply } from "./failures.js";
import type { RedisCommands } from "./options.js";

/** What is used of node-redis. */
interface Client extends RedisCommands {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  destroy(): void;
}

/** Speaks to one server. It keeps no process alive. */
export class OwnConnection implements RedisCommands {
  readonly #url: string;
  readonly #timeout: number;
  #client: Client | undefined;
  #connecting: Promise<Client> | undefined;
  #isClosed = false;

  /** `timeout`: milliseconds that connecting may take. */
  constructor(url: string, timeout: number) {
    this.#url = url;
    this.#timeout = timeout;
  }

  /** Throws what the server said, ConnectionFailure, SluiceError E_MISUSE where there is no package to connect with. */
  async sendCommand(command: string[], { abortSignal }: { abortSignal?: AbortSignal } = {}): Promise<unknown> {
    const client = await this.#ready();
    abortSignal?.throwIfAborted();
    // What gave no answer for so long may never give one: a machine that is gone says nothing.
    const forget = abortSignal && onAbort(abortSignal, () => this.#drop(client));
    try {
      return await client.sendCommand(command, { ...(abortSignal && { abortSignal }) });
    } catch (error) {
      // After a failover the same name may lead to another server.
      if (isReplica(error)) this.#drop(client);
      if (isReply(error)) throw error;
      throw new ConnectionFailure(true, error);
    } finally {
      forget?.();
    }
  }

  /** Ends what is under way. */
  close(): void {
    this.#isClosed = true;
    if (this.#client !== undefined) this.#drop(this.#client);
  }

  async #ready(): Promise<Client> {
    if (this.#client?.isReady === true) return this.#client;
    this.#connecting ??= this.#connected().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #connected(): Promise<Client> {
    const { createClient } = await installed();
    const client = createClient({
      url: this.#url,
      RESP: 2,
      disableOfflineQueue: true,
      disableClientInfo: true,
      socket: { connectTimeout: this.#timeout, reconnectStrategy: false },
    });
    // Told to whoever waits for an answer; without a listener it would end the process.
    client.on("error", () => undefined);
    try {
      await untilLate(() => client.connect(), { most: this.#timeout, late: noGreeting, signal: undefined });
    } catch (error) {
      this.#drop(client);
      throw error instanceof ConnectionFailure ? error : new ConnectionFailure(false, error);
    }
    client.unref();
    this.#client = client;
    // Nobody waited for it any more.
    if (this.#isClosed) this.#drop(client);
    return client;
  }

  #drop(client: Client): void {
    if (this.#client === client) this.#client = undefined;
    // Some versions refuse to destroy what has failed.
    if (client.isOpen) client.destroy();
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
