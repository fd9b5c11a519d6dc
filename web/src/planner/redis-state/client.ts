/**
 * Connections to a Redis server, by the package that the host installs beside this one.
 * @module
 */
import { untilLate } from "../../core/abort.js";
import { SluiceError } from "../../errors/error.js";
import { ConnectionFailure, isReply, wantsPassword } from "./failures.js";
import type { RedisCommands } from "./options.js";

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
export async function connected(url: string, timeout: number, onGone: () => void = nobody): Promise<Client> {
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

function nobody(): void {
  return undefined;
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
