/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The planner's runs that wait, on several machines that share a Redis server. For Node; `@redis/client` has to be installed
 * beside this package, unless the host has a client of its own.
 *
 * @example
 * ```ts
 * await using stateStore = new RedisStateStore({ url: "rediss://:password@redis.example:6380" });
 * const planner = new ReactPlanner({ catalog, llm, stateStore, artifactStore });
 * ```
 * @module mcp-sluice/planner/redis
 */
export { RedisStateStore } from "./planner/redis-state-store.js";
export type { RedisStateStoreOptions } from "./planner/redis-state-store.js";
