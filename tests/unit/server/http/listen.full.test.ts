/** A server on a port: clients that are slow, silent, or gone. */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { listen, type ListeningServer, memoryState, SluiceServer } from "../../../../web/src/serve.js";
import { inSteps, inTime, MAX_TIMER, StoreLate } from "../../../../web/src/server/http/time-limit.js";
import { sessionChannel } from "../../../../web/src/server/sessions/announcer.js";
import { noise } from "../../artifacts/bytes.js";
import { Visitor } from "../visitor.js";
import { headers, received, sent, served, STRICT } from "./connections.js";

describe("listening", () => {
  const MIB = 1024 * 1024;

  test("it listens where it is told, and says where nothing can listen", async () => {
    await using one = await served();
    const ada = await Visitor.at(one.listening.port);
    const data = noise(5 * MIB);
    const { id } = await ada.upload(data);
    expect(Buffer.from(await (await ada.ask(`/artifacts/${id}`)).arrayBuffer()).equals(data)).toBe(true);
    await expect(listen(one.server, { host: "127.0.0.1", port: one.listening.port })).rejects.toMatchObject({
      code: "E_INVALID_ARGUMENT",
      path: "port",
    });
  });

  test.each([
    ["says nothing", ""],
    ["does not come to the end of its headers", "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "],
  ])("a client that %s is let go", async (_, text) => {
    await using one = await served();
    const [, seconds] = await received(await sent(one.listening.port, text));
    expect(seconds).toBeLessThan(5);
  });

  test("a connection on which nothing is asked any more is let go", async () => {
    await using one = await served();
    const { port } = one.listening;
    const [text, seconds] = await received(await sent(port, `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`));
    expect(text).toContain('{"status":"ok"}');
    expect(seconds).toBeLessThan(5);
  });

  test("a body that comes a byte at a time, or not at all, is refused in time", async () => {
    await using one = await served();
    const { port } = one.listening;
    const ada = await Visitor.at(port);
    const socket = await sent(port, `POST /artifacts HTTP/1.1\r\n${headers(port, ada, "Content-Length: 1000\r\n")}abc`);
    const [text, seconds] = await received(socket);
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(seconds).toBeLessThan(6);
    expect((await ada.list()).artifacts).toEqual([]);
  });

  test("an unread body holds no connection", async () => {
    await using one = await served();
    const { port } = one.listening;
    const ada = await Visitor.at(port);
    for (const method of ["GET", "DELETE", "POST"]) {
      const path = method === "POST" ? "/nothing" : "/artifacts";
      const socket = await sent(
        port,
        `${method} ${path} HTTP/1.1\r\n${headers(port, ada, "Transfer-Encoding: chunked\r\n")}`,
      );
      const sending = setInterval(() => socket.write("1\r\nx\r\n"), 50);
      const [text, seconds] = await received(socket);
      clearInterval(sending);
      expect(text).toMatch(/^HTTP\/1\.1 (?:200|405|404) /);
      expect(seconds).toBeLessThan(4);
    }
  });

  test("an upload whose client goes leaves nothing, and is no failure of ours", async () => {
    const reported: unknown[] = [];
    const store = new MemoryArtifactStore();
    await using server = new SluiceServer({ store, onError: (error) => void reported.push(error) });
    await using listening = await listen(server, { host: "127.0.0.1", port: 0 });
    const { port } = listening;
    const ada = await Visitor.at(port);
    const socket = await sent(port, `POST /artifacts HTTP/1.1\r\n${headers(port, ada, "Content-Length: 1000\r\n")}abc`);
    await sleep(50);
    socket.destroy();
    await sleep(100);
    expect([(await ada.list()).artifacts, reported]).toEqual([[], []]);
  });

  test("a client that reads a byte a second, or nothing, is let go, and its artifact with it", async () => {
    await using one = await served();
    const { port } = one.listening;
    const ada = await Visitor.at(port);
    const { id } = await ada.upload(noise(40 * MIB));
    const begun = performance.now();
    const clients = await Promise.all(
      Array.from({ length: 8 }, () => sent(port, `GET /artifacts/${id} HTTP/1.1\r\n${headers(port, ada)}`)),
    );
    const ends = clients.map(async (socket, at) => {
      socket.pause();
      const timer = setInterval(() => {
        if (at % 2 === 0) socket.read(1);
      }, 1000);
      // The other side's end is seen behind all that was not read: whether it still holds the connection is asked there.
      await vi.waitFor(async () => expect(await connections(one.listening)).toBeLessThan(2), {
        timeout: 20_000,
        interval: 200,
      });
      clearInterval(timer);
    });
    await Promise.all(ends);
    expect(performance.now() - begun).toBeLessThan(15_000);
  });

  /** What is open, by what the operating system says of the port. */
  async function connections({ port }: ListeningServer): Promise<number> {
    const hex = port.toString(16).toUpperCase().padStart(4, "0");
    const table = await readFile("/proc/net/tcp", "utf8");
    return table
      .split("\n")
      .filter((line) => new RegExp(`^ *\\d+: 0100007F:${hex} [0-9A-F]{8}:[0-9A-F]{4} 01 `).test(line)).length;
  }

  test("a listener that takes nothing is let go, and holds no events", async () => {
    const state = memoryState();
    await using server = new SluiceServer({ store: new MemoryArtifactStore(), state, limits: { listeners: 1 } });
    await using listening = await listen(server, { host: "127.0.0.1", port: 0, ...STRICT });
    const { port } = listening;
    const ada = await Visitor.at(port);
    const socket = await sent(port, `GET /events HTTP/1.1\r\n${headers(port, ada)}`);
    socket.pause();
    await vi.waitFor(async () => expect((await ada.ask("/events")).status).toBe(429));
    const event = { kind: "resource_updated", text: "x".repeat(200_000) };
    await vi.waitFor(
      async () => {
        for (let at = 0; at < 10; at++) await state.events.append(sessionChannel(ada.id), event);
        const response = await ada.ask("/events", { method: "GET" });
        await response.body?.cancel();
        expect(response.status).toBe(200);
      },
      { timeout: 20_000, interval: 50 },
    );
  });

  test("a slow client that reads on gets all of it", async () => {
    await using one = await served();
    const { port } = one.listening;
    const ada = await Visitor.at(port);
    const data = noise(12 * MIB);
    const { id } = await ada.upload(data);
    const response = await ada.ask(`/artifacts/${id}`);
    const got: Uint8Array[] = [];
    for await (const piece of response.body as ReadableStream<Uint8Array>) {
      got.push(piece);
      if (got.length % 32 === 0) await sleep(50);
    }
    expect(Buffer.concat(got).equals(data)).toBe(true);
  });

  test("more connections than there may be are ended at once", async () => {
    await using one = await served({ ...STRICT, maxConnections: 3 });
    const { port } = one.listening;
    const open = await Promise.all(Array.from({ length: 5 }, () => sent(port, "")));
    const closed = open.map((socket) => new Promise((resolve) => socket.once("close", () => resolve(true))));
    const quick = await Promise.all(closed.map((each) => Promise.race([each, sleep(300, false)])));
    expect(quick.filter(Boolean)).toHaveLength(2);
  });

  test("bytes that are not HTTP, or name no host, are refused without details", async () => {
    await using one = await served();
    const { port } = one.listening;
    for (const text of [
      "hello\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.0\r\n\r\n",
      `GET / HTTP/1.1\r\nHost: a b\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
      `GET http://evil.example/health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`,
      `CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example\r\n\r\n`,
      "TRACE / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ]) {
      const [answer] = await received(await sent(port, text));
      expect(answer).toMatch(/^(?:HTTP\/1\.1 4\d\d |$)/);
      expect(answer).not.toMatch(/at |node_modules|Error:/);
    }
    expect((await Visitor.at(port)).id).toHaveLength(36);
  });
});

/** The end of a server on a port, and of answers that fail. */
describe("the end of listening", () => {
  const MIB = 1024 * 1024;

  /** Seconds; an end that waits for nobody takes far less. */
  const GRACE = 40;

  test("the end lets downloads finish, lets listeners go at once, and takes nothing new", async () => {
    const one = await served({ clientSeconds: 5, graceSeconds: GRACE });
    const { port } = one.listening;
    const ada = await Visitor.at(port);
    const data = noise(30 * MIB);
    const { id } = await ada.upload(data);
    const downloading = await ada.ask(`/artifacts/${id}`);
    const events = await ada.ask("/events");
    // Asked for while it listens, answered when it does no more.
    const begun = performance.now();
    const ended = one.listening[Symbol.asyncDispose]();
    await events.text();
    expect(performance.now() - begun).toBeLessThan(GRACE * 500);
    await expect(sent(port, "")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect(Buffer.from(await downloading.arrayBuffer()).equals(data)).toBe(true);
    await ended;
    expect(performance.now() - begun).toBeLessThan(GRACE * 500);
    await one.server[Symbol.asyncDispose]();
  });

  test("the end does not wait for a client that takes nothing", async () => {
    const one = await served({ clientSeconds: 60, graceSeconds: 1 });
    const { port } = one.listening;
    const ada = await Visitor.at(port);
    const { id } = await ada.upload(noise(40 * MIB));
    const socket = await sent(port, `GET /artifacts/${id} HTTP/1.1\r\n${headers(port, ada)}`);
    socket.pause();
    await sleep(200);
    const begun = performance.now();
    await one.listening[Symbol.asyncDispose]();
    expect(performance.now() - begun).toBeLessThan(3000);
    await one.server[Symbol.asyncDispose]();
  });

  test("a request that comes while it ends is refused, or finds no connection", async () => {
    const one = await served({ clientSeconds: 5, graceSeconds: 3 });
    const { port } = one.listening;
    const ada = await Visitor.at(port);
    const { id } = await ada.upload(noise(40 * MIB));
    const holding = await sent(port, `GET /artifacts/${id} HTTP/1.1\r\n${headers(port, ada)}`);
    holding.pause();
    const half = await sent(port, "GET /artifacts HTTP/1.1\r\n");
    await sleep(200);
    const ended = one.listening[Symbol.asyncDispose]();
    half.write(headers(port, ada));
    const [text] = await received(half);
    expect(text).toMatch(/^(?:HTTP\/1\.1 503 [^]*connection: close[^]*E_STORE_CLOSED[^]*)?$/i);
    holding.destroy();
    await ended;
    await one.server[Symbol.asyncDispose]();
  });

  /** Fails behind its third piece. */
  function failing(): ReadableStream<Uint8Array> {
    let pieces = 0;
    return new ReadableStream({
      pull(controller): void {
        pieces += 1;
        if (pieces > 3) throw new Error("secret of the store");
        controller.enqueue(new Uint8Array(1000));
      },
    });
  }

  test("an answer that fails breaks the connection, and is no short whole", async () => {
    const answering = { fetch: () => new Response(failing(), { headers: { "content-type": "application/pdf" } }) };
    await using listening = await listen(answering, { host: "127.0.0.1", port: 0 });
    const [text] = await received(await sent(listening.port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    expect(text).not.toMatch(/secret|\r\n0\r\n\r\n$/);
    await expect((async () => (await fetch(`http://127.0.0.1:${listening.port}/`)).text())()).rejects.toThrow(
      /terminated|fetch failed/,
    );
  });
});

describe("time limits", () => {
  /** Waiting that comes to an end. */

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const pause = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => void setTimeout(resolve, milliseconds));

  /** Pieces that each take so long to come. */
  async function* pieces(...times: readonly number[]): AsyncIterable<number> {
    for (const time of times) {
      await pause(time);
      yield time;
    }
  }

  /** Takes all, each in so long, and so long for the end. */
  const taking =
    (each: number, end: number) =>
    async (all: AsyncIterable<number>): Promise<number> => {
      let sum = 0;
      for await (const piece of all) {
        await pause(each);
        sum += piece;
      }
      await pause(end);
      return sum;
    };

  async function outcome(work: Promise<unknown>): Promise<unknown> {
    const settled = work.catch((error: unknown) => (error instanceof StoreLate ? "late" : String(error)));
    await vi.advanceTimersByTimeAsync(10_000_000);
    return settled;
  }

  test.each([
    ["pieces that are long in coming cost nothing", [5000, 60_000], 900, 900, 65_000],
    ["many short steps may take long together", Array.from({ length: 100 }, () => 0), 900, 0, 0],
    ["a piece that is long in being taken is late", [1, 1], 1100, 0, "late"],
    ["an end that is long in coming is late", [1], 1, 1100, "late"],
    ["nothing to take is done at once", [], 1, 1, 0],
  ] as const)("%s", async (_, times, each, end, expected) => {
    expect(await outcome(inSteps(pieces(...times), taking(each, end), 1000))).toBe(expected);
    expect(vi.getTimerCount()).toBe(0);
  });

  async function* broken(): AsyncIterable<number> {
    yield 1;
    throw new Error("broken off");
  }

  test("what the pieces fail at is what comes of it", async () => {
    expect(await outcome(inSteps(broken(), taking(1, 1), 1000))).toBe("Error: broken off");
  });

  test("work that never begins to take is late", async () => {
    const never = new Promise<number>(() => undefined);
    expect(await outcome(inSteps(pieces(1), () => never, 1000))).toBe("late");
  });

  test.each([0, -1, Number.NaN])("no time (%d) is over at once", async (milliseconds) => {
    expect(await outcome(inTime(new Promise(() => undefined), milliseconds, () => new StoreLate()))).toBe("late");
  });

  test("more time than timers take is not none", async () => {
    expect(
      await outcome(
        inTime(
          pause(1000).then(() => "done"),
          MAX_TIMER * 4,
          () => new StoreLate(),
        ),
      ),
    ).toBe("done");
    expect(
      await outcome(
        inTime(
          pause(1000).then(() => "done"),
          Infinity,
          () => new StoreLate(),
        ),
      ),
    ).toBe("done");
  });
});
