/** Runs whose process died, and others that take them up without being asked. */
import { expect, test, vi } from "vitest";
import type { ServeState } from "../../../../web/src/serve.js";
import { WorkPlace } from "../../../../web/src/server/work/work-place.js";
import type { Visitor } from "../visitor.js";
import { elsewhere, type Serving } from "../sources/serving.js";
import { Telling, type Told } from "../sources/told.js";
import { SharedState } from "../work/mortal.js";
import { asked, calling, chatting, doing, gate, kinds, posted, SECRET, visitor } from "./chatting.js";

const PATIENCE = { timeout: 20_000, interval: 20 };
const RECORD = { trace: null, max_parallel: null, timeout_seconds: null };

/** All events of a run that is over, as somebody reads them who comes much later. */
async function toldOf(by: Visitor, at: Pick<Serving, "server">, run: string): Promise<readonly Told[]> {
  return new Telling(await elsewhere(at, by, `/chat/${run}`)).rest();
}

/** Waits for the end of a run, of which nobody asks the servers. */
async function ended(state: ServeState, by: Visitor, run: string): Promise<void> {
  await vi.waitFor(async () => {
    const last = await state.events.latest(new WorkPlace("run", by.id, run).channel);
    expect(last?.event.kind).toMatch(/^(?:result|failed)$/);
  }, PATIENCE);
}

test("a run that nobody follows ends with its result, once, and is there for whoever comes later", async () => {
  const shared = new SharedState();
  const [first, second] = [shared.process(), shared.process()];
  const wait = gate();
  const hello = vi.fn<() => string>(() => "hello");
  const one = chatting(calling("hello", "wait"), [doing("hello", hello), wait.tool], {
    state: first.state,
    secret: SECRET,
  });
  const by = await visitor(one);
  const { run } = await asked(by);
  await wait.called(1);
  first.die();
  shared.passLeases();
  const tools = [doing("hello", hello), doing("wait", () => "elsewhere")];
  const other = chatting(calling("hello", "wait"), tools, { state: second.state, secret: SECRET, store: one.store });
  await ended(shared.whole, by, run);
  const told = await toldOf(by, other, run);
  expect(told.at(-1)).toMatchObject({ kind: "result", answer: 'They said "hello" "elsewhere".' });
  expect(kinds(told).filter((kind) => kind === "result")).toHaveLength(1);
  // The step that was done is not done again.
  expect(hello).toHaveBeenCalledTimes(1);
  await vi.waitFor(async () => {
    shared.passLeases();
    expect(await shared.whole.work.due("test", "run", 9)).toEqual([]);
  }, PATIENCE);
});

test(
  "of runs that are due a process does some at once, and the rest when these are done",
  { timeout: 120_000 },
  async () => {
    const shared = new SharedState();
    const [first, second] = [shared.process(), shared.process()];
    const wait = gate();
    const one = chatting(calling("wait"), [wait.tool], { state: first.state, secret: SECRET, limits: { runs: 10 } });
    const visitors = await Promise.all(["ada", "bob", "eve"].map((user) => visitor(one, user)));
    const runs: (readonly [Visitor, string])[] = [];
    for (const by of visitors) for (let number = 0; number < 6; number += 1) runs.push([by, (await asked(by)).run]);
    await wait.called(18);
    first.die();
    shared.passLeases();
    const again = gate();
    const other = { state: second.state, secret: SECRET, store: one.store, limits: { runs: 10 } };
    const survivor = chatting(calling("wait"), [again.tool], other);
    await again.called(16);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(again.calls()).toBe(16);
    again.open();
    for (const [by, run] of runs) await ended(shared.whole, by, run);
    for (const [by, run] of runs) {
      expect(kinds(await toldOf(by, survivor, run)).filter((kind) => kind === "result")).toHaveLength(1);
    }
  },
);

test("a process that closes hands its runs over at once, and nobody has to ask", async () => {
  const shared = new SharedState();
  const [first, second] = [shared.process(), shared.process()];
  const wait = gate();
  const one = chatting(calling("wait"), [wait.tool], { state: first.state, secret: SECRET });
  const by = await visitor(one);
  const { run } = await asked(by);
  await wait.called(1);
  const again = gate("wait");
  chatting(calling("wait"), [again.tool], { state: second.state, secret: SECRET, store: one.store });
  const begun = performance.now();
  await one.server[Symbol.asyncDispose]();
  await again.called(1);
  // A lease is fifteen seconds.
  expect(performance.now() - begun).toBeLessThan(10_000);
  again.open();
  await ended(shared.whole, by, run);
});

test("a run of which nothing was saved has failed, and says so", async () => {
  const shared = new SharedState();
  const serving = chatting(calling(), [], { state: shared.process().state, secret: SECRET });
  const by = await visitor(serving);
  const place = new WorkPlace("run", by.id);
  await shared.whole.work.hold("dead", [place]);
  await shared.whole.runs.savePlannerState(place.record, RECORD);
  shared.passLeases();
  await ended(shared.whole, by, place.id);
  const told = await toldOf(by, serving, place.id);
  expect(told).toMatchObject([{ kind: "failed", error: { code: "E_EXPIRED" } }]);
  expect(await shared.whole.runs.loadPlannerState(place.record)).toBeNull();
});

test("a run whose result was told before its process died is not done again", async () => {
  const shared = new SharedState();
  const [first, second] = [shared.process(), shared.process()];
  const wait = gate();
  const one = chatting(calling("wait"), [wait.tool], { state: first.state, secret: SECRET });
  const by = await visitor(one);
  const { run } = await asked(by);
  await wait.called(1);
  first.die();
  const place = new WorkPlace("run", by.id, run);
  await shared.whole.events.append(place.channel, { kind: "result" });
  shared.passLeases();
  const again = vi.fn<() => string>(() => "again");
  chatting(calling("wait"), [doing("wait", again)], { state: second.state, secret: SECRET, store: one.store });
  await vi.waitFor(async () => expect(await shared.whole.runs.loadPlannerState(place.token)).toBeNull(), PATIENCE);
  expect(again).not.toHaveBeenCalled();
});

test("a run whose session is over ends, and nothing of it is left", async () => {
  const shared = new SharedState();
  const [first, second] = [shared.process(), shared.process()];
  const wait = gate();
  const one = chatting(calling("wait"), [wait.tool], { state: first.state, secret: SECRET });
  const by = await visitor(one);
  const { run } = await asked(by);
  await wait.called(1);
  first.die();
  await shared.whole.sessions.end(by.id);
  shared.passLeases();
  chatting(calling("wait"), [wait.tool], { state: second.state, secret: SECRET, store: one.store });
  const place = new WorkPlace("run", by.id, run);
  await vi.waitFor(async () => expect(await shared.whole.events.has(place.channel)).toBe(false), PATIENCE);
  expect(await shared.whole.runs.loadPlannerState(place.token)).toBeNull();
  expect(wait.calls()).toBe(1);
});

test("a run that waits for a person waits on, and is answered anywhere", async () => {
  const shared = new SharedState();
  const [first, second] = [shared.process(), shared.process()];
  const ask = doing("ask", async (_, { pause }) => String(await pause("await_input", { question: "Who?" })));
  const one = chatting(calling("ask"), [ask], { state: first.state, secret: SECRET });
  const by = await visitor(one);
  const { telling } = await asked(by);
  const { resume_token } = (await telling.next("pause")) as Told;
  first.die();
  shared.passLeases();
  const other = chatting(calling("ask"), [ask], { state: second.state, secret: SECRET, store: one.store });
  await new Promise((resolve) => setTimeout(resolve, 2500));
  const answer = posted({ resume_token, answer: "Ada" });
  const told = await new Telling(await elsewhere(other, by, "/chat/resume", answer)).rest();
  expect(told.at(-1)).toMatchObject({ kind: "result", answer: 'They said "Ada".' });
});
