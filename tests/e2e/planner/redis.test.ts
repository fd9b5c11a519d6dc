/** Runs that wait in Redis, while processes are killed, and Redis too. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { DURABLE, TestRedis } from "../../unit/redis/redis-server.js";
import { Agent, bundledAgent } from "./agent.js";
import { LEASE_IS_OVER, waiting, worldOf, type World } from "./world.js";
import { goesOnAfterDeath, isTakenOver, oneGoesOn } from "./scenarios.js";
import { isFull } from "../../support/full.js";

let program: Awaited<ReturnType<typeof bundledAgent>>;
beforeAll(async () => {
  program = await bundledAgent();
});
afterAll(() => program.dispose());

/** `timeoutSeconds`: for how long agents wait for Redis. */
async function world(timeoutSeconds = 20): Promise<World & { readonly server: TestRedis }> {
  const server = await TestRedis.started(...DURABLE);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { ...(await worldOf(program.path, { url: server.url, timeoutSeconds })), server };
}

test.runIf(isFull)(
  "a run goes on in another process when its own was killed, before it and in the middle of it",
  async () => {
    const here = await world();
    const token = await waiting(here);
    await goesOnAfterDeath(here, token);
    expect(await here.server.keys()).toEqual([]);
  },
);

test.runIf(isFull)(
  "a run that is kept by a name is taken over behind the last step that was done, and is gone when it is over",
  async () => {
    const here = await world();
    await isTakenOver(here);
    expect(await here.server.keys()).toEqual([]);
  },
);

test.runIf(isFull)("of several processes that go on with a run at the same time, one does", async () => {
  const here = await world();
  const token = await waiting(here);
  expect(await oneGoesOn(here, token)).toBe(1);
});

test.runIf(isFull)(
  "a run outlives Redis, killed while it waits and killed while it goes on, and is gone when it is done",
  async () => {
    const here = await world();
    const token = await waiting(here);
    await here.server.kill();
    await using agent = new Agent(here, ["resume", token, "yes"]);
    await here.server.start();
    await here.sending(1);
    await here.server.kill();
    here.sent[0]?.answer("sent");
    await here.server.start();
    expect(await agent.printed).toMatchObject({ kind: "result", answer: '"yes" "sent"' });
    await using late = new Agent(here, ["resume", token, "yes"], LEASE_IS_OVER);
    expect(await late.printed).toMatchObject({ kind: "error", code: "E_NOT_FOUND" });
    expect([here.written(), here.sent.length]).toEqual([1, 1]);
    expect(await here.server.keys()).toEqual([]);
  },
);

test.runIf(isFull)(
  "where Redis stays away a run fails with a coded error; one that waited goes on later, once",
  async () => {
    const here = await world(1);
    const token = await waiting(here);
    await using agent = new Agent(here, ["resume", token, "yes"]);
    await here.sending(1);
    await here.server.kill();
    here.sent[0]?.answer("sent");
    expect(await agent.printed).toMatchObject({ kind: "error", code: expect.stringMatching(/^E_STORE_(READ|WRITE)$/) });
    await using unkept = new Agent(here, ["run"]);
    expect(await unkept.printed).toMatchObject({ kind: "error", code: "E_STORE_WRITE" });
    await here.server.start();

    await using again = new Agent(here, ["resume", token, "again"], LEASE_IS_OVER);
    await here.sending(2);
    await using other = new Agent(here, ["resume", token, "other"], LEASE_IS_OVER);
    expect(await other.printed).toMatchObject({ kind: "error", code: "E_NOT_FOUND" });
    here.sent[1]?.answer("sent");
    expect(await again.printed).toMatchObject({ kind: "result", answer: '"again" "sent"' });
    expect(here.sent).toHaveLength(2);
    expect(await here.server.keys()).toEqual([]);
  },
);
