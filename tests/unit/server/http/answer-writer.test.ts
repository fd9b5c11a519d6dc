/** Answers as they are written: their heads, their bytes at any pace, and what is left of them when somebody goes. */
import { mkdtemp, readdir, readlink } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { FileArtifactStore } from "../../../../web/src/node.js";
import { listen, SluiceServer } from "../../../../web/src/serve.js";
import { noise } from "../../artifacts/bytes.js";
import { Visitor } from "../visitor.js";
import { headers, received, sent } from "./connections.js";

/** All that a server with this answer sends, and then closes. */
async function written(answer: () => Response, method = "GET"): Promise<string> {
  await using listening = await listen({ fetch: answer }, { host: "127.0.0.1", port: 0, clientSeconds: 1 });
  const asked = `${method} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  const [text] = await received(await sent(listening.port, asked));
  return text;
}

/** A body of these texts, each so many milliseconds after the one before. */
function slowly(texts: readonly string[], milliseconds: number): ReadableStream<Uint8Array> {
  const left = [...texts];
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller): Promise<void> {
        const text = left.shift();
        await sleep(milliseconds);
        if (text === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(text));
      },
    },
    { highWaterMark: 0 },
  );
}

describe("the head of an answer", () => {
  test.each<[string, () => Response, RegExp, RegExp]>([
    ["that is there at once", () => new Response("hello"), /\r\ncontent-length: 5\r\n/i, /\r\n\r\nhello$/],
    ["that has nothing", () => new Response(""), /\r\ncontent-length: 0\r\n/i, /\r\n\r\n$/],
    [
      "that takes its time",
      () => new Response(slowly(["he", "llo"], 20)),
      /\r\ntransfer-encoding: chunked\r\n/i,
      /\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n$/,
    ],
    [
      "that says its length",
      () => new Response(slowly(["he", "llo"], 20), { headers: { "Content-Length": "5" } }),
      /\r\ncontent-length: 5\r\n/i,
      /\r\n\r\nhello$/,
    ],
    [
      "that many pieces are of",
      () => new Response(slowly(["a", "b", "c"], 0)),
      /\r\ntransfer-encoding: chunked\r\n/i,
      /\r\n0\r\n\r\n$/,
    ],
  ])("%s", async (_, answer, head, end) => {
    const text = await written(answer);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toMatch(head);
    expect(text).toMatch(end);
    expect(text).not.toMatch(/content-length[^]*chunked|chunked[^]*content-length/i);
  });

  test("has each of several cookies, the status, and a type where none was said", async () => {
    const answer = (): Response => {
      const response = new Response(new TextEncoder().encode("hello"), { status: 418 });
      response.headers.append("set-cookie", "a=1");
      response.headers.append("set-cookie", "b=2");
      return response;
    };
    const text = await written(answer);
    expect(text).toMatch(/^HTTP\/1\.1 418 /);
    expect(text.match(/^set-cookie: .*$/gim)).toEqual(["set-cookie: a=1", "set-cookie: b=2"]);
    expect(text).toMatch(/\r\ncontent-type: text\/plain/i);
  });

  test("of a request for the head alone has no body behind it", async () => {
    expect(await written(() => new Response("hello"), "HEAD")).toMatch(/\r\ncontent-length: 5\r\n[^]*\r\n\r\n$/i);
  });

  test("comes before a body that is long in coming", async () => {
    await using listening = await listen(
      { fetch: () => new Response(new ReadableStream(), { headers: { "Content-Type": "text/event-stream" } }) },
      { host: "127.0.0.1", port: 0, graceSeconds: 0 },
    );
    const socket = await sent(listening.port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const [head] = (await once(socket, "data")) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1\.1 200 [^]*text\/event-stream/);
    socket.destroy();
  });
});

describe("downloads from a folder", () => {
  const data = noise(3_000_000);

  async function serving(): Promise<{ folder: string; port: number; ada: Visitor; id: string; server: SluiceServer }> {
    const folder = await mkdtemp(join(tmpdir(), "sluice-writer-"));
    const store = new FileArtifactStore(folder);
    const server = new SluiceServer({ store, limits: { concurrentRequests: 30 } });
    const listening = await listen(server, { host: "127.0.0.1", port: 0, clientSeconds: 5, graceSeconds: 0 });
    onTestFinished(async () => {
      await listening[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await store.purge();
    });
    const ada = await Visitor.at(listening.port);
    const { id } = await ada.upload(data);
    return { folder, port: listening.port, ada, id, server };
  }

  /** Every byte behind the head, read in steps with pauses between them. */
  async function body(socket: Socket, pause: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of socket as AsyncIterable<Buffer>) {
      pieces.push(piece);
      if (pause > 0 && pieces.length % 8 === 0) await sleep(pause);
    }
    const all = Buffer.concat(pieces);
    return all.subarray(all.indexOf("\r\n\r\n") + 4);
  }

  test("at once, at their own pace, whole and in part, are each their own bytes", { timeout: 60_000 }, async () => {
    const { port, ada, id } = await serving();
    const clients = Array.from({ length: 24 }, async (_, at) => {
      const [start, end] = at % 3 === 0 ? [at * 1000, data.length - at] : [0, data.length];
      const range = at % 3 === 0 ? `Range: bytes=${start}-${end - 1}\r\n` : "";
      const asked = `GET /artifacts/${id} HTTP/1.1\r\n${headers(port, ada, `Connection: close\r\n${range}`)}`;
      const bytes = await body(await sent(port, asked), at % 4);
      return bytes.equals(data.subarray(start, end));
    });
    expect(new Set(await Promise.all(clients))).toEqual(new Set([true]));
  });

  test("behind each other on one connection come in their order", async () => {
    const { port, ada, id } = await serving();
    const asked = (more: string): string => `GET /artifacts/${id} HTTP/1.1\r\n${headers(port, ada, more)}`;
    const socket = await sent(port, asked("") + asked("Range: bytes=5-1000004\r\n") + asked("Connection: close\r\n"));
    const pieces: Buffer[] = [];
    for await (const piece of socket as AsyncIterable<Buffer>) pieces.push(piece);
    let all = Buffer.concat(pieces);
    for (const expected of [data, data.subarray(5, 1_000_005), data]) {
      const begin = all.indexOf("\r\n\r\n") + 4;
      expect(all.subarray(begin, begin + expected.length).equals(expected)).toBe(true);
      all = all.subarray(begin + expected.length);
    }
    expect(all).toHaveLength(0);
  });

  test("outlive their artifact", async () => {
    const { port, ada, id } = await serving();
    const socket = await sent(port, `GET /artifacts/${id} HTTP/1.1\r\n${headers(port, ada, "Connection: close\r\n")}`);
    await once(socket, "readable");
    expect((await ada.ask(`/artifacts/${id}`, { method: "DELETE" })).status).toBe(204);
    expect((await body(socket, 1)).equals(data)).toBe(true);
  });

  test("whose client goes leave no open file and no request behind", async () => {
    const { folder, port, ada, id, server } = await serving();
    const sockets = await Promise.all(
      Array.from({ length: 8 }, () => sent(port, `GET /artifacts/${id} HTTP/1.1\r\n${headers(port, ada)}`)),
    );
    for (const socket of sockets) {
      socket.pause();
      await once(socket, "readable");
    }
    expect((await openFiles(folder)).length).toBeGreaterThan(0);
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(async () => expect(await openFiles(folder)).toEqual([]), { timeout: 10_000 });
    const stranger = await Visitor.of(server);
    expect((await stranger.ask("/artifacts")).status).toBe(200);
    expect((await readdir(join(folder, "blobs"))).length).toBeGreaterThan(0);
  });

  /** The contents below a folder that this process has open. */
  async function openFiles(folder: string): Promise<readonly string[]> {
    const open = await Promise.all(
      (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
    );
    return open.filter((path) => path.startsWith(folder) && path.endsWith("/blob"));
  }
});
