/** Processes of `sluice serve` behind one port, over one bucket and one Redis server; any of them may die. */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { BUCKET, CREDENTIALS, TestS3 } from "../../artifacts/s3/ceph.js";
import { TestRedis } from "../../redis/redis-server.js";
import { FIXTURE } from "../../server/sources/serving.js";
import { Telling } from "../../server/sources/told.js";
import { Room } from "../command.js";
import { begin, called, EVERYTHING, serve, type Served, type Session, stored } from "./serving.js";

/** Passes connections on, to each port in turn; one that nobody listens at is left out. */
class Balancer implements AsyncDisposable {
  readonly #server = createServer((client) => this.#pass(client));
  readonly #ports: readonly number[];
  readonly #sockets = new Set<Socket>();
  #next = 0;
  /** The port that was connected to last. */
  last = 0;

  private constructor(ports: readonly number[]) {
    this.#ports = ports;
  }

  static async over(...urls: readonly string[]): Promise<Balancer> {
    const balancer = new Balancer(urls.map((url) => Number(new URL(url).port)));
    balancer.#server.listen(0, "127.0.0.1");
    await once(balancer.#server, "listening");
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(client: Socket, tries = this.#ports.length): void {
    const port = this.#ports[(this.#next += 1) % this.#ports.length] as number;
    const server = connect(port, "127.0.0.1");
    this.#sockets.add(client).add(server);
    client.on("error", () => server.destroy());
    server.once("connect", () => {
      this.last = port;
      server.on("close", () => client.destroy());
      client.on("close", () => server.destroy());
      client.pipe(server).pipe(client);
    });
    server.on("error", () => {
      if (server.connecting || server.bytesRead + server.bytesWritten === 0) {
        if (tries > 1) this.#pass(client, tries - 1);
        else client.destroy();
      } else {
        client.destroy();
      }
    });
  }
}

describe("several machines", () => {
  let s3: TestS3;
  let redis: TestRedis;

  beforeAll(async () => {
    [s3, redis] = await Promise.all([TestS3.started(), TestRedis.started()]);
  });

  afterAll(async () => {
    await Promise.all([s3[Symbol.asyncDispose](), redis[Symbol.asyncDispose]()]);
  });

  const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

  interface Machines extends AsyncDisposable {
    readonly servers: readonly [Served, Served];
    readonly balancer: Balancer;
    readonly prefix: string;
  }

  /** Two processes that share everything. */
  async function machines(): Promise<Machines> {
    const prefix = s3.prefix();
    await redis.command("FLUSHALL");
    const start = (): Promise<Served> =>
      serve(["--store", `s3://${BUCKET}/${prefix}`, "--state", redis.url, "--", ...EVERYTHING], {
        SLUICE_SERVE_SECRET: "shared-by-all-processes-of-the-test",
        AWS_ENDPOINT_URL_S3: s3.endpoint,
        AWS_REGION: "us-east-1",
        AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      });
    const servers = [await start(), await start()] as const;
    const balancer = await Balancer.over(servers[0].url, servers[1].url);
    return {
      servers,
      balancer,
      prefix,
      [Symbol.asyncDispose]: async () => {
        await balancer[Symbol.asyncDispose]();
        await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
      },
    };
  }

  /** An answer over a connection of its own, and the server that gives it. */
  async function answeredBy(
    { servers, balancer }: Machines,
    { headers }: Session,
    path: string,
  ): Promise<{ readonly answer: IncomingMessage; readonly by: Served }> {
    const sent = request(`${balancer.url}${path}`, { headers, agent: false });
    sent.end();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    return { answer, by: servers.find((server) => portOf(server) === balancer.last) as Served };
  }

  /** The body as text, as it comes. */
  function textOf({ body }: Response): ReadableStreamDefaultReader<string> {
    return (body as ReadableStream<BufferSource>).pipeThrough(new TextDecoderStream()).getReader();
  }

  /** What comes until that is enough. Throws with what came where the body ends before. */
  async function until(
    reader: ReadableStreamDefaultReader<string>,
    isEnough: (told: string) => boolean,
  ): Promise<string> {
    let told = "";
    while (!isEnough(told)) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`it ended too early: ${told}`);
      told += value;
    }
    return told;
  }

  const portOf = ({ url }: Served): number => Number(new URL(url).port);

  test("a download goes on where it broke off, byte for byte, when the process that served it is killed", async () => {
    await using shared = await machines();
    const session = await begin(shared.balancer.url);
    const bytes = randomBytes(40_000_000);
    const id = await stored(session, bytes);
    const { answer, by } = await answeredBy(shared, session, `artifacts/${id}`);
    const tag = String(answer.headers.etag);
    const pieces: Uint8Array[] = [];
    let size = 0;
    const read = async (): Promise<void> => {
      for await (const piece of answer as AsyncIterable<Uint8Array>) {
        pieces.push(piece);
        size += piece.byteLength;
        if (size > 2_000_000 && by.process.signalCode === null) await by.end("SIGKILL");
      }
    };
    await expect(read()).rejects.toThrow("aborted");
    expect(size).toBeLessThan(bytes.byteLength);
    // A connection that leads to the killed process may still be offered once.
    const headers = { range: `bytes=${size}-`, "if-range": tag };
    const rest = await vi.waitFor(() => session.ask(`artifacts/${id}`, { headers }));
    expect([rest.status, rest.headers.get("etag")]).toEqual([206, tag]);
    pieces.push(new Uint8Array(await rest.arrayBuffer()));
    expect(sha256(Buffer.concat(pieces))).toBe(sha256(bytes));
  });

  test("what is acknowledged by one is known to the other: sessions, artifacts, files, events, and their end", async () => {
    await using shared = await machines();
    const { servers, prefix } = shared;
    const [one, other] = servers;
    const session = await begin(one.url);
    const there = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${other.url}${path}`, { ...init, headers: { ...session.headers, ...(init.headers as object) } });
    expect(await (await there("sessions/current")).json()).toMatchObject({ id: session.id });
    const bytes = randomBytes(100_000);
    const id = await stored(session, bytes);
    expect(sha256(new Uint8Array(await (await there(`artifacts/${id}`)).arrayBuffer()))).toBe(sha256(bytes));
    await called(session, "everything.get-tiny-image", {});
    const events = await there("events", { headers: { "last-event-id": "0-0" } });
    const reader = textOf(events);
    let told = await until(reader, (text) => text.split("event: artifact_stored").length > 2);
    expect(told).toContain(`"id":"${id}"`);
    expect(await s3.keys(`${prefix}/sessions`)).not.toEqual([]);
    const ended = await there("sessions/current", { method: "DELETE" });
    expect(await ended.json()).toEqual({ deleted_artifacts: 2 });
    expect((await session.ask(`artifacts/${id}`)).status).toBe(401);
    for (let next = await reader.read(); !next.done; next = await reader.read()) told += next.value;
    expect(told).toContain("event: session_ended");
  });

  test("a listener whose process is killed gets at the other what it missed", async () => {
    await using shared = await machines();
    const session = await begin(shared.balancer.url);
    const { answer, by } = await answeredBy(shared, session, "events");
    const first = await stored(session, randomBytes(100));
    let told = "";
    const read = async (): Promise<void> => {
      for await (const piece of answer) {
        told += String(piece);
        if (told.includes(first) && by.process.signalCode === null) await by.end("SIGKILL");
      }
    };
    await expect(read()).rejects.toThrow("aborted");
    const last = [...told.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? "";
    const second = await stored(session, randomBytes(100));
    const again = await session.ask("events", { headers: { "last-event-id": last } });
    const more = textOf(again);
    const missed = await until(more, (text) => text.includes(second));
    expect(missed).not.toContain(first);
    await more.cancel();
  });

  test("a secret that is another opens nothing", async () => {
    await using shared = await machines();
    const session = await begin(shared.servers[0].url);
    await using stranger = await serve(["--store", `s3://${BUCKET}/${shared.prefix}`, "--state", redis.url], {
      SLUICE_SERVE_SECRET: "another-secret-than-all-the-others-have",
      AWS_ENDPOINT_URL_S3: s3.endpoint,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    });
    const answer = await fetch(`${stranger.url}sessions/current`, { headers: session.headers });
    expect(answer.status).toBe(401);
  });

  test("while Redis is away nothing but health is answered, at once, and all goes on when it is back", async () => {
    await using shared = await machines();
    const [server] = shared.servers;
    const session = await begin(server.url);
    await redis.kill();
    try {
      expect((await session.ask("sessions/current")).status).toBe(503);
      expect((await fetch(`${server.url}health`)).status).toBe(200);
      const ready = await fetch(`${server.url}ready`);
      expect([ready.status, await ready.json()]).toEqual([
        503,
        expect.objectContaining({ status: "away", state: "away" }),
      ]);
      // Ten seconds each, if one waited for Redis.
      for (let asked = 0; asked < 20; asked += 1) {
        const refused = await session.ask("sessions/current");
        expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
      }
    } finally {
      await redis.start();
    }
    await vi.waitFor(async () => expect(await begin(server.url)).toBeDefined(), { timeout: 20_000, interval: 200 });
  });
});

/** Processes of `sluice serve` over one folder and one Redis server: what is watched in one that is killed, another watches. */
describe("a killed process that watched", () => {
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
});
