/**
 * Runs of a chat whose process is killed: clients come back to another, and nothing is lost that they were told. The first
 * waits in the full run until the lease of the killed server ends by itself; the others end it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Script, createScriptedModel } from "../../../web/src/planner/llm/scripted-model.js";
import { DURABLE, TestRedis } from "../../unit/redis/redis-server.js";
import { posted } from "../../unit/server/sources/serving.js";
import { isFull } from "../../support/full.js";
import { programOf } from "../../support/program.js";
import { Telling, type Told } from "../../unit/server/sources/told.js";
import { Visitor } from "../../unit/server/visitor.js";
import { serveForTest } from "../../unit/tools/serve.js";

/** A server in a process of its own. */
interface Process {
  readonly port: number;
  /** As `kill -9`. */
  kill(): Promise<void>;
}

/** The servers, and what their tools did. */
interface World {
  readonly one: Process;
  readonly other: Process;
  readonly redis: TestRedis;
  readonly written: () => number;
  /** What was to be sent, answered by the test. */
  readonly sent: ((text: string) => void)[];
  /** Waits for so many of them. */
  readonly sending: (count: number) => Promise<void>;
  /** Ends the leases of all runs, as the time does that a killed server no longer renews them in. */
  readonly endLeases: () => Promise<void>;
}

const SECRET = "a secret of more than thirty-two characters";

/** A world for the time of a test. */
async function worldOf(program: string, script: Script): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-chat-"));
  const redis = await TestRedis.started(...DURABLE);
  onTestFinished(async () => {
    await redis[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
  const model = createScriptedModel(script);
  const sent: World["sent"] = [];
  let written = 0;
  const answered = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk as string;
    if (request.url === "/written") {
      written += 1;
      response.end();
    } else if (request.url === "/sent") sent.push((text) => void response.end(text));
    else {
      const url = new URL(request.url ?? "", "http://model.test");
      const { status, headers, body: stream } = await model(url, { method: "POST", body });
      response.writeHead(status, Object.fromEntries(headers));
      for await (const chunk of stream ?? []) response.write(chunk);
      response.end();
    }
  };
  const origin = await serveForTest((request, response) => void answered(request, response));
  const started = (): Promise<Process> => startedWith([program, folder, origin, redis.url, SECRET]);
  const [one, other] = await Promise.all([started(), started()]);
  const sending = (count: number): Promise<void> =>
    vi.waitFor(() => expect(sent).toHaveLength(count), { timeout: 40_000 });
  const endLeases = async (): Promise<void> => {
    for (const key of await redis.keys()) {
      if (!key.includes(":runs:") || (await redis.command("TYPE", key)) !== "hash") continue;
      if ((await redis.command("HEXISTS", key, "leased")) === 1) await redis.command("HSET", key, "leased", "1");
    }
  };
  return { one, other, redis, written: () => written, sent, sending, endLeases };
}

async function startedWith(words: readonly string[]): Promise<Process> {
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await closed;
  };
  onTestFinished(kill);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { port: Number(line), kill };
}

const program = programOf(new URL("server-program.ts", import.meta.url));

/** Calls these, a step each, and then says what the last of them said. */
function calling(...names: readonly string[]): Script {
  return ({ messages }) => {
    const told = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    const name = names[told.length];
    return name === undefined
      ? { text: `It was ${told.at(-1)}.` }
      : { text: `Step ${told.length + 1}.`, calls: [{ name, args: {} }] };
  };
}

/** The same session at another server. */
function at(port: number, by: Visitor, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${by.token}` };
  return fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers });
}

/** What a client was told by now, until this kind, and the id behind it. */
async function until(telling: Telling, kind: string, count = 1): Promise<Told[]> {
  const told: Told[] = [];
  for (let left = count; left > 0;) {
    const event = await telling.next();
    if (event === null) throw new Error(`no ${kind} among ${told.map((each) => each.kind).join(" ")}`);
    told.push(event);
    if (event.kind === kind) left -= 1;
  }
  return told;
}

const follow = async (world: World, by: Visitor, run: unknown, lastId?: string): Promise<Telling> => {
  const headers: Record<string, string> = lastId === undefined ? {} : { "last-event-id": lastId };
  return new Telling(await at(world.other.port, by, `/chat/${run as string}`, { headers }));
};

test("killed in the middle of a step: the run goes on in the other, behind what was done, and the answer comes", async () => {
  const world = await worldOf(program.path, calling("write", "send"));
  const by = await Visitor.at(world.one.port);
  const telling = new Telling(await by.ask("/chat", posted({ query: "Send the report.", trace: "t" })));
  const before = await until(telling, "tool_called", 2);
  await world.sending(1);
  const lastId = telling.lastId;
  await world.one.kill();
  if (!isFull) await world.endLeases();

  await using again = await follow(world, by, before[0]?.["run"], lastId);
  const discarded = await until(again, "text_discarded");
  expect(discarded).toEqual([{ kind: "text_discarded", step: 2 }]);
  await world.sending(2);
  world.sent[1]?.("sent");
  const rest = await again.rest();
  expect(rest.at(-1)).toMatchObject({ kind: "result", answer: 'It was "sent".', outcome: "answered" });
  // The first step was not done again.
  expect(world.written()).toBe(1);

  // What was told is there still, in its order.
  const all = await (await follow(world, by, before[0]?.["run"])).rest();
  expect(all).toEqual([...before, ...discarded, ...rest]);
  const stored = before.find(({ kind }) => kind === "artifact_stored") as unknown as { artifacts: [{ id: string }] };
  const got = await at(world.other.port, by, `/artifacts/${stored.artifacts[0].id}?trace=t`);
  expect([got.status, await got.text()]).toEqual([200, "The report."]);

  // The other ends the session, and nothing is left but what says that it is over.
  expect((await at(world.other.port, by, "/sessions/current", { method: "DELETE" })).status).toBe(200);
  expect((await world.redis.keys()).filter((key) => /:runs:/.test(key))).toEqual([]);
}, 120_000);

test("killed behind an answer that was taken: it is not asked for again", async () => {
  const world = await worldOf(program.path, calling("write", "approve", "send"));
  const by = await Visitor.at(world.one.port);
  const telling = new Telling(await by.ask("/chat", posted({ query: "Send the report." })));
  const before = await telling.rest();
  const { resume_token } = before.at(-1) as unknown as { resume_token: string };
  const on = new Telling(await at(world.one.port, by, "/chat/resume", posted({ resume_token, answer: "yes" })));
  await until(on, "tool_called", 2);
  await world.sending(1);
  await world.one.kill();
  await world.endLeases();

  await using again = await follow(world, by, before[0]?.["run"], on.lastId);
  await world.sending(2);
  world.sent[1]?.("sent");
  const rest = await again.rest();
  expect(rest.at(-1)).toMatchObject({ kind: "result", answer: 'It was "sent".' });
  expect(JSON.stringify(rest.at(-1))).toContain('\\"yes\\"');
  expect(rest.filter(({ kind }) => kind === "pause")).toEqual([]);
  const twice = await at(world.other.port, by, "/chat/resume", posted({ resume_token, answer: "no" }));
  expect(twice.status).toBe(404);
}, 120_000);

test("killed, then given up: whoever takes it over does not go on with it", async () => {
  const world = await worldOf(program.path, calling("send"));
  const by = await Visitor.at(world.one.port);
  const telling = new Telling(await by.ask("/chat", posted({ query: "Send the report." })));
  const before = await until(telling, "tool_called");
  await world.sending(1);
  await world.one.kill();
  await world.endLeases();
  const run = before[0]?.["run"] as string;
  expect((await at(world.other.port, by, `/chat/${run}`, { method: "DELETE" })).status).toBe(204);
  const rest = await (await follow(world, by, run, telling.lastId)).rest();
  expect(rest.at(-1)).toMatchObject({ kind: "failed", error: { code: "E_CANCELLED" } });
  expect(world.sent).toHaveLength(1);
}, 120_000);

test("Redis is killed and comes back in the middle of a run: whoever follows gets the answer, and no step is done again", async () => {
  const world = await worldOf(program.path, calling("write", "send"));
  const by = await Visitor.at(world.one.port);
  const telling = new Telling(await by.ask("/chat", posted({ query: "Send the report." })));
  const before = await until(telling, "tool_called", 2);
  await using elsewhere = await follow(world, by, before[0]?.["run"]);
  await world.sending(1);
  await world.redis.kill();
  world.sent[0]?.("sent");
  await world.redis.start();
  const rest = await telling.rest();
  expect(rest.at(-1)).toMatchObject({ kind: "result", answer: 'It was "sent".' });
  expect(await elsewhere.rest()).toEqual([...before, ...rest]);
  expect([world.written(), world.sent.length]).toEqual([1, 1]);
}, 120_000);
