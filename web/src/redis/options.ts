/**
 * Which Redis server, and how it is spoken to.
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
   * Sends a command, and gives its reply: strings as strings. Rejects with an error whose message is what the server said.
   * `abortSignal` says that nobody waits for it any more: what was not sent by then must not be.
   */
  sendCommand(
    command: string[],
    options?: {
      /** Aborted when the store has waited for long enough. */
      abortSignal?: AbortSignal;
    },
  ): Promise<unknown>;
}

/** Which server. Either `url` or `client` is given. */
export interface RedisOptions {
  /**
   * The server: `redis://user:password@host:port/database`, `rediss://…` for TLS, `unix:///path?db=database`. The package
   * `@redis/client` has to be installed beside this one.
   */
  readonly url?: string;
  /** A client of the host's, who connects and closes it: for certificates, a pool, and, see there, a cluster and sentinels. */
  readonly client?: RedisCommands;
  /** What stands at the beginning of all keys, in braces; 1 to 64 characters without braces, `sluice` when left out. */
  readonly prefix?: string;
  /** Seconds until a server that gives no answer is given up; 10 when left out. */
  readonly timeoutSeconds?: number;
}

const MAX_PREFIX = 64;
const TIMEOUT_SECONDS = 10;
/** What a timer takes. */
const MAX_TIMEOUT_SECONDS = 24 * 60 * 60;
/** And its query. */
const SOCKET = /^unix:\/\/(?:[^:@/]*(?::[^@/]*)?@)?\/[^?#]+(?:\?([^#]*))?(?:#.*)?$/;
const WRAPPED =
  "an object whose sendCommand takes a command and options: of a cluster give " +
  "{ sendCommand: (command, options) => cluster.sendCommand(command[3], false, command, options) }, " +
  "of sentinels { sendCommand: (command, options) => sentinel.sendCommand(false, command, options) }";
const SCHEMES: ReadonlySet<string> = new Set(["redis:", "rediss:"]);

/** What is wanted, checked. Throws SluiceError E_INVALID_ARGUMENT, in which nothing of the url shows. */
export function checkedOptions(options: RedisOptions): {
  /** The server, or who speaks to it. */
  readonly server: string | RedisCommands;
  /** What all keys begin with. */
  readonly stem: string;
  /** Milliseconds. */
  readonly timeout: number;
} {
  const { url, client, prefix = "sluice", timeoutSeconds = TIMEOUT_SECONDS } = options;
  if ((url === undefined) === (client === undefined)) throw wrong("url", "given, or client, and not both");
  if (typeof prefix !== "string" || !/^[^{}]+$/.test(prefix) || prefix.length > MAX_PREFIX) {
    throw wrong("prefix", `a string of 1 to ${MAX_PREFIX} characters without braces`);
  }
  if (!(timeoutSeconds > 0 && timeoutSeconds <= MAX_TIMEOUT_SECONDS)) {
    throw wrong("timeoutSeconds", `a number above 0, and at most ${MAX_TIMEOUT_SECONDS}`);
  }
  const server = client === undefined ? checkedUrl(url) : checkedClient(client);
  return { server, stem: `{${prefix}}`, timeout: Math.ceil(timeoutSeconds * 1000) };
}

function checkedClient(client: Partial<RedisCommands> | null): RedisCommands {
  if (typeof client?.sendCommand !== "function") throw wrong("client", "an object with sendCommand");
  // What comes first there is no command.
  if (client.sendCommand.length > 2) throw wrong("client", WRAPPED);
  return client as RedisCommands;
}

function checkedUrl(url: unknown): string {
  if (typeof url === "string" && isDecodable(url) && (isSocket(url) || isOverNetwork(url))) return url;
  throw wrong("url", "redis://host, rediss://host or unix:///path?db=number");
}

/** Whatever of it is encoded. */
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
