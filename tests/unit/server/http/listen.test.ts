/** A server on a port: clients that are slow, silent, or gone. */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { sessionChannel } from "../../../../web/src/server/sessions/announcer.js";
import { listen, memoryState, SluiceServer, type ListeningServer } from "../../../../web/src/serve.js";
import { noise } from "../../artifacts/noise.js";
import { Visitor } from "../visitor.js";
import { headers, received, sent, served, STRICT } from "./connections.js";

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

test("a body that nobody reads holds no connection", async () => {
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
  await using listening = await listen(server, { host: "127.0.0.1", port: 0, ...STRICT });
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

test("what is no HTTP, or names no host, is refused, and tells nothing", async () => {
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
