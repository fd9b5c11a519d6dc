/** A store that goes away in the middle of a run, and comes back. */
import { expect, test, vi } from "vitest";
import { SluiceError } from "../../../../web/src/errors/error.js";
import { memoryState } from "../../../../web/src/serve.js";
import { refused } from "../visitor.js";
import { asked, calling, chatting, doing, followed, kinds, posted, visitor } from "./chatting.js";

const away = (): Promise<never> => Promise.reject(new SluiceError("E_STORE_WRITE", "The store is away."));
const hello = doing("hello", () => "hello");

test("a step that cannot be kept is made again when the store is back, and the answer comes", async () => {
  const state = memoryState();
  vi.spyOn(state.runs, "updatePlannerState").mockImplementationOnce(away);
  const by = await visitor(chatting(calling("hello"), [hello], { state, secret: "s".repeat(32) }));
  const { telling } = await asked(by);
  const told = await telling.rest();
  expect(told.at(-1)).toMatchObject({ kind: "result", answer: 'They said "hello".', spent: { steps: 2 } });
  expect(told).toContainEqual({ kind: "text_discarded", step: 1 });
  expect(kinds(told).filter((kind) => kind === "tool_called")).toHaveLength(2);
});

test("a result that cannot be told is told when the log is back", async () => {
  const state = memoryState();
  const real = state.events.append.bind(state.events);
  let failures = 0;
  vi.spyOn(state.events, "append").mockImplementation((channel, event) =>
    event.kind === "result" && failures++ < 2 ? away() : real(channel, event),
  );
  const by = await visitor(chatting(calling("hello"), [hello], { state, secret: "s".repeat(32) }));
  const { run, telling } = await asked(by);
  expect((await telling.rest()).at(-1)).toMatchObject({ kind: "result" });
  expect(failures).toBe(3);
  expect(kinds(await (await followed(by, run)).rest()).filter((kind) => kind === "result")).toHaveLength(1);
});

test("a run that cannot be kept does not begin, and nothing is left of it", async () => {
  const state = memoryState();
  const saved = vi.spyOn(state.runs, "savePlannerState").mockImplementationOnce(away);
  const by = await visitor(chatting(calling("hello"), [hello], { state, secret: "s".repeat(32), limits: { runs: 1 } }));
  expect(await refused(await by.ask("/chat", posted({ query: "Go." })))).toEqual([503, "E_STORE_WRITE"]);
  for (const [token] of saved.mock.calls) expect(await state.runs.loadPlannerState(token)).toBeNull();
  // It counts no more.
  expect((await (await asked(by)).telling.rest()).at(-1)).toMatchObject({ kind: "result" });
});

test("a run of which nothing is kept any more is told to be lost", async () => {
  const state = memoryState();
  const by = await visitor(chatting(calling("hello"), [hello], { state, secret: "s".repeat(32) }));
  const run = crypto.randomUUID();
  await state.events.append(`run ${by.id} ${run}`, { kind: "run_started" });
  expect(await (await followed(by, run)).rest()).toEqual([
    { kind: "run_started" },
    { kind: "failed", error: { code: "E_EXPIRED", message: expect.any(String) } },
  ]);
});
