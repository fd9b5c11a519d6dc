/** Going on with runs that waited: once, whoever asks, whatever fails. */
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { LlmAnswer, LlmClient } from "../../../web/src/planner/llm/client.js";
import { MemoryStateStore, type StateStore } from "../../../web/src/planner/state-store.js";
import { type ReactPlannerOptions, ReactPlanner } from "../../../web/src/planner/react-planner.js";
import type { PlannerPause } from "../../../web/src/planner/run-state.js";
import { tool } from "../../../web/src/planner/tool.js";

const NOT_FOUND = { code: "E_NOT_FOUND" };
const ask = tool({
  name: "ask",
  description: "",
  input: z.object({}),
  run: (_, { pause }) => pause("await_input", { question: "Which?" }),
});

/** A tool that does what the test says. */
function working(work: (signal: AbortSignal) => unknown): ReturnType<typeof tool> {
  return tool({ name: "work", description: "", input: z.object({}), run: (_, { signal }) => work(signal) });
}

/** Why a signal was aborted, when it is. */
const ended = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(signal.reason)));
const down = (): Promise<never> => Promise.reject(new Error("down"));

/** A model that calls these one after the other, and then says what the last of them said. */
function calling(...names: readonly string[]): LlmClient {
  return {
    model: "test",
    ask: async ({ messages }): Promise<LlmAnswer> => {
      const results = messages.filter(({ role }) => role === "tool");
      const name = names[results.length];
      const toolCalls = name === undefined ? [] : [{ id: "0", name, arguments: "{}" }];
      return { text: results.at(-1)?.content ?? "", toolCalls, stopReason: "stop" };
    },
  };
}

async function paused(options: Partial<ReactPlannerOptions> = {}): Promise<{ planner: ReactPlanner; token: string }> {
  const planner = new ReactPlanner({
    catalog: [ask],
    llm: calling("ask"),
    artifactStore: new MemoryArtifactStore(),
    ...options,
  });
  const pause = (await planner.run("Go.")) as PlannerPause;
  expect(pause.kind).toBe("pause");
  return { planner, token: pause.resumeToken };
}

/** A store of the host's own, of the two methods that the specification shows. */
function plainStore(): Pick<StateStore, "savePlannerState" | "loadPlannerState"> & { kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    savePlannerState: async (token, payload) => void kept.set(token, JSON.stringify(payload)),
    loadPlannerState: async (token) => JSON.parse(kept.get(token) ?? "null") as unknown,
  };
}

describe.each([
  ["a store with claims", () => new MemoryStateStore()],
  ["a store that only saves and loads", plainStore],
  ["no store", () => undefined],
])("with %s", (_, opened) => {
  const options = (): Partial<ReactPlannerOptions> => {
    const stateStore = opened();
    return stateStore === undefined ? {} : { stateStore };
  };

  test("of many who go on with a run one does, and the token is good for nothing after that", async () => {
    const { planner, token } = await paused(options());
    const outcomes = await Promise.allSettled([1, 2, 3].map((answer) => planner.resume(token, { answer })));
    const refusals = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
    expect(refusals).toEqual([expect.objectContaining(NOT_FOUND), expect.objectContaining(NOT_FOUND)]);
    await expect(planner.resume(token)).rejects.toMatchObject(NOT_FOUND);
  });

  test("a run that fails waits again, for an answer to the same question", async () => {
    const work = vi.fn<() => string>().mockReturnValue("done");
    const good = calling("ask", "work");
    const ask2 = vi.fn<LlmClient["ask"]>((request, how) => good.ask(request, how));
    const llm = { model: "test", ask: ask2 };
    const { planner, token } = await paused({ ...options(), catalog: [ask, working(work)], llm });
    ask2.mockRejectedValueOnce(new Error("no model"));
    await expect(planner.resume(token, { answer: 1 })).rejects.toThrow("no model");
    expect(await planner.resume(token, { answer: 2 })).toMatchObject({ kind: "result", answer: '"done"' });
    expect(work).toHaveBeenCalledTimes(1);
  });

  test("a run that is given up waits again", async () => {
    const controller = new AbortController();
    const catalog = [ask, working(() => controller.abort(new Error("enough")))];
    const { planner, token } = await paused({ ...options(), catalog, llm: calling("ask", "work") });
    await expect(planner.resume(token, { answer: 1, signal: controller.signal })).rejects.toThrow("enough");
    expect(await planner.resume(token, { answer: 2 })).toMatchObject({ kind: "result" });
  });

  test("another scope's attempt is not a claim", async () => {
    const { planner, token } = await paused(options());
    await expect(planner.resume(token, { scope: { user_id: "eve" } })).rejects.toMatchObject(NOT_FOUND);
    expect(await planner.resume(token, { answer: "a" })).toMatchObject({ kind: "result", answer: '"a"' });
  });
});

describe("a claim", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
    onTestFinished(() => void vi.useRealTimers());
  });
  const llm = calling("ask", "work");

  test("is renewed as long as the run goes on, and no longer", async () => {
    const stateStore = new MemoryStateStore();
    const claim = vi.spyOn(stateStore, "claimPlannerState");
    let another: boolean | undefined;
    const catalog = [
      ask,
      working(async () => {
        await vi.advanceTimersByTimeAsync(600_000);
        another = await stateStore.claimPlannerState(token, "another", 60);
      }),
    ];
    const { planner, token } = await paused({ stateStore, catalog, llm });
    expect(await planner.resume(token, { answer: 1 })).toMatchObject({ kind: "result" });
    expect(another).toBe(false);
    const calls = claim.mock.calls.length;
    expect(calls).toBeGreaterThan(20);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(claim).toHaveBeenCalledTimes(calls);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("that others have taken ends the run, and nothing comes of it", async () => {
    let offset = 0;
    const stateStore = new MemoryStateStore({ clock: () => Date.now() + offset });
    let reason: unknown;
    const catalog = [
      ask,
      working(async (signal) => {
        offset = 60_000;
        expect(await stateStore.claimPlannerState(token, "another", 60)).toBe(true);
        const end = ended(signal);
        await vi.advanceTimersByTimeAsync(15_000);
        reason = await end;
      }),
    ];
    const { planner, token } = await paused({ stateStore, catalog, llm });
    await expect(planner.resume(token, { answer: 1 })).rejects.toMatchObject(NOT_FOUND);
    await vi.waitFor(() => expect(reason).toMatchObject(NOT_FOUND));
    expect(await stateStore.releasePlannerState(token, "another", "wait")).toBe(true);
  });

  test("that is lost leaves no second way on, where the run paused again meanwhile", async () => {
    let offset = 0;
    const stateStore = new MemoryStateStore({ clock: () => Date.now() + offset });
    const saved = vi.spyOn(stateStore, "savePlannerState");
    const catalog = [
      ask,
      working(async () => {
        offset = 60_000;
        await stateStore.claimPlannerState(token, "another", 60);
      }),
    ];
    const { planner, token } = await paused({ stateStore, catalog, llm: calling("ask", "work", "ask") });
    await expect(planner.resume(token, { answer: 1 })).rejects.toMatchObject(NOT_FOUND);
    const [first, second] = saved.mock.calls.map(([each]) => each);
    expect(first).toBe(token);
    expect(second).not.toBe(token);
    expect(await stateStore.loadPlannerState(second ?? "")).toBeNull();
  });

  test("that no other process has taken meanwhile is as good as before", async () => {
    let offset = 0;
    const stateStore = new MemoryStateStore({ clock: () => Date.now() + offset });
    const catalog = [ask, working(() => void (offset = 120_000))];
    const { planner, token } = await paused({ stateStore, catalog, llm });
    expect(await planner.resume(token, { answer: 1 })).toMatchObject({ kind: "result" });
  });

  test("outlives a store that fails twice", async () => {
    const stateStore = new MemoryStateStore();
    const claim = vi.spyOn(stateStore, "claimPlannerState");
    const work = async (signal: AbortSignal): Promise<void> => {
      claim.mockImplementationOnce(down).mockImplementationOnce(down);
      await vi.advanceTimersByTimeAsync(120_000);
      signal.throwIfAborted();
    };
    const { planner, token } = await paused({ stateStore, catalog: [ask, working(work)], llm });
    expect(await planner.resume(token, { answer: 1 })).toMatchObject({ kind: "result", answer: "null" });
  });

  test.each([
    ["fails", down],
    ["does not answer", () => new Promise<never>(() => undefined)],
  ])("does not outlive a store that %s for a whole lease", async (_, failing) => {
    const stateStore = new MemoryStateStore();
    const claim = vi.spyOn(stateStore, "claimPlannerState");
    const work = async (signal: AbortSignal): Promise<void> => {
      claim.mockImplementation(failing);
      await vi.advanceTimersByTimeAsync(45_000);
      expect(signal.aborted).toBe(false);
      const end = ended(signal);
      await vi.advanceTimersByTimeAsync(15_000);
      await end;
    };
    const { planner, token } = await paused({ stateStore, catalog: [ask, working(work)], llm });
    await expect(planner.resume(token, { answer: 1 })).rejects.toMatchObject(NOT_FOUND);
  });
});

describe("a store of the host's own", () => {
  test("that keeps no runs is still asked for its artifact store", async () => {
    const artifactStore = new MemoryArtifactStore();
    const store = tool({
      name: "work",
      description: "",
      input: z.object({}),
      run: async (_, { artifacts }) => (await artifacts.upload("a text", {})).id,
    });
    const planner = new ReactPlanner({
      catalog: [ask, store],
      llm: calling("ask", "work"),
      stateStore: { artifactStore },
    });
    const pause = (await planner.run("Go.")) as PlannerPause;
    const result = await planner.resume(pause.resumeToken, { answer: 1 });
    const id = JSON.parse((result as { answer: string }).answer) as string;
    expect(await artifactStore.exists(id)).toBe(true);
  });

  test("that fails at the end of a run: the run is there still, and goes on when its lease is over", async () => {
    let now = 0;
    const stateStore = new MemoryStateStore({ clock: () => now });
    const { planner, token } = await paused({ stateStore });
    vi.spyOn(stateStore, "releasePlannerState").mockRejectedValueOnce(new Error("down"));
    await expect(planner.resume(token, { answer: 1 })).rejects.toThrow("down");
    await expect(planner.resume(token, { answer: 2 })).rejects.toMatchObject(NOT_FOUND);
    now += 60_000;
    expect(await planner.resume(token, { answer: 3 })).toMatchObject({ answer: "3" });
  });

  test("whose last answer was lost has done what it was asked", async () => {
    const stateStore = new MemoryStateStore();
    const real = stateStore.releasePlannerState.bind(stateStore);
    vi.spyOn(stateStore, "releasePlannerState").mockImplementation(async (...words) => {
      await real(...words);
      throw new Error("the connection broke");
    });
    const { planner, token } = await paused({ stateStore });
    expect(await planner.resume(token, { answer: 1 })).toMatchObject({ kind: "result", answer: "1" });
  });
});
