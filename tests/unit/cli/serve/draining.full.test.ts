/** The end of `sluice serve` while it is used: balancers notice, listeners are told, what runs has a limit. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { Agent, request, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { TestRedis } from "../../redis/redis-server.js";
import { Room } from "../command.js";
import { Balancer } from "./balancer.js";
import { begin, EVERYTHING, serve, stored, type Served, type Session } from "./serving.js";

const LONG = { timeout: 60_000 };
const SLOW = "tools/everything.trigger-long-running-operation";

const portOf = ({ url }: { readonly url: string }): number => Number(new URL(url).port);
const saying = (server: Served, text: string): Promise<void> => vi.waitFor(() => expect(server.said()).toContain(text));
const ready = async ({ url }: { readonly url: string }): Promise<[number, unknown]> => {
  const answer = await fetch(`${url}ready`);
  return [answer.status, await answer.json()];
};

/** A call that tells its progress as events, for so many seconds. */
const called = ({ ask }: Session, seconds: number): Promise<Response> =>
  ask(SLOW, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ args: { duration: seconds, steps: seconds * 2 } }),
  });

/** An upload that has begun: its head, and some of its bytes. */
async function uploading(server: Served, session: Session, length: number, first: Uint8Array): Promise<Socket> {
  const socket = connect({ port: portOf(server), host: "127.0.0.1" });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const lines = ["POST /artifacts HTTP/1.1", `Host: 127.0.0.1:${portOf(server)}`, `Content-Length: ${length}`];
  const own = [`Authorization: ${session.headers["authorization"]}`, "Content-Type: application/octet-stream"];
  socket.write(`${[...lines, ...own].join("\r\n")}\r\n\r\n`);
  socket.write(first);
  return socket;
}

/** A download of which nothing is read. */
async function downloading(server: Served, session: Session, id: string): Promise<Socket> {
  const socket = connect({ port: portOf(server), host: "127.0.0.1" });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.pause();
  const own = `Host: 127.0.0.1:${portOf(server)}\r\nAuthorization: ${session.headers["authorization"]}\r\n\r\n`;
  socket.write(`GET /artifacts/${id} HTTP/1.1\r\n${own}`);
  return socket;
}

describe("SIGTERM", LONG, () => {
  test("fails ready first, serves on, tells listeners, and lets everything finish that was begun", async () => {
    const args = ["--drain-seconds", "3", "--grace-seconds", "20", "--", ...EVERYTHING];
    const server = await serve(args);
    onTestFinished(() => server[Symbol.asyncDispose]());
    const session = await begin(server.url);
    const bytes = randomBytes(30_000_000);
    const id = await stored(session, bytes);
    const listening = (await session.ask("events")).text();
    const download = await downloading(server, session, id);
    const upload = await uploading(server, session, 2_000_000, randomBytes(1_000_000));
    const call = (await called(session, 6)).text();
    await sleep(500);

    const ended = server.end("SIGTERM");
    await saying(server, "ready fails for 3 s");
    expect(await ready(server)).toEqual([503, { status: "closing" }]);
    expect((await fetch(`${server.url}health`)).status).toBe(200);
    const other = await begin(server.url);
    const answer = await other.ask("artifacts");
    expect([answer.status, answer.headers.get("connection")]).toEqual([200, "close"]);

    const told = await listening;
    expect(server.said()).not.toContain("were ended");
    expect(told).toMatch(/\nretry: \d{4}\nevent: closing\ndata: \{"kind":"closing"\}\n\n$/);
    await saying(server, "running requests have 20 s");
    await expect(fetch(`${server.url}health`)).rejects.toThrow("fetch failed");
    await saying(server, "waiting for");

    let size = 0;
    download.on("data", (piece: Buffer) => (size += piece.byteLength)).resume();
    let answered = "";
    upload.on("data", (piece: Buffer) => (answered += piece.toString("latin1")));
    upload.write(randomBytes(1_000_000));
    expect(await call).toMatch(/event: result\ndata: [^\n]+\n\n$/);
    expect(await ended).toEqual([143, null]);
    expect(size).toBeGreaterThan(bytes.byteLength);
    expect(answered).toMatch(/^HTTP\/1\.1 201 /);
    expect(server.said()).not.toContain("were ended");
  });

  test("waits no longer than the limit, tells calls, and says what it ended", async () => {
    const server = await serve(["--grace-seconds", "3", "--", ...EVERYTHING]);
    onTestFinished(() => server[Symbol.asyncDispose]());
    const session = await begin(server.url);
    const id = await stored(session, randomBytes(40_000_000));
    await downloading(server, session, id);
    await uploading(server, session, 2_000_000, randomBytes(1000));
    const call = (await called(session, 120)).text();
    await sleep(500);
    const begun = performance.now();
    expect(await server.end("SIGTERM")).toEqual([143, null]);
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(await call).toMatch(/event: failed\ndata: \{"kind":"failed","error":\{"code":"E_STORE_CLOSED"[^\n]+\n\n$/);
    const left = "1 upload, 1 download and 1 streamed call";
    expect(server.said()).toContain(`stopping: waiting for ${left}\n`);
    expect(server.said()).toContain(`stopped: after 3 s there were still ${left}, which were ended\n`);
  });

  test("that comes again skips the time for balancers, and ends all at once when it comes once more", async () => {
    const server = await serve(["--drain-seconds", "600", "--grace-seconds", "600"]);
    onTestFinished(() => server[Symbol.asyncDispose]());
    const session = await begin(server.url);
    await downloading(server, session, await stored(session, randomBytes(40_000_000)));
    server.process.kill("SIGTERM");
    await saying(server, "ready fails for 600 s");
    expect((await ready(server))[0]).toBe(503);
    server.process.kill("SIGTERM");
    await saying(server, "running requests have 600 s; one more signal");
    expect(await server.end("SIGTERM")).toEqual([null, "SIGTERM"]);
  });

  test.each([
    ["--drain-seconds", "soon"],
    ["--grace-seconds", "-1"],
    ["--grace-seconds", "3601"],
  ])("%s %s is refused", async (option, value) => {
    await expect(serve([option, value])).rejects.toThrow(`${option} must be a number of seconds from 0 to 3600`);
  });
});

describe("behind a balancer", LONG, () => {
  /** Asks without a pause, on connections that are kept, until it is told to end. Gives how many requests, and those that failed. */
  async function asking(url: string, headers: Readonly<Record<string, string>>, over: () => boolean): Promise<Asked> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const asked: Asked = { requests: 0, failures: [] };
    for (let turn = 0; !over(); turn++) {
      asked.requests += 1;
      const isUpload = turn % 3 === 0;
      try {
        const sent = request(`${url}artifacts`, { agent, method: isUpload ? "POST" : "GET", headers });
        sent.end(isUpload ? randomBytes(20_000) : undefined);
        const [answer] = (await once(sent, "response")) as [IncomingMessage];
        answer.resume();
        await once(answer, "end");
        if (answer.statusCode !== (isUpload ? 201 : 200)) asked.failures.push(String(answer.statusCode));
      } catch (error) {
        asked.failures.push(String(error));
      }
      await sleep(5);
    }
    agent.destroy();
    return asked;
  }

  interface Asked {
    requests: number;
    readonly failures: string[];
  }

  test("one of two processes is replaced under load, and not one request fails", async () => {
    await using room = await Room.open();
    await using redis = await TestRedis.started();
    const limits = { requests_per_minute: 1_000_000, concurrent_requests: 1000 };
    const file = await room.write("serve.json", JSON.stringify({ limits, grace_seconds: 20, drain_seconds: 2 }));
    const args = ["--config", file, "--state", redis.url, "--store", room.store];
    const env = { SLUICE_SERVE_SECRET: "s".repeat(40) };
    const first = await serve(args, env);
    const second = await serve(args, env);
    onTestFinished(() => first[Symbol.asyncDispose]());
    onTestFinished(() => second[Symbol.asyncDispose]());
    const { balancer, url } = await Balancer.before(portOf(first), portOf(second));
    expect(balancer.ready).toHaveLength(2);
    const session = await begin(url);
    let isOver = false;
    const clients = Array.from({ length: 8 }, () => asking(url, session.headers, () => isOver));
    const listening = (await session.ask("events")).text();
    await sleep(1000);

    expect(await first.end("SIGTERM")).toEqual([143, null]);
    expect(balancer.ready).toEqual([portOf(second)]);
    const third = await serve([...args, "--listen", `127.0.0.1:${portOf(first)}`], env);
    onTestFinished(() => third[Symbol.asyncDispose]());
    await vi.waitFor(() => expect(balancer.ready).toHaveLength(2));
    expect(await second.end("SIGTERM")).toEqual([143, null]);
    await sleep(500);
    isOver = true;

    const asked = await Promise.all(clients);
    expect(asked.flatMap(({ failures }) => failures)).toEqual([]);
    const requests = asked.reduce((sum, each) => sum + each.requests, 0);
    expect(requests).toBeGreaterThan(200);
    // Whichever of the two it was at said so.
    expect(await listening).toMatch(/event: closing\ndata: \{"kind":"closing"\}\n\n$/);
    const kept = await session.ask("artifacts?limit=1");
    expect(kept.status).toBe(200);
  });
});
