/** The end of a server on a port, and of answers that fail. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { listen } from "../../../../web/src/serve.js";
import { noise } from "../../artifacts/noise.js";
import { Visitor } from "../visitor.js";
import { headers, received, sent, served } from "./connections.js";

const MIB = 1024 * 1024;

test("the end lets downloads finish, lets listeners go at once, and takes nothing new", async () => {
  const one = await served({ clientSeconds: 5, graceSeconds: 5 });
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
  expect(performance.now() - begun).toBeLessThan(1000);
  await expect(sent(port, "")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(Buffer.from(await downloading.arrayBuffer()).equals(data)).toBe(true);
  await ended;
  expect(performance.now() - begun).toBeLessThan(4500);
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
