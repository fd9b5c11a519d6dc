/**
 * All state of `sluice serve` in one Redis server.
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

/** Which server, and what keeps users' tokens from whoever reads it. */
export interface RedisStateOptions {
  /**
   * The server: `redis://user:password@host:port/database`, `rediss://…` for TLS, `unix:///path?db=database`. The package
   * `@redis/client` has to be installed beside this one.
   */
  readonly url: string;
  /** What tokens are encrypted with, at least 32 characters: the same in all processes. */
  readonly secret: string;
  /**
   * What stands at the beginning of all keys, in braces; 1 to 64 characters without braces.
   * @defaultValue `sluice`
   */
  readonly prefix?: string;
  /**
   * Seconds until a server that gives no answer is given up.
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
 * State that all processes share which are given the same server, prefix and secret. Two connections for each process, made when
 * they are needed and anew when they are gone: for commands, and to hear what happens.
 *
 * What is kept outlives the server's own end as far as the server writes it to its disk: with `appendonly yes` and
 * `appendfsync always`, all of it. Everything goes by itself when it is too old; a server that throws away what it has no memory
 * for (`maxmemory-policy` other than `noeviction`) throws away sessions and runs. A user with rights of its own needs scripts,
 * the keys `~{sluice}*` and the channel `&{sluice}*`.
 *
 * @throws SluiceError E_INVALID_ARGUMENT that names the option that is wrong.
 *
 * @example
 * await using state = redisState({ url: "redis://localhost:6379", secret });
 * await using server = new SluiceServer({ store, state, secret, authenticate });
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
