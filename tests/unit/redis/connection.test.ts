import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { OwnConnection } from "../../../web/src/redis/connection.js";
import { TestRedis } from "./redis-server.js";

let redis: TestRedis;
beforeAll(async () => {
  redis = await TestRedis.started();
});
afterAll(() => redis[Symbol.asyncDispose]());

const PATIENT = 60_000;

/** By the server's count, without the one who asks. */
async function connections(): Promise<number> {
  return (
    String(await redis.command("CLIENT", "LIST"))
      .trim()
      .split("\n").length - 1
  );
}

function connected(): OwnConnection {
  const connection = new OwnConnection(redis.url, PATIENT);
  onTestFinished(() => connection.close());
  return connection;
}

/** Lets what was begun be sent. */
const sent = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a call that is given up ends no other: what waits is answered, and what comes next has another connection", async () => {
  const connection = connected();
  const first = await connection.sendCommand(["CLIENT", "ID"]);
  const control = new AbortController();
  redis.signal("SIGSTOP");
  const given = connection.sendCommand(["ECHO", "given up"], { abortSignal: control.signal });
  given.catch(() => undefined);
  const waiting = connection.sendCommand(["ECHO", "waits"]);
  await sent();
  control.abort();
  const next = connection.sendCommand(["CLIENT", "ID"]);
  await sent();
  redis.signal("SIGCONT");
  expect(await waiting).toBe("waits");
  expect(await next).not.toBe(first);
  // Nobody waits for the first one any more.
  await vi.waitFor(async () => expect(await connections()).toBe(1), { timeout: 20_000 });
  expect(await connection.sendCommand(["CLIENT", "ID"])).toBe(await next);
});

test("one that all have given up is ended at once, though the server says nothing", async () => {
  const connection = connected();
  await connection.sendCommand(["PING"]);
  const controls = [new AbortController(), new AbortController()];
  redis.signal("SIGSTOP");
  const asked = Promise.allSettled(
    controls.map(({ signal }) => connection.sendCommand(["PING"], { abortSignal: signal })),
  );
  await sent();
  for (const control of controls) control.abort();
  const lost = { status: "rejected", reason: { isSent: true } };
  expect(await asked).toMatchObject([lost, lost]);
  redis.signal("SIGCONT");
  expect(await connection.sendCommand(["PING"])).toBe("PONG");
});

test("one that broke is replaced, and what waited for it is told", async () => {
  const connection = connected();
  const id = String(await connection.sendCommand(["CLIENT", "ID"]));
  const lost = connection.sendCommand(["BLPOP", "nothing", "0"]).catch((error: unknown) => error);
  await sent();
  await redis.command("CLIENT", "KILL", "ID", id);
  expect(await lost).toMatchObject({ isSent: true });
  expect(String(await connection.sendCommand(["CLIENT", "ID"]))).not.toBe(id);
});
