/**
 * Options of Redis servers, and their checks.
 * @module
 */
import { wrong } from "../errors/arguments.js";

/**
 * What a store needs of a client: `createClient` and `createClientPool` of node-redis give one, and so is whatever sends a
 * command and gives its reply. Clients of clusters and sentinels want more words:
 *
 * ```ts
 * const ofCluster: RedisCommands = {
 *   sendCommand: (command, options) => cluster.sendCommand(command[3], false, command, options),
 * };
 * const ofSentinel: RedisCommands = { sendCommand: (command, options) => sentinel.sendCommand(false, command, options) };
 * ```
 *
 * (The word behind a script's name and the number of its keys is its first key.)
 */
export interface RedisCommands {
  /**
   * Sends a command and returns its reply, with strings as strings. Rejects with an error whose message is the
   * server's. `abortSignal`: the caller stopped waiting, and what was not sent yet must not be.
   */
  sendCommand(
    command: string[],
    options?: {
      /** Aborted when the store has waited long enough. */
      abortSignal?: AbortSignal;
    },
  ): Promise<unknown>;
}

/** Which server to use. Give either `url` or `client`. */
export interface RedisOptions {
  /**
   * The server: `redis://user:password@host:port/database`, `rediss://…` for TLS, `unix:///path?db=database`. Install
   * the package `@redis/client` next to this one.
   */
  readonly url?: string;
  /** Your own client, which you connect and close: for certificates, a pool, a cluster or sentinels (see there). */
  readonly client?: RedisCommands;
  /**
   * The prefix of all keys, in braces: 1 to 64 characters without braces.
   * @defaultValue `sluice`
   */
  readonly prefix?: string;
  /**
   * Seconds until a server that does not answer is given up.
   * @defaultValue `10`
   */
  readonly timeoutSeconds?: number;
}

const MAX_PREFIX = 64;
const TIMEOUT_SECONDS = 10;
/** Less than a timer's maximum. */
const MAX_TIMEOUT_SECONDS = 24 * 60 * 60;
/** A socket's URL, and its query. */
const SOCKET = /^unix:\/\/(?:[^:@/]*(?::[^@/]*)?@)?\/[^?#]+(?:\?([^#]*))?(?:#.*)?$/;
const WRAPPED =
  "an object whose sendCommand takes a command and options: of a cluster give " +
  "{ sendCommand: (command, options) => cluster.sendCommand(command[3], false, command, options) }, " +
  "of sentinels { sendCommand: (command, options) => sentinel.sendCommand(false, command, options) }";
const SCHEMES: ReadonlySet<string> = new Set(["redis:", "rediss:"]);

/** Checks options. Throws SluiceError E_INVALID_ARGUMENT, without any part of the URL. */
export function checkRedisOptions(options: RedisOptions): {
  /** The URL, or the client. */
  readonly server: string | RedisCommands;
  /** The prefix of all keys. */
  readonly stem: string;
  /** Milliseconds. */
  readonly timeout: number;
} {
  const { url, client, prefix = "sluice", timeoutSeconds = TIMEOUT_SECONDS } = options;
  if ((url === undefined) === (client === undefined)) throw wrong("url", "given without client, or left out beside it");
  if (typeof prefix !== "string" || !/^[^{}]+$/.test(prefix) || prefix.length > MAX_PREFIX) {
    throw wrong("prefix", `a string of 1 to ${MAX_PREFIX} characters without braces`);
  }
  if (!(timeoutSeconds > 0 && timeoutSeconds <= MAX_TIMEOUT_SECONDS)) {
    throw wrong("timeoutSeconds", `a number above 0, and at most ${MAX_TIMEOUT_SECONDS}`);
  }
  const server = client === undefined ? checkUrl(url) : checkClient(client);
  return { server, stem: `{${prefix}}`, timeout: Math.ceil(timeoutSeconds * 1000) };
}

function checkClient(client: Partial<RedisCommands> | null): RedisCommands {
  if (typeof client?.sendCommand !== "function") throw wrong("client", "an object with sendCommand");
  // The command is not its first parameter.
  if (client.sendCommand.length > 2) throw wrong("client", WRAPPED);
  return client as RedisCommands;
}

function checkUrl(url: unknown): string {
  if (typeof url === "string" && isDecodable(url) && (isSocket(url) || isOverNetwork(url))) return url;
  throw wrong("url", "redis://host, rediss://host or unix:///path?db=number");
}

/** Whether its percent-encoding is valid. */
function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

function isSocket(url: string): boolean {
  const found = SOCKET.exec(url);
  return found !== null && /^\d*$/.test(new URLSearchParams(found[1]).get("db") ?? "");
}

function isOverNetwork(url: string): boolean {
  try {
    const { protocol, hostname, pathname } = new URL(url);
    return SCHEMES.has(protocol) && hostname !== "" && /^\/?\d*$/.test(pathname);
  } catch {
    return false;
  }
}
