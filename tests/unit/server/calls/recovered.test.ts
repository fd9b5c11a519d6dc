/** Calls that wait for a person, whose process died, and others that make them again. */
import { expect, test, vi } from "vitest";
import { SluiceError } from "../../../../web/src/errors/error.js";
import { WorkPlace } from "../../../../web/src/server/work/work-place.js";
import { called, elsewhere, posted, program, served, TROUBLED, visitor, type Serving } from "../sources/serving.js";
import { Telling, type Told } from "../sources/told.js";
import type { Visitor } from "../visitor.js";
import { SharedState, type Mortal } from "../work/mortal.js";

const ASKING = "lab.test_input_required_result_elicitation";
const ROUNDS = "lab.test_input_required_result_multi_round";
const PATIENCE = { timeout: 20_000, interval: 20 };

type Paused = Told & { readonly pause: string; readonly call: string; readonly payload: { readonly message: string } };

/** Nothing is cut or stored for being long. */
const WHOLE = { max_inline_size: 2_000_000, guardrail: { max_observation_chars: 2_000_000 } };

function serving({ state }: Mortal, store?: Serving["store"]): Serving {
  const secret = "a secret of thirty-two characters";
  return served({
    sources: [program("lab"), program("trouble", TROUBLED, { artifact_extraction: WHOLE })],
    secret,
    state,
    ...(store !== undefined && { store }),
  });
}

const paused = async (telling: Telling): Promise<Paused> => (await telling.next("paused")) as Paused;

function answered(at: Serving, by: Visitor, { pause }: Paused, answer: unknown): Promise<Response> {
  return elsewhere(at, by, `/pauses/${pause}`, posted({ answer }));
}

async function followed(at: Serving, by: Visitor, call: string, lastId?: string): Promise<Telling> {
  const headers: Record<string, string> = lastId === undefined ? {} : { "last-event-id": lastId };
  const response = await elsewhere(at, by, `/calls/${call}`, { headers });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return new Telling(response);
}

test("another process asks again by the same id, and the answer goes to it; killed twice, too", async () => {
  const shared = new SharedState();
  const processes = [shared.process(), shared.process(), shared.process()] as const;
  const one = serving(processes[0]);
  const by = await visitor(one);
  const question = await paused(await called(by, ASKING));
  processes[0].die();
  shared.passLeases();
  const two = serving(processes[1], one.store);
  const there = await followed(two, by, question.call);
  expect(await paused(there)).toEqual(question);
  expect(await paused(there)).toEqual(question);
  processes[1].die();
  shared.passLeases();
  const three = serving(processes[2], one.store);
  const last = await followed(three, by, question.call, there.lastId);
  expect(await paused(last)).toEqual(question);
  expect((await answered(three, by, question, { name: "Ada" })).status).toBe(204);
  expect((await answered(three, by, question, { name: "Eve" })).status).toBe(404);
  expect((await last.rest()).at(-1)).toMatchObject({ kind: "result", observation: '"Hello, Ada!"' });
  // Much later it is still told, and nothing else of it is left.
  expect((await (await followed(three, by, question.call)).rest()).at(-1)).toMatchObject({ kind: "result" });
  await vi.waitFor(async () => {
    expect(await shared.whole.runs.loadPlannerState(new WorkPlace("call", by.id, question.call).token)).toBeNull();
    shared.passLeases();
    expect(await shared.whole.work.due("test", "call", 9)).toEqual([]);
  }, PATIENCE);
});

test("an answer that was given, to the dead process or while nobody had the call, is not asked for again", async () => {
  const shared = new SharedState();
  const [first, second] = [shared.process(), shared.process()];
  const one = serving(first);
  const by = await visitor(one);
  const telling = await called(by, ROUNDS);
  const name = await paused(telling);
  await by.ask(`/pauses/${name.pause}`, posted({ answer: { name: "Ada" } }));
  const color = await paused(telling);
  expect([name.call, name.payload.message === color.payload.message]).toEqual([color.call, false]);
  first.die();
  // Its process is dead, and no other one is there: a person answers all the same.
  const place = new WorkPlace("call", by.id, color.call);
  await shared.whole.events.append(`pause ${by.id} ${color.pause}`, {
    kind: "answered",
    answer: { color: "red" },
  } as Told);
  shared.passLeases();
  const two = serving(second, one.store);
  const told = await (await followed(two, by, place.id)).rest();
  expect(told.filter(({ kind }) => kind === "paused")).toEqual([name, color]);
  expect(told.at(-1)).toMatchObject({ kind: "result", observation: '"Ada likes red."' });
});

test("a server that closes hands a call over at once", async () => {
  const shared = new SharedState();
  const one = serving(shared.process());
  const by = await visitor(one);
  const question = await paused(await called(by, ASKING));
  const two = serving(shared.process(), one.store);
  const begun = performance.now();
  await one.server[Symbol.asyncDispose]();
  const there = await followed(two, by, question.call);
  for (let time = 0; time < 2; time += 1) expect(await paused(there)).toEqual(question);
  expect(performance.now() - begun).toBeLessThan(10_000);
  await answered(two, by, question, { name: "Ada" });
  expect((await there.rest()).at(-1)).toMatchObject({ kind: "result", observation: '"Hello, Ada!"' });
});

test("a result that is too large for an event ends the call all the same, and it is not made again", async () => {
  const shared = new SharedState();
  const [first, second] = [shared.process(), shared.process()];
  const one = serving(first);
  const by = await visitor(one);
  const question = await paused(await called(by, "trouble.tell"));
  first.die();
  shared.passLeases();
  const two = serving(second, one.store);
  const there = await followed(two, by, question.call);
  await answered(two, by, question, {});
  expect((await there.rest()).at(-1)).toMatchObject({ kind: "failed", error: { code: "E_TOO_LARGE" } });
  await vi.waitFor(async () => {
    shared.passLeases();
    expect(await shared.whole.work.due("test", "call", 9)).toEqual([]);
  }, PATIENCE);
});

test("another's call is not found, as one that never was", async () => {
  const shared = new SharedState();
  const one = serving(shared.process());
  const [ada, again, bob] = [await visitor(one), await visitor(one), await visitor(one, "bob")];
  await using telling = await called(ada, ASKING);
  const { call } = await paused(telling);
  const never = await (await ada.ask(`/calls/${crypto.randomUUID()}`)).text();
  for (const other of [again, bob]) {
    const response = await other.ask(`/calls/${call}`);
    expect([response.status, await response.text()]).toEqual([404, never]);
  }
  for (const id of ["none", `..%2fcalls%2f${call}`, `${call}%20x`]) {
    expect((await ada.ask(`/calls/${id}`)).status).toBe(404);
  }
});

test("a client that leaves takes its call with it, and nothing is left to take up", async () => {
  const shared = new SharedState();
  const one = serving(shared.process());
  const by = await visitor(one);
  const telling = await called(by, ASKING);
  const question = await paused(telling);
  await telling[Symbol.asyncDispose]();
  await vi.waitFor(async () => expect((await answered(one, by, question, null)).status).toBe(404), PATIENCE);
  expect((await (await followed(one, by, question.call)).rest()).at(-1)).toMatchObject({
    kind: "failed",
    error: { code: "E_CANCELLED" },
  });
  shared.passLeases();
  expect(await shared.whole.work.due("test", "call", 9)).toEqual([]);
});

test("the end of a session ends its calls, those of dead processes too", async () => {
  const shared = new SharedState();
  const [first, second] = [shared.process(), shared.process()];
  const one = serving(first);
  const by = await visitor(one);
  const { call, pause } = await paused(await called(by, ASKING));
  first.die();
  const two = serving(second, one.store);
  await elsewhere(two, by, "/sessions/current", { method: "DELETE" });
  const place = new WorkPlace("call", by.id, call);
  expect(await shared.whole.runs.loadPlannerState(place.token)).toBeNull();
  for (const channel of [place.channel, place.list, `pause ${by.id} ${pause}`]) {
    expect(await shared.whole.events.has(channel)).toBe(false);
  }
});

test("a call without a question leaves nothing", async () => {
  const shared = new SharedState();
  const by = await visitor(serving(shared.process()));
  const held = vi.spyOn(shared.whole.work, "hold");
  const saved = vi.spyOn(shared.whole.runs, "savePlannerState");
  expect((await (await called(by, "lab.test_simple_text")).rest()).at(-1)).toMatchObject({ kind: "result" });
  expect([held.mock.calls.length, saved.mock.calls.length]).toEqual([0, 0]);
});

test("a call that cannot be stored asks nobody, and is not taken up", async () => {
  const shared = new SharedState();
  const by = await visitor(serving(shared.process()));
  const away = new SluiceError("E_STORE_WRITE", "The store is away.");
  vi.spyOn(shared.whole.runs, "savePlannerState").mockRejectedValueOnce(away);
  const told = await (await called(by, ASKING)).rest();
  expect(told.filter(({ kind }) => kind === "paused")).toEqual([]);
  shared.passLeases();
  expect(await shared.whole.work.due("test", "call", 9)).toEqual([]);
});

test("a process that was taken for dead gives up its call, whose answer is for the one that went on", async () => {
  const shared = new SharedState();
  const one = serving(shared.process());
  const by = await visitor(one);
  const telling = await called(by, ASKING);
  const question = await paused(telling);
  shared.passLeases();
  const { token } = new WorkPlace("call", by.id, question.call);
  expect(await shared.whole.runs.claimPlannerState(token, "another", 15)).toBe(true);
  await answered(one, by, question, { name: "Ada" });
  expect(await telling.rest()).toMatchObject([
    { kind: "failed", error: { code: "E_NOT_FOUND", message: expect.stringContaining("Another process went on") } },
  ]);
  expect(await shared.whole.runs.loadPlannerState(token)).toMatchObject({ name: ASKING });
  expect((await shared.whole.events.latest(`call ${by.id} ${question.call}`))?.event.kind).toBe("paused");
});
