/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The state of `sluice serve` in a Redis server that several processes share. For Node; `@redis/client` has to be installed beside
 * this package.
 *
 * @example
 * ```ts
 * const state = redisState({ url: "rediss://:password@redis.example:6380", secret });
 * const server = new SluiceServer({ store, state, secret, authenticate });
 * ```
 * @module mcp-sluice/serve/redis
 */
export { redisState } from "./server/redis/state.js";
export type { RedisStateOptions } from "./server/redis/state.js";
