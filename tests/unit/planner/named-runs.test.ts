/** Runs that are kept from their beginning on: whoever had them, another goes on behind the last step. */
import fc from "fast-check";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { PlannerEvent } from "../../../web/src/planner/event.js";
import type { LlmAnswer, LlmClient } from "../../../web/src/planner/llm/client.js";
import { MemoryStateStore } from "../../../web/src/planner/state-store.js";
import { type ReactPlannerOptions, ReactPlanner } from "../../../web/src/planner/react-planner.js";
import type { PlannerPause } from "../../../web/src/planner/run-state.js";
import { tool, type NativeTool } from "../../../web/src/planner/tool.js";

const NOT_FOUND = { code: "E_NOT_FOUND" };
const scope = { user_id: "ada", session_id: "s" };

/** A model that calls these one after the other, a step each, and then says how many results it saw. */
function calling(...names: readonly string[]): LlmClient {
  return {
    model: "test",
    ask: async ({ messages }, { onText } = {}): Promise<LlmAnswer> => {
      const results = messages.filter(({ role }) => role === "tool");
      const name = names[results.length];
      onText?.(`step ${results.length + 1}`);
      const toolCalls = name === undefined ? [] : [{ id: "0", name, arguments: "{}" }];
      const text = name === undefined ? results.map(({ content }) => content).join(" ") : "";
      return { text, toolCalls, stopReason: "stop" };
    },
  };
}

/** A tool that says how often it was called, and does what the test wants at that. */
function counting(at: (count: number, signal: AbortSignal) => unknown = () => undefined): NativeTool {
  let count = 0;
  return tool({
    name: "count",
    description: "",
    input: z.object({}),
    run: async (_, { signal }) => {
      const mine = ++count;
      await at(mine, signal);
      return mine;
    },
  });
}

const ask = tool({
  name: "ask",
  description: "",
  input: z.object({}),
  run: async (_, { pause }) => [await pause("await_input", { number: 1 }), await pause("await_input", { number: 2 })],
});

function planner(options: Partial<ReactPlannerOptions> = {}): ReactPlanner {
  return new ReactPlanner({
    catalog: [counting()],
    llm: calling("count", "count", "count"),
    artifactStore: new MemoryArtifactStore(),
    ...options,
  });
}

/** What a run tells, and what it comes to but for the time it took. */
async function told(token?: string): Promise<unknown> {
  const events: PlannerEvent[] = [];
  const named = token === undefined ? {} : { token };
  const outcome = await planner().run("Go.", { scope, ...named, onEvent: (event) => events.push(event) });
  return [events, { ...outcome, spent: undefined }];
}

describe("a run with a token", () => {
  test("is kept before its first step and after each, and forgotten when it is over", async () => {
    const stateStore = new MemoryStateStore();
    const seen: (number | undefined)[] = [];
    const look = async (): Promise<void> => {
      const kept = (await stateStore.loadPlannerState("t")) as { run: { spent: { steps: number } } } | null;
      seen.push(kept?.run.spent.steps);
    };
    const result = await planner({ stateStore, catalog: [counting(look)] }).run("Go.", {
      token: "t",
      scope,
      onResult: look,
    });
    expect(result).toMatchObject({ kind: "result", answer: "1 2 3", spent: { steps: 4 } });
    expect(seen).toEqual([0, 1, 2, 3]);
    expect(await stateStore.loadPlannerState("t")).toBeNull();
  });

  test("tells and gives the same as one without", async () => {
    expect(await told("t")).toEqual(await told());
  });

  test("is held by the process that runs it, and no other continues it meanwhile", async () => {
    const stateStore = new MemoryStateStore();
    const other = planner({ stateStore });
    let refused: unknown;
    const catalog = [
      counting(async () => (refused ??= await other.resume("t", { scope }).catch((error: unknown) => error))),
    ];
    expect(await planner({ stateStore, catalog }).run("Go.", { token: "t", scope })).toMatchObject({ answer: "1 2 3" });
    expect(refused).toMatchObject(NOT_FOUND);
  });

  test("that is given up goes on at once elsewhere, behind the last step, and text of the next is discarded", async () => {
    const stateStore = new MemoryStateStore();
    const controller = new AbortController();
    const stopping = counting((count) => count === 2 && controller.abort(new Error("closing")));
    const catalog = [stopping];
    const run = planner({ stateStore, catalog }).run("Go.", { token: "t", scope, signal: controller.signal });
    await expect(run).rejects.toThrow("closing");
    const events: PlannerEvent[] = [];
    const result = await planner({ stateStore, catalog }).resume("t", {
      scope,
      onEvent: (event) => events.push(event),
    });
    // The second call was begun twice.
    expect(result).toMatchObject({ answer: "1 3 4", spent: { steps: 4 } });
    expect(result.trajectory.steps).toHaveLength(4);
    expect(events.slice(0, 2)).toEqual([
      { kind: "text_discarded", step: 2 },
      { kind: "step_started", step: 2 },
    ]);
    expect(await stateStore.loadPlannerState("t")).toBeNull();
  });

  test("cannot be continued by another scope", async () => {
    const stateStore = new MemoryStateStore();
    const failing: LlmClient = { model: "test", ask: () => Promise.reject(new Error("no model")) };
    await expect(planner({ stateStore, llm: failing }).run("Go.", { token: "t", scope })).rejects.toThrow("no model");
    for (const others of [{}, { user_id: "eve", session_id: "s" }, { ...scope, trace_id: "x" }]) {
      await expect(planner({ stateStore }).resume("t", { scope: others })).rejects.toMatchObject(NOT_FOUND);
    }
    expect(await planner({ stateStore }).resume("t", { scope })).toMatchObject({ answer: "1 2 3" });
  });

  test("has a token that no other run has", async () => {
    const stateStore = new MemoryStateStore();
    await stateStore.savePlannerState("t", { anything: true });
    const taken = planner({ stateStore }).run("Go.", { token: "t" });
    await expect(taken).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT", path: "token" });
    expect(await stateStore.loadPlannerState("t")).toEqual({ anything: true });
  });

  test.each(["", "x".repeat(901), 7])("has no token such as %j", async (token) => {
    const run = planner().run("Go.", { token: token as string });
    await expect(run).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT", path: "token" });
  });

  test("needs a store that can keep what goes on", async () => {
    const real = new MemoryStateStore();
    const stateStore = {
      savePlannerState: real.savePlannerState.bind(real),
      loadPlannerState: real.loadPlannerState.bind(real),
    };
    const run = planner({ stateStore }).run("Go.", { token: "t" });
    await expect(run).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT", path: "token" });
  });

  test("whose result cannot be given waits, and gives it the next time", async () => {
    const stateStore = new MemoryStateStore();
    const onResult = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error("no disk"));
    await expect(planner({ stateStore }).run("Go.", { token: "t", onResult })).rejects.toThrow("no disk");
    expect(await planner({ stateStore }).resume("t", { onResult })).toMatchObject({ answer: "1 2 3" });
    expect(onResult).toHaveBeenCalledTimes(2);
    expect(onResult).toHaveBeenLastCalledWith(expect.objectContaining({ kind: "result", answer: "1 2 3" }));
  });

  test("that is too large for the store fails, and is there as it was saved last", async () => {
    const stateStore = new MemoryStateStore({ maxBytes: 2000 });
    const run = planner({ stateStore, catalog: [counting(() => undefined)], llm: calling("count", "count") });
    const wide = tool({ name: "count", description: "", input: z.object({}), run: () => "x".repeat(3000) });
    await expect(run.run("Go.", { token: "t" })).resolves.toMatchObject({ kind: "result" });
    const flooded = planner({ stateStore, catalog: [wide] }).run("Go.", { token: "t" });
    await expect(flooded).rejects.toMatchObject({ code: "E_TOO_LARGE" });
    expect(await stateStore.loadPlannerState("t")).toMatchObject({ run: { spent: { steps: 0 } } });
  });
});

test("wherever processes give up, the run comes to its answer and no step that was saved is made again", async () => {
  const names = ["a", "b", "c", "d"];
  const property = fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 4 }), async (stops) => {
    const stateStore = new MemoryStateStore();
    const [saved, again] = [new Set<string>(), [] as string[]];
    const catalog = names.map((name) =>
      tool({ name, description: "", input: z.object({}), run: () => saved.has(name) && again.push(name) }),
    );
    const here = planner({ stateStore, catalog, llm: calling(...names) });
    let outcome: unknown;
    for (const stop of [...stops, Infinity]) {
      const controller = new AbortController();
      let left = stop;
      const onEvent = (event: PlannerEvent): void => {
        // A step begins when those before it are saved.
        if (event.kind === "step_started") names.slice(0, event.step - 1).forEach((name) => saved.add(name));
        if (left-- === 0) controller.abort(new Error("closing"));
      };
      const options = { scope, onEvent, signal: controller.signal };
      const isBegun = (await stateStore.loadPlannerState("t")) !== null;
      const run = isBegun ? here.resume("t", options) : here.run("Go.", { ...options, token: "t" });
      outcome = await run.catch((error: unknown) => error);
      if ((outcome as { readonly kind?: string }).kind === "result") break;
    }
    expect(outcome).toMatchObject({ kind: "result", spent: { steps: 5 } });
    expect(await stateStore.loadPlannerState("t")).toBeNull();
    expect(again).toEqual([]);
  });
  await fc.assert(property, { numRuns: 60 });
});

/** A planner that asks twice, and its store. */
function asking(): Partial<ReactPlannerOptions> {
  const catalog = [ask, counting()];
  return { stateStore: new MemoryStateStore(), catalog, llm: calling("count", "ask", "count") };
}

describe("a pause of a run with a token", () => {
  test("is answered by its own token, once, and by no other", async () => {
    const here = planner(asking());
    const first = (await here.run("Go.", { token: "t", scope })) as PlannerPause;
    expect(first).toMatchObject({ kind: "pause", payload: { number: 1 }, tool: "ask" });
    expect(first.resumeToken).not.toBe("t");
    const both = await Promise.allSettled(
      ["a", "b"].map((answer) => here.resume(first.resumeToken, { scope, answer })),
    );
    const second = both.find(({ status }) => status === "fulfilled") as PromiseFulfilledResult<PlannerPause>;
    expect(both.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(second.value).toMatchObject({ kind: "pause", payload: { number: 2 } });
    // What answered the first pause does not answer the second.
    await expect(here.resume(first.resumeToken, { scope, answer: "c" })).rejects.toMatchObject(NOT_FOUND);
    await expect(here.resume(second.value.resumeToken, { answer: "c" })).rejects.toMatchObject(NOT_FOUND);
    const result = await here.resume(second.value.resumeToken, { scope, answer: "z" });
    expect(result).toMatchObject({ kind: "result", answer: expect.stringMatching(/^1 \["[ab]","z"\] 2$/) });
  });

  test("is given again by the run's own name, and answered by it where there is an answer", async () => {
    const here = planner(asking());
    const pause = await here.run("Go.", { token: "t", scope });
    expect(await here.resume("t", { scope })).toEqual(pause);
    expect(await here.resume("t", { scope })).toEqual(pause);
    expect(await here.resume("t", { scope, answer: null })).toMatchObject({ payload: { number: 2 } });
    expect(await here.resume("t", { scope, answer: "z" })).toMatchObject({ answer: '1 [null,"z"] 2' });
  });

  test("that was answered is not asked again, where the process dies then", async () => {
    const shared = asking();
    const controller = new AbortController();
    const pause = (await planner(shared).run("Go.", { token: "t", scope })) as PlannerPause;
    const onEvent = ({ kind }: PlannerEvent): void =>
      kind === "tool_called" ? controller.abort(new Error("dies")) : undefined;
    const answering = planner(shared).resume(pause.resumeToken, {
      scope,
      answer: "a",
      onEvent,
      signal: controller.signal,
    });
    await expect(answering).rejects.toThrow("dies");
    await expect(planner(shared).resume(pause.resumeToken, { scope, answer: "b" })).rejects.toMatchObject(NOT_FOUND);
    expect(await planner(shared).resume("t", { scope })).toMatchObject({ kind: "pause", payload: { number: 2 } });
    expect(await planner(shared).resume("t", { scope, answer: "z" })).toMatchObject({ answer: '1 ["a","z"] 2' });
  });
});

describe("a claim that is lost", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
    onTestFinished(() => void vi.useRealTimers());
  });

  test("ends the run at its next save, and what others saved stays", async () => {
    let offset = 0;
    const stateStore = new MemoryStateStore({ clock: () => Date.now() + offset });
    const catalog = [
      counting(async (count) => {
        if (count !== 2) return;
        offset = 60_000;
        expect(await stateStore.claimPlannerState("t", "another", 60)).toBe(true);
        expect(await stateStore.updatePlannerState("t", "another", "theirs")).toBe(true);
      }),
    ];
    const run = planner({ stateStore, catalog }).run("Go.", { token: "t" });
    await expect(run).rejects.toMatchObject(NOT_FOUND);
    expect(await stateStore.loadPlannerState("t")).toBe("theirs");
    expect(await stateStore.releasePlannerState("t", "another", "wait")).toBe(true);
  });

  test("that no other process has taken meanwhile is as good as before", async () => {
    let offset = 0;
    const stateStore = new MemoryStateStore({ clock: () => Date.now() + offset });
    const catalog = [counting((count) => void (offset = count * 120_000))];
    expect(await planner({ stateStore, catalog }).run("Go.", { token: "t" })).toMatchObject({ answer: "1 2 3" });
  });

  test("where the run is forgotten by somebody: it ends, and does not come back", async () => {
    const stateStore = new MemoryStateStore();
    const catalog = [counting((count) => (count === 2 ? stateStore.savePlannerState("t", null) : undefined))];
    await expect(planner({ stateStore, catalog }).run("Go.", { token: "t" })).rejects.toMatchObject(NOT_FOUND);
    expect(await stateStore.loadPlannerState("t")).toBeNull();
  });
});
