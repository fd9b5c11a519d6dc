/** Connections: requests before the answers to those before them, listeners that read nothing, refusals. */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { type ErrorCode, SluiceError } from "../../../../web/src/errors/error.js";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { listen, memoryState, type ServeState, SluiceServer } from "../../../../web/src/serve.js";
import { refuseError } from "../../../../web/src/server/http/refusals.js";
import { StoreLate } from "../../../../web/src/server/http/time-limit.js";
import { sessionChannel } from "../../../../web/src/server/sessions/announcer.js";
import { Telling } from "../sources/told.js";
import { refused, Visitor } from "../visitor.js";
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

test("a client that keeps sending without waiting is disconnected, and leaves nothing behind", async () => {
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

const WORDS = "word ".repeat(20_000);

/** How many follow a channel at the moment. */
function followers(state: ServeState): (channel: string) => number {
  const follow = state.events.follow.bind(state.events);
  const counts = new Map<string, number>();
  const count = (channel: string): number => counts.get(channel) ?? 0;
  state.events.follow = async function* (channel, ...how) {
    counts.set(channel, count(channel) + 1);
    try {
      yield* follow(channel, ...how);
    } finally {
      counts.set(channel, count(channel) - 1);
    }
  };
  return count;
}

test("a listener that reads nothing is let go in time, and others hear all", { timeout: 30_000 }, async () => {
  const state = memoryState();
  const count = followers(state);
  await using server = new SluiceServer({ store: new MemoryArtifactStore(), state, secret: "s".repeat(32) });
  await using listening = await listen(server, { host: "127.0.0.1", port: 0, clientSeconds: 1, graceSeconds: 1 });
  const { port } = listening;
  const ada = await Visitor.at(port);
  const channel = sessionChannel(ada.id);
  const deaf = connect({ port, host: "127.0.0.1" });
  onTestFinished(() => void deaf.destroy());
  deaf.on("error", () => undefined);
  await once(deaf, "connect");
  deaf.pause();
  deaf.write(`GET /events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${ada.token}\r\n\r\n`);
  await using hearing = new Telling(await ada.ask("/events"));
  await expect.poll(() => count(channel)).toBe(2);

  // 40 MB, more than the sockets between the two take.
  for (let at = 0; at < 400; at++) {
    await state.events.append(channel, { kind: "resources_changed", at, namespace: WORDS } as never);
    expect(await hearing.next()).toMatchObject({ at });
  }
  await expect.poll(() => count(channel), { timeout: 10_000 }).toBe(1);
  await state.events.append(channel, { kind: "resources_changed" });
  expect(await hearing.next()).toEqual({ kind: "resources_changed" });
});

// What is told of an error over HTTP: its status, its code, and no word that is not for whoever asked.

async function told(error: unknown): Promise<readonly [...(readonly [number, string]), isReported: boolean]> {
  const reported: unknown[] = [];
  const [status, code] = await refused(refuseError(error, (each) => void reported.push(each)));
  expect(reported.every((each) => each === error)).toBe(true);
  return [status, code, reported.length === 1];
}

/** What clients can mend, which the host is not told: one of each status. */
const THEIRS: readonly (readonly [ErrorCode, number])[] = [
  ["E_INVALID_ARGUMENT", 400],
  ["E_NOT_FOUND", 404],
  ["E_EXPIRED", 410],
  ["E_TOO_LARGE", 413],
];

/** What a store, a source or the model failed at, of which the host is told too: one of each status. */
const OURS: readonly (readonly [ErrorCode, number])[] = [
  ["E_STORE_READ", 503],
  ["E_STORE_FULL", 507],
  ["E_TOOL", 502],
  ["E_LLM_TIMEOUT", 504],
];

test.each(THEIRS)("%s is answered with %i, and is nobody else's business", async (code, status) => {
  expect(await told(new SluiceError(code, "A sentence."))).toEqual([status, code, false]);
});

test.each(OURS)("%s is answered with %i, and the host is told", async (code, status) => {
  expect(await told(new SluiceError(code, "A sentence."))).toEqual([status, code, true]);
});

test("a store that does not answer in time is told from one that cannot be read", async () => {
  expect(await told(new StoreLate())).toEqual([504, "E_STORE_READ", true]);
});

test.each([
  ["an error of a library", new Error("/home/ada/secret at 10.0.0.1")],
  ["an error whose code is for the host alone", new SluiceError("E_CONFIG_KEY", "/home/ada/secret at 10.0.0.1")],
  ["a text", "/home/ada/secret at 10.0.0.1"],
  ["nothing", undefined],
  ["an object with a code of ours", { code: "E_NOT_FOUND", message: "/home/ada/secret at 10.0.0.1" }],
])("%s is a fault here, of which whoever asked is told no word", async (_, error) => {
  expect(await told(error)).toEqual([500, "E_INTERNAL", true]);
  const text = await refuseError(error, () => undefined).text();
  expect(text).not.toMatch(/secret|10\.0\.0\.1/);
});
