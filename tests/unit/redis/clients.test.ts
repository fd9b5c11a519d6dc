/** Clients of the host's, of all shapes. */
import { createClientPool, createCluster, createSentinel } from "@redis/client";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { RedisStateStore } from "../../../web/src/planner/redis-state-store.js";
import type { RedisCommands } from "../../../web/src/redis/options.js";
import { TestRedis } from "./redis-server.js";

let redis: TestRedis;
beforeAll(async () => {
  redis = await TestRedis.started();
});
afterAll(() => redis[Symbol.asyncDispose]());
afterEach(() => redis.command("FLUSHALL"));

test("a pool is a client", async () => {
  const client = createClientPool({ url: redis.url });
  await client.connect();
  onTestFinished(() => client.destroy());
  await using store = new RedisStateStore({ client });
  await store.saveOAuthState("state", "verifier", 10);
  expect(await store.takeOAuthState("state")).toBe("verifier");
});

test.each([
  ["a cluster", createCluster({ rootNodes: [] })],
  ["sentinels", createSentinel({ name: "any", sentinelRootNodes: [] })],
])("that of %s is refused as it is, and the remedy is in the sentence", (_, client) => {
  expect(() => new RedisStateStore({ client: client as unknown as RedisCommands })).toThrow(
    expect.objectContaining({
      code: "E_INVALID_ARGUMENT",
      path: "client",
      message: expect.stringMatching(/cluster\.sendCommand\(command\[3\], .*sentinel\.sendCommand\(false, /),
    }),
  );
});

/** A store whose client gives something else for the server's numbers. */
function giving(change: (reply: number) => unknown): RedisStateStore {
  return new RedisStateStore({
    client: {
      sendCommand: async (command) => {
        const reply: unknown = await redis.command(...command);
        return typeof reply === "number" ? change(reply) : reply;
      },
    },
  });
}

test.each([
  ["texts", String],
  ["large numbers", BigInt],
])("numbers that come as %s are understood", async (_, change: (reply: number) => unknown) => {
  await using store = giving(change);
  await store.savePlannerState("token", 1);
  expect(await store.claimPlannerState("token", "ada", 10)).toBe(true);
  expect(await store.claimPlannerState("token", "eve", 10)).toBe(false);
  expect(await store.releasePlannerState("token", "eve", "forget")).toBe(false);
  expect(await store.releasePlannerState("token", "ada", "forget")).toBe(true);
});

test.each([undefined, null, true, 2, "OK"])("%j in place of a number is told of", async (reply) => {
  await using store = giving(() => reply);
  for (const asked of [
    () => store.savePlannerState("token", 1),
    () => store.claimPlannerState("token", "ada", 10),
    () => store.releasePlannerState("token", "ada", "wait"),
    () => store.savePlannerState("token", null),
    () => store.saveEvent("trace", { kind: "a" }),
  ]) {
    await expect(asked()).rejects.toMatchObject({ code: "E_STORE_WRITE" });
  }
});
