/** Processes of `sluice serve` over one folder and one Redis server, killed, stopped and ended in the middle of work. */
import { once, setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { serve as serveHttp } from "@hono/node-server";
import { expect, onTestFinished, test, vi } from "vitest";
import { createScriptedModel } from "../../../../web/src/planner/llm/scripted-model.js";
import { useRedis } from "../../redis/served.js";
import { Telling, type Told } from "../../server/sources/told.js";
import { Room } from "../command.js";
import { begin, serve, type Served, type Session } from "./serving.js";

const redis = useRedis();

/** Leases are fifteen seconds, and machines are busy. */
const PATIENCE = { timeout: 60_000, interval: 100 };

/** A model whose second answer waits until it is let go. */
interface HeldModel {
  readonly url: string;
  /** How many wait for their second answer. */
  readonly waiting: () => number;
  readonly letGo: () => void;
}

async function heldModel(): Promise<HeldModel> {
  const go = new AbortController();
  setMaxListeners(0, go.signal);
  const answer = createScriptedModel(({ last }) =>
    last.role === "tool" ? { text: "It is done." } : { calls: [{ name: "asker_note", args: {} }] },
  );
  let waiting = 0;
  const server = serveHttp({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const body = await request.text();
      if (body.includes('"role":"tool"')) {
        waiting += 1;
        if (!go.signal.aborted) await once(go.signal, "abort");
      }
      return answer(request.url, { method: "POST", body });
    },
  });
  onTestFinished(() => {
    go.abort();
    server.close();
  });
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { url, waiting: () => waiting, letGo: () => go.abort() };
}

/** A source that notes each call in a file. `ask` asks who it is for; `note` does not. */
const ASKER = `
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
const [file] = process.argv.slice(2);
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const tools = ["ask", "note"].map((name) => ({ name, inputSchema: { type: "object", properties: {} } }));
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "asker", version: "1" } }),
  "tools/list": () => ({ tools }),
};
const open = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (id === undefined) continue;
  if (method === undefined) {
    const call = open.get(id);
    if (result?.action === "accept") appendFileSync(file, "answered\\n");
    send({ id: call, result: { content: [{ type: "text", text: "For " + result?.content?.name + "." }] } });
  } else if (method === "tools/call") {
    appendFileSync(file, params.name + "\\n");
    if (params.name === "note") send({ id, result: { content: [{ type: "text", text: "noted" }] } });
    else {
      open.set("q" + id, id);
      const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
      send({ id: "q" + id, method: "elicitation/create", params: { message: "For whom?", requestedSchema } });
    }
  } else if (answers[method]) send({ id, result: answers[method](params) });
  else send({ id, error: { code: -32601, message: "There is no such method." } });
}
`;

interface Fleet {
  readonly start: () => Promise<Served>;
  readonly model: HeldModel;
  /** What the source was asked, in all processes. */
  readonly noted: () => Promise<readonly string[]>;
}

async function fleet(room: Room): Promise<Fleet> {
  await redis.command("FLUSHALL");
  const model = await heldModel();
  const asker = await room.write("asker.mjs", ASKER);
  const notes = await room.write("notes.txt", "");
  const connection = `"${process.execPath}" "${asker}" "${notes}"`;
  const sources = [{ name: "asker", transport: "mcp", connection }];
  const config = await room.write("serve.json", JSON.stringify({ sources, model: { url: model.url, name: "held" } }));
  const start = async (): Promise<Served> => {
    const shared = ["--config", config, "--store", room.store, "--state", redis.url, "--drain-seconds", "0"];
    const served = await serve(shared, {
      SLUICE_SERVE_SECRET: "shared-by-all-processes-of-the-test",
    });
    onTestFinished(() => served[Symbol.asyncDispose]());
    return served;
  };
  const noted = async (): Promise<readonly string[]> => (await readFile(notes, "utf8")).split("\n").filter(Boolean);
  return { start, model, noted };
}

function posted(value: object): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

/** The same session at another process. */
function at({ url }: Served, { headers }: Session): Session["ask"] {
  return (path, init = {}) => fetch(`${url}${path}`, { ...init, headers: { ...headers, ...(init.headers as object) } });
}

/** Starts a run, and leaves. */
async function left(session: Session): Promise<string> {
  const telling = new Telling(await session.ask("chat", posted({ query: "Go." })));
  const started = await telling.next("run_started");
  await telling[Symbol.asyncDispose]();
  return started?.["run"] as string;
}

/** All events of work that is over. */
async function told(ask: Session["ask"], path: string): Promise<readonly Told[]> {
  return new Telling(await ask(path)).rest();
}

/** How often a kind of event stands in a run's channel, whoever follows it how far. */
async function inLog(kind: string): Promise<number> {
  let count = 0;
  for (const key of await redis.keys()) {
    if (!/:channels:.*:events$/.test(key)) continue;
    const entries = JSON.stringify(await redis.command("XRANGE", key, "-", "+"));
    count += entries.split(`{\\"kind\\":\\"${kind}\\"`).length - 1;
  }
  return count;
}

async function ended(kind: string, count: number): Promise<void> {
  await vi.waitFor(async () => expect(await inLog(kind)).toBe(count), PATIENCE);
}

test(
  "ten runs of three sessions that nobody follows end, once, when their process is killed",
  { timeout: 180_000 },
  async () => {
    await using room = await Room.open();
    const { start, model, noted } = await fleet(room);
    const one = await start();
    const sessions = await Promise.all([1, 2, 3].map(() => begin(one.url)));
    const runs: (readonly [Session, string])[] = [];
    for (let number = 0; number < 10; number += 1) {
      const session = sessions[number % 3] as Session;
      runs.push([session, await left(session)]);
    }
    await vi.waitFor(() => expect(model.waiting()).toBe(10), PATIENCE);
    const other = await start();
    await one.end("SIGKILL");
    await vi.waitFor(() => expect(model.waiting()).toBe(20), PATIENCE);
    model.letGo();
    await ended("result", 10);
    // The steps that were done are not done again.
    expect(await noted()).toEqual(Array.from({ length: 10 }, () => "note"));
    for (const [session, run] of runs) {
      expect((await told(at(other, session), `chat/${run}`)).at(-1)).toMatchObject({
        kind: "result",
        answer: "It is done.",
      });
    }
    expect(await inLog("failed")).toBe(0);
  },
);

test(
  "a process that is stopped for longer than its lease and goes on then finishes no run twice",
  { timeout: 180_000 },
  async () => {
    await using room = await Room.open();
    const { start, model } = await fleet(room);
    const one = await start();
    const session = await begin(one.url);
    const run = await left(session);
    await vi.waitFor(() => expect(model.waiting()).toBe(1), PATIENCE);
    const other = await start();
    one.process.kill("SIGSTOP");
    await vi.waitFor(() => expect(model.waiting()).toBe(2), PATIENCE);
    // Both get the model's last answer, the first one when it goes on.
    model.letGo();
    await ended("result", 1);
    one.process.kill("SIGCONT");
    await sleep(5000);
    expect([await inLog("result"), await inLog("failed")]).toEqual([1, 0]);
    expect((await told(at(other, session), `chat/${run}`)).at(-1)).toMatchObject({ kind: "result" });
  },
);

test("a process that is ended hands its runs over at once", { timeout: 120_000 }, async () => {
  await using room = await Room.open();
  const { start, model } = await fleet(room);
  const one = await start();
  const session = await begin(one.url);
  await left(session);
  await vi.waitFor(() => expect(model.waiting()).toBe(1), PATIENCE);
  await start();
  const begun = performance.now();
  one.process.kill("SIGTERM");
  await vi.waitFor(() => expect(model.waiting()).toBe(2), PATIENCE);
  // Without being handed over it would wait for the end of a lease.
  expect(performance.now() - begun).toBeLessThan(12_000);
  model.letGo();
  await ended("result", 1);
});

test("a process that is ended hands a call that waits over at once", { timeout: 120_000 }, async () => {
  await using room = await Room.open();
  const { start, noted } = await fleet(room);
  const one = await start();
  const session = await begin(one.url);
  const telling = new Telling(await session.ask("tools/asker.ask", posted({})));
  const question = (await telling.next("paused")) as Told & { pause: string; call: string };
  const other = await start();
  const there = new Telling(await at(other, session)(`calls/${question.call}`));
  expect(await there.next("paused")).toEqual(question);
  const begun = performance.now();
  one.process.kill("SIGTERM");
  expect(await there.next("paused")).toEqual(question);
  expect(performance.now() - begun).toBeLessThan(12_000);
  await at(other, session)(`pauses/${question.pause}`, posted({ answer: { name: "Ada" } }));
  expect((await there.rest()).at(-1)).toMatchObject({ kind: "result", observation: '"For Ada."' });
  expect(await noted()).toEqual(["ask", "ask", "answered"]);
});

test(
  "a call that waits for a person goes on where two processes are killed, and is answered at the third",
  { timeout: 180_000 },
  async () => {
    await using room = await Room.open();
    const { start, noted } = await fleet(room);
    const one = await start();
    const session = await begin(one.url);
    const telling = new Telling(await session.ask("tools/asker.ask", posted({})));
    const question = (await telling.next("paused")) as Told & { pause: string; call: string };
    const rest = telling.rest().catch(() => "broken off");
    const two = await start();
    await one.end("SIGKILL");
    expect(await rest).toBe("broken off");
    const there = new Telling(await at(two, session)(`calls/${question.call}`));
    for (let time = 0; time < 2; time += 1) expect(await there.next("paused")).toEqual(question);
    const lastId = there.lastId ?? "";
    const [three] = await Promise.all([start(), there.rest().catch(() => undefined), two.end("SIGKILL")]);
    // Nobody has the call now: an answer is kept for whoever takes it up.
    const answer = posted({ answer: { name: "Ada" } });
    expect((await at(three, session)(`pauses/${question.pause}`, answer)).status).toBe(204);
    const headers = { "last-event-id": lastId };
    const last = await new Telling(await at(three, session)(`calls/${question.call}`, { headers })).rest();
    expect(last.map(({ kind }) => kind)).toEqual(["result"]);
    expect(last[0]).toMatchObject({ observation: '"For Ada."' });
    expect(await noted()).toEqual(["ask", "ask", "ask", "answered"]);
    const stranger = await begin(three.url);
    expect((await stranger.ask(`calls/${question.call}`)).status).toBe(404);
  },
);
