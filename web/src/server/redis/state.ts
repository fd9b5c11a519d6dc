/**
 * The state of `sluice serve` in a Redis server.
 * @module
 */
import { checkOptions, TEXT, type OptionTests } from "../../errors/arguments.js";
import { wrongOption } from "../options.js";
import { OwnConnection } from "../../redis/connection.js";
import { checkedOptions } from "../../redis/options.js";
import { RedisServer, RedisKeys } from "../../redis/server.js";
import { RedisStateStore } from "../../planner/redis-state-store.js";
import { MAX_RUNS, type ServeState } from "../state.js";
import { RedisEventLog } from "./event-log.js";
import { RedisRateLimit } from "./rate-limit.js";
import { RedisSessionRegister } from "./session-register.js";
import { RedisTokenStore } from "./token-store.js";

/** The server, and the secret that encrypts users' tokens. */
export interface RedisStateOptions {
  /**
   * The server: `redis://user:password@host:port/database`, `rediss://…` for TLS, `unix:///path?db=database`. Install
   * the package `@redis/client` next to this one.
   */
  readonly url: string;
  /** Encrypts tokens, at least 32 characters. All processes need the same one. */
  readonly secret: string;
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

const OPTIONS: OptionTests<RedisStateOptions> = {
  url: TEXT,
  secret: TEXT,
  prefix: TEXT,
  timeoutSeconds: ["a number", (value) => typeof value === "number"],
};

/**
 * State for all processes with the same server, prefix and secret. Each process makes two connections when needed,
 * for commands and for messages, and renews them.
 *
 * The state survives the server's end as far as the server writes it to disk: completely with `appendonly yes` and
 * `appendfsync always`. Everything expires when it is too old. A server with a `maxmemory-policy` other than
 * `noeviction` may drop sessions and runs. A user with limited rights needs scripts, the keys `~{sluice}*` and the
 * channel `&{sluice}*`.
 *
 * @throws SluiceError E_INVALID_ARGUMENT with the wrong option.
 *
 * @example
 * const state = redisState({ url: "redis://localhost:6379", secret });
 * const server = new SluiceServer({ store, state, secret, authenticate });
 * // When the process ends:
 * await server[Symbol.asyncDispose]();
 * await state[Symbol.asyncDispose]();
 */
export function redisState(options: RedisStateOptions): ServeState {
  checkOptions(options, OPTIONS, "redisState", wrongOption, ["url", "secret"]);
  const { url, secret, prefix, timeoutSeconds } = options;
  const given = { ...(prefix !== undefined && { prefix }), ...(timeoutSeconds !== undefined && { timeoutSeconds }) };
  const { stem, timeout } = checkedOptions({ url, ...given });
  const connection = new OwnConnection(url, timeout);
  const server = new RedisServer(connection, timeout);
  const keys = new RedisKeys(stem);
  const tokens = new RedisTokenStore({ server, keys, secret });
  const runs = new RedisStateStore({ client: connection, maxKept: MAX_RUNS, ...given });
  const events = new RedisEventLog({ server, keys, url, timeout });
  return {
    runs,
    tokens,
    sessions: new RedisSessionRegister({ server, keys }),
    events,
    rates: new RedisRateLimit({ server, keys }),
    isShared: true,
    async [Symbol.asyncDispose](): Promise<void> {
      await events[Symbol.asyncDispose]();
      await Promise.all([runs[Symbol.asyncDispose](), server.close()]);
      connection.close();
    },
  };
}
