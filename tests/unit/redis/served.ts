/** Real Redis servers, for the tests of a file or for one, and stores over them. */
import { afterAll, beforeAll, expect, onTestFinished, vi } from "vitest";
import { RedisStateStore, type RedisStateStoreOptions } from "../../../web/src/planner/redis-state-store.js";
import { TestRedis } from "./redis-server.js";

/** What tests say to a server. */
export type Redis = Pick<TestRedis, "url" | "command" | "keys">;

/** One server for all tests of a file. */
export function useRedis(): Redis {
  let server: TestRedis | undefined;
  beforeAll(async () => {
    server = await TestRedis.started();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  const current = (): TestRedis => {
    if (server === undefined) throw new Error("It is used before it is there.");
    return server;
  };
  return {
    get url() {
      return current().url;
    },
    command: (...words) => current().command(...words),
    keys: () => current().keys(),
  };
}

/** A store for a test, with nothing in it. */
export async function opened(at: Redis, options: Partial<RedisStateStoreOptions> = {}): Promise<RedisStateStore> {
  const store = new RedisStateStore({ ...(options.client === undefined && { url: at.url }), ...options });
  onTestFinished(() => store[Symbol.asyncDispose]());
  await at.command("FLUSHALL");
  return store;
}

const BINDING = { trace_id: "trace", context_id: null, task_id: "task", agent_url: "https://a.test" };

/** Something in every room. */
export async function fill(store: RedisStateStore): Promise<void> {
  await store.savePlannerState("token", { secret: "hush" });
  await store.claimPlannerState("token", "somebody", 10);
  await store.saveOAuthState("state", "verifier", 10);
  await store.saveEvent("trace", { kind: "a" });
  await store.saveRemoteBinding(BINDING);
}

/** A server of one test. */
export async function another(...options: readonly string[]): Promise<TestRedis> {
  const server = await TestRedis.started(...options);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

/** What a store with little patience gives, however busy this machine is. */
export function inTime<T>(work: () => Promise<T>): Promise<T> {
  return vi.waitFor(work);
}

/** An error with this code. */
export const coded = (code: string): object => expect.objectContaining({ name: "SluiceError", code }) as object;
