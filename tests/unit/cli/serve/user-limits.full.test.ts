/** Two processes of `sluice serve` over one folder and one Redis server: what one user may have, they may have once. */
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { noise } from "../../artifacts/bytes.js";
import { TestRedis } from "../../redis/redis-server.js";
import { CHANGING } from "../../server/sources/serving.js";
import { Telling } from "../../server/sources/told.js";
import { SECRET } from "../../server/redis/secret.js";
import { Room } from "../command.js";
import { begin, EVERYTHING, initialized, posted, serve, withWord, type Served, type Session } from "./serving.js";

type Use = Readonly<Record<string, { readonly used: number; readonly limit: number }>>;

const useOf = async ({ ask }: Session): Promise<Use> => ((await (await ask("usage")).json()) as { limits: Use }).limits;
const put = async ({ ask }: Session, bytes: number, seed: number, path = "artifacts"): Promise<number> => {
  const answer = await ask(path, { method: "POST", body: noise(bytes, seed) });
  await answer.text();
  return answer.status;
};
const as = (user: string): Readonly<Record<string, string>> => ({ "x-user": user });
const PATIENCE = { timeout: 120_000 };

describe("two processes", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await TestRedis.started();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  /** Two that share all there is to share, until the test is over. */
  async function two(user_limits: object, more: object = {}): Promise<readonly [Served, Served]> {
    await redis.command("FLUSHALL");
    const room = await Room.open();
    onTestFinished(() => room[Symbol.asyncDispose]());
    const said = { user_limits, auth: { header: { user: "x-user" } }, ...more };
    const config = await room.write("serve.json", JSON.stringify(said));
    const words = ["--config", config, "--store", room.store, "--state", redis.url];
    const started = async (): Promise<Served> => {
      const process = await serve(words, { SLUICE_SERVE_SECRET: SECRET });
      onTestFinished(() => process[Symbol.asyncDispose]());
      return process;
    };
    return [await started(), await started()];
  }

  test("a user at a limit in one is refused in the other, and another user is not affected", PATIENCE, async () => {
    const [one, other] = await two({
      sessions: 2,
      artifact_bytes: 1_000_000,
      file_bytes: 500_000,
      requests_per_day: 40,
    });
    const [here, there] = [await begin(one.url, as("ada")), await begin(other.url, as("ada"))];
    await expect(begin(one.url, as("ada"))).rejects.toThrow(/429.*You have 2 of 2 living sessions/);
    await expect(begin(other.url, as("ada"))).rejects.toThrow(/429/);
    expect([await put(here, 700_000, 1), await put(there, 300_001, 2), await put(there, 300_000, 3)]).toEqual([
      201, 507, 201,
    ]);
    expect(await put(here, 1, 4)).toBe(507);
    expect(await put(here, 400_000, 1, "files?filename=a")).toBe(201);
    expect(await put(there, 100_001, 1, "files?filename=b")).toBe(507);
    for (const session of [here, there]) {
      expect(await useOf(session)).toMatchObject({
        sessions: { used: 2 },
        artifact_bytes: { used: 1_000_000 },
        file_bytes: { used: 400_000 },
      });
    }
    // Told in both, whichever it happened in.
    for (const session of [here, there]) {
      const telling = new Telling(await session.ask("events"));
      const reached = [await telling.next("limit_reached"), await telling.next("limit_reached")];
      expect(reached.map((told) => told?.["limit"])).toEqual(["sessions", "artifact_bytes"]);
      await telling[Symbol.asyncDispose]();
    }
    const eve = await begin(other.url, as("eve"));
    expect(await put(eve, 900_000, 1)).toBe(201);
    // What is deleted in one may be stored in the other.
    expect((await here.ask("sessions/current", { method: "DELETE" })).status).toBe(200);
    await vi.waitFor(async () => expect(await put(there, 700_000, 5)).toBe(201), { timeout: 9000, interval: 1000 });
    let last = 200;
    for (let at = 0; at < 40 && last !== 429; at++) last = (await there.ask("sources")).status;
    expect(last).toBe(429);
    expect((await eve.ask("sources")).status).toBe(200);
  });

  test("uploads race at the border: no byte is stored beyond, and all that fits can be", PATIENCE, async () => {
    const [one, other] = await two({ artifact_bytes: 1_000_000 });
    const sessions = [await begin(one.url, as("ada")), await begin(other.url, as("ada"))];
    const racing = Array.from({ length: 24 }, (_, at) => put(sessions[at % 2] as Session, 100_000, at));
    const statuses = await Promise.all(racing);
    expect(new Set(statuses)).toEqual(new Set([201, 507]));
    let stored = statuses.filter((status) => status === 201).length;
    // Of what others store in the very moment, some may be counted twice, and one that fits be refused.
    expect(stored).toBeGreaterThanOrEqual(8);
    expect(stored).toBeLessThanOrEqual(10);
    for (let seed = 100; stored < 10; seed++) {
      await sleep(1500);
      if ((await put(sessions[seed % 2] as Session, 100_000, seed)) === 201) stored += 1;
    }
    for (const session of sessions) expect(await put(session, 1, 200)).toBe(507);
    // What was read while others stored is read again within seconds.
    const used = async (): Promise<unknown> =>
      Promise.all(sessions.map(async (session) => (await useOf(session))["artifact_bytes"]?.used));
    await vi.waitFor(async () => expect(await used()).toEqual([1_000_000, 1_000_000]), {
      timeout: 20_000,
      interval: 500,
    });
  });

  test("kill -9 in the middle gives back what was reserved, and what was stored still counts", PATIENCE, async () => {
    const [one, other] = await two({ artifact_bytes: 1_000_000, programs: 1, runs: 1 }, { sources: sourcesOf() });
    const [here, there] = [await begin(one.url, as("ada")), await begin(other.url, as("ada"))];
    expect(await put(here, 100_000, 1)).toBe(201);
    // An upload that goes on and on, and a program.
    const body = new ReadableStream({ start: (controller) => controller.enqueue(noise(800_000, 2)) });
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    const uploading = here.ask("artifacts", init).then(
      () => "answered",
      () => "broken off",
    );
    expect(await pid(here)).toBe(200);
    await vi.waitFor(async () => expect((await useOf(there))["artifact_bytes"]?.used).toBeGreaterThanOrEqual(900_000));
    expect(await put(there, 200_000, 3)).toBe(507);
    expect(await pid(there)).toBe(429);
    const killed = Date.now();
    await one.end("SIGKILL");
    expect(await uploading).toBe("broken off");
    // Nobody renews the leases, so they end.
    await vi.waitFor(async () => expect((await useOf(there))["artifact_bytes"]?.used).toBe(100_000), {
      timeout: 60_000,
      interval: 500,
    });
    expect(Date.now() - killed).toBeLessThan(45_000);
    expect([await put(there, 900_000, 4), await put(there, 1, 5)]).toEqual([201, 507]);
    expect(await pid(there)).toBe(200);
  });

  test("one that ends as it should gives back at once what it held", PATIENCE, async () => {
    const [one, other] = await two({ programs: 1 }, { sources: sourcesOf() });
    const [here, there] = [await begin(one.url, as("ada")), await begin(other.url, as("ada"))];
    expect([await pid(here), await pid(there)]).toEqual([200, 429]);
    await one.end("SIGTERM");
    expect(await useOf(there)).toEqual({ programs: { used: 0, limit: 1 } });
    expect(await pid(there)).toBe(200);
  });

  test(
    "a program that an MCP client of the user started is one of the user, in whichever process it is",
    PATIENCE,
    async () => {
      const mark = `limited-${crypto.randomUUID()}`;
      const connection = [...EVERYTHING, "stdio", mark].join(" ");
      const everything = { name: "everything", transport: "mcp", connection, user_files: true };
      const [one, other] = await two({ programs: 1 }, { sources: [everything] });
      const [here, there] = [await begin(one.url, as("ada")), await begin(other.url, as("ada"))];
      const headers = await initialized(here, "everything");
      const list = { id: 1, method: "tools/list" };
      expect(await (await posted(here, "everything", list, headers)).text()).toContain("get-tiny-image");
      expect(await withWord(mark)).toBe(1);
      const over = await initialized(there, "everything");
      const refused = await posted(there, "everything", list, over);
      expect(await refused.text()).toContain("You have 1 of 1 running programs");
      expect(await withWord(mark)).toBe(1);
      // It ends with the user's last session, where that ends in the same process.
      for (const session of [there, here]) await session.ask("sessions/current", { method: "DELETE" });
      const later = await begin(other.url, as("ada"));
      await vi.waitFor(async () => expect((await useOf(later))["programs"]?.used).toBe(0));
      const now = await initialized(later, "everything");
      expect(await (await posted(later, "everything", list, now)).text()).toContain("get-tiny-image");
    },
  );

  test("tokens of a model that a real client asks are counted over both", PATIENCE, async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      const chunk = {
        choices: [{ delta: { content: "Hello." }, finish_reason: "stop" }],
        usage: { prompt_tokens: 400, completion_tokens: 200 },
      };
      response.setHeader("content-type", "text/event-stream");
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const [one, other] = await two({ tokens_per_day: 1000 }, { model: { name: "m", url } });
    const sessions = [await begin(one.url, as("ada")), await begin(other.url, as("ada"))];
    const ask = ({ ask: asking }: Session): Promise<Response> =>
      asking("chat", { method: "POST", headers: { "content-type": "application/json" }, body: '{"query":"Hi."}' });
    for (const session of sessions) {
      const told = await new Telling(await ask(session)).rest();
      expect(told.at(-1)).toMatchObject({ kind: "result", outcome: "answered" });
    }
    for (const session of sessions) expect((await ask(session)).status).toBe(429);
    expect(asked).toBe(2);
    expect((await useOf(sessions[0] as Session))["tokens_per_day"]).toMatchObject({ used: 1200, limit: 1000 });
    expect((await ask(await begin(one.url, as("eve")))).status).toBe(200);
  });

  test("while Redis is away nothing is granted, and afterwards what was used is known", PATIENCE, async () => {
    const [one] = await two({ artifact_bytes: 1_000_000 });
    const here = await begin(one.url, as("ada"));
    expect(await put(here, 600_000, 1)).toBe(201);
    redis.signal("SIGSTOP");
    expect(await put(here, 100_000, 2)).toBe(503);
    redis.signal("SIGCONT");
    await vi.waitFor(async () => expect(await put(here, 400_000, 3)).toBe(201), { timeout: 30_000, interval: 500 });
    expect(await put(here, 1, 4)).toBe(507);
  });
});

function sourcesOf(): readonly object[] {
  return [{ name: "own", transport: "mcp", connection: CHANGING, user_files: true }];
}

async function pid({ ask }: Session): Promise<number> {
  const answer = await ask("tools/own.pid", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: '{"args":{}}',
  });
  await answer.text();
  return answer.status;
}
