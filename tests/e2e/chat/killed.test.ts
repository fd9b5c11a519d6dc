/**
 * Runs of a chat whose process is killed: clients come back to another, and nothing is lost that they were told. The first
 * waits in the full run until the lease of the killed server ends by itself; the others end it.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Script } from "../../../web/src/planner/llm/scripted-model.js";
import { posted } from "../../unit/server/sources/serving.js";
import { isFull } from "../../support/full.js";
import { Telling, type Told } from "../../unit/server/sources/told.js";
import { Visitor } from "../../unit/server/visitor.js";
import { serverProgram, worldOf, type World } from "./servers.js";

let program: Awaited<ReturnType<typeof serverProgram>>;
beforeAll(async () => {
  program = await serverProgram();
}, 120_000);
afterAll(() => program.dispose());

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
