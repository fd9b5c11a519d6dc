/** Processes of `sluice serve` over one folder and one Redis server: what is watched in one that is killed, another watches. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestRedis } from "../../redis/redis-server.js";
import { FIXTURE } from "../../server/sources/serving.js";
import { Telling } from "../../server/sources/told.js";
import { Room } from "../command.js";
import { begin, called, serve, type Served } from "./serving.js";

const WATCHED = "test://watched-resource";
const subscription = `resources/lab/${encodeURIComponent(WATCHED)}/subscription`;

let redis: TestRedis;
beforeAll(async () => {
  redis = await TestRedis.started();
});
afterAll(() => redis[Symbol.asyncDispose]());

test("a process that is killed takes no subscription with it: another tells, when the listener comes back", async () => {
  await using room = await Room.open();
  const sources = [{ name: "lab", transport: "mcp", connection: FIXTURE }];
  const config = await room.write("serve.json", JSON.stringify({ sources }));
  const start = (): Promise<Served> =>
    serve(["--config", config, "--store", room.store, "--state", redis.url], {
      SLUICE_SERVE_SECRET: "shared-by-all-processes-of-the-test",
    });
  await using one = await start();
  await using other = await start();
  const session = await begin(one.url);
  expect((await session.ask(subscription, { method: "PUT" })).status).toBe(204);
  const here = new Telling(await session.ask("events"));
  const update = here.next("resource_updated");
  // Asking the source takes a moment.
  await expect
    .poll(async () => {
      await called(session, "lab.touch", {});
      return Promise.race([update, Promise.resolve(null)]);
    })
    .toMatchObject({ uri: WATCHED });
  const rest = here.rest().catch(() => "broken off");
  await one.end("SIGKILL");
  expect(await rest).toBe("broken off");

  const headers = { ...session.headers, "last-event-id": here.lastId ?? "" };
  await using there = new Telling(await fetch(`${other.url}events`, { headers }));
  // What may have changed while nobody watched.
  expect(await there.next("resource_updated")).toMatchObject({ namespace: "lab", uri: WATCHED });
  const ask: typeof session.ask = (path, init = {}) =>
    fetch(`${other.url}${path}`, { ...init, headers: { ...(init.headers as object), ...session.headers } });
  await called({ ...session, ask }, "lab.touch", {});
  expect(await there.next("resource_updated")).toMatchObject({ namespace: "lab", uri: WATCHED });
});
