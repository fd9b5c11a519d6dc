/** Requests that are sent before the answers to those before them have come, by clients that then go. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { listen, SluiceServer } from "../../../../web/src/serve.js";
import { Visitor } from "../visitor.js";
import { headers, received, sent, served } from "./connections.js";

const LISTENERS = 4;

test("all that waited on a connection ends with it", async () => {
  const store = new MemoryArtifactStore({ retention: null });
  await using server = new SluiceServer({ store, limits: { listeners: LISTENERS } });
  await using listening = await listen(server, { host: "127.0.0.1", port: 0 });
  const ada = await Visitor.at(listening.port);
  const asked = `GET /events HTTP/1.1\r\n${headers(listening.port, ada)}`;
  const socket = await sent(listening.port, asked.repeat(LISTENERS));
  await once(socket, "data");
  await sleep(100);
  expect(await listens(ada)).toBe(429);
  socket.destroy();
  await vi.waitFor(async () => expect(await listens(ada)).toBe(200));
});

async function listens(visitor: Visitor): Promise<number> {
  const left = new AbortController();
  const { status } = await visitor.ask("/events", { signal: left.signal });
  left.abort();
  return status;
}

test("requests behind each other are answered in their order", async () => {
  await using one = await served();
  const { port } = one.listening;
  const ada = await Visitor.at(port);
  const { id } = await ada.upload("first");
  const asked = ["/health", `/artifacts/${id}`, "/nothing"].map(
    (path) => `GET ${path} HTTP/1.1\r\n${headers(port, ada)}`,
  );
  const [text] = await received(await sent(port, asked.join("")));
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 404"]);
  expect(text.indexOf("first")).toBeGreaterThan(text.indexOf("ok"));
});

test("whoever sends ever more of them without waiting is let go, and nothing of it is left", async () => {
  let answers = 0;
  const answering = {
    fetch: async (): Promise<Response> => {
      const response = new Response("x".repeat(1000));
      answers += 1;
      return response;
    },
  };
  await using listening = await listen(answering, { host: "127.0.0.1", port: 0 });
  const { port } = listening;
  const asked = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
  const ends = Array.from({ length: 5 }, async () => received(await sent(port, asked.repeat(500))));
  for (const [, seconds] of await Promise.all(ends)) expect(seconds).toBeLessThan(5);
  expect(answers).toBeLessThanOrEqual(5 * 16);
});
