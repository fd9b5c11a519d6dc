/** Runs and calls that end before they are done: at a limit, or given up. */
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { CallPlace, PlannerOutcome } from "../../../web/src/planner/event.js";
import type { StopReason } from "../../../web/src/planner/llm/client.js";
import type { Script } from "../../../web/src/planner/llm/scripted-model.js";
import { ReactPlanner, type ReactPlannerOptions } from "../../../web/src/planner/react-planner.js";
import type { RunOptions } from "../../../web/src/planner/run-options.js";
import type { ExhaustedLimit } from "../../../web/src/planner/budget.js";
import { decideOutcome } from "../../../web/src/planner/run-state.js";
import { MemoryStateStore } from "../../../web/src/planner/state-store.js";
import {
  type CatalogSource,
  type NativeTool,
  type NativeToolOptions,
  type PlannerToolContext,
  tool,
} from "../../../web/src/planner/tool.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import type { ToolSpec } from "../../../web/src/tools/registry.js";
import { overAfter, timeoutResult, waitNotices } from "../../../web/src/mcp/wait-notices.js";
import { CHANGING } from "../server/sources/serving.js";
import { add, answered, once, OwnClient, planned } from "./planned.js";

/** Calls a tool for as long as there is one. */
const again: Script = ({ tools }) =>
  tools.length === 0 ? { text: "So far." } : { calls: [{ name: "math_add", args: { a: 1, b: 1 } }] };

describe("limits of a run", () => {
  test("in its last step the model gets no tools, and answers", async () => {
    const { planner } = planned(again, [add], { budget: { maxSteps: 3 } });
    expect(answered(await planner.run("Go on."))).toMatchObject({
      answer: "So far.",
      outcome: "steps",
      spent: { steps: 3 },
    });
  });

  test("tokens", async () => {
    const { planner } = planned(again, [add], { budget: { maxTokens: 300 } });
    expect(answered(await planner.run("Go on."))).toMatchObject({ answer: "So far.", outcome: "tokens" });
  });

  test("seconds, whatever a tool does", async () => {
    const never = tool({
      name: "math_add",
      description: "",
      input: z.object({}),
      run: () => new Promise(() => undefined),
    });
    const { planner } = planned(again, [never], { budget: { maxSeconds: 0.3 } });
    await expect(planner.run("Go on.")).rejects.toMatchObject({ code: "E_PLANNER_TIME" });
  });

  test("calls at the same time", async () => {
    let [now, most] = [0, 0];
    const slow = tool({
      name: "slow",
      description: "",
      input: z.object({ n: z.number() }),
      run: async () => {
        most = Math.max(most, (now += 1));
        await new Promise((resolve) => setTimeout(resolve, 5));
        now -= 1;
      },
    });
    const script = once(...Array.from({ length: 20 }, (_, n) => ({ name: "slow", args: { n } })));
    await planned(script, [slow], { absoluteMaxParallel: 4 }).planner.run("Go.", {
      planningHints: { max_parallel: 100 },
    });
    expect(most).toBe(4);
    most = 0;
    await planned(script, [slow]).planner.run("Go.", { planningHints: { max_parallel: 2 } });
    expect(most).toBe(2);
  });

  test("the caller may give up: calls end, and the model is not asked again", async () => {
    const controller = new AbortController();
    let ended = false;
    const wait = tool({
      name: "wait",
      description: "",
      input: z.object({}),
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            ended = true;
            reject(signal.reason as Error);
          });
          controller.abort(new Error("enough"));
        }),
    });
    const { planner, turns } = planned(once({ name: "wait" }), [wait]);
    await expect(planner.run("Go.", { signal: controller.signal })).rejects.toThrow("enough");
    expect([ended, turns.length]).toEqual([true, 1]);
  });
});

// How long calls of a run may be silent.

test("each call of a source's tool may be silent as long as the run says, in place of the source", async () => {
  const options = { timeout_s: 60, notify_after_s: [0.3, 70, 80] } as const;
  const node = new ToolNode(
    { name: "own", transport: "mcp", connection: CHANGING, ...options },
    { store: new MemoryArtifactStore() },
  );
  onTestFinished(() => node[Symbol.asyncDispose]());
  await node.connect();
  const { planner, events } = planned(once({ name: "own_hang" }), [node]);
  const begun = performance.now();
  const { trajectory } = answered(await planner.run("Go.", { callTimeoutSeconds: 1 }));
  expect(performance.now() - begun).toBeLessThan(20_000);
  const observation = JSON.stringify(timeoutResult(1, null));
  expect(trajectory.steps[0]?.calls[0]).toMatchObject({ isError: true, observation });
  const waits = events.flatMap((event) => (event.kind === "tool_waiting" ? [event.wait] : []));
  expect(waits).toEqual([waitNotices([0.3], 1)[0], overAfter(1)]);
});

test.each([0, 0.5, 301, Number.NaN, "10"])("%s seconds are refused", async (callTimeoutSeconds) => {
  const { planner } = planned(() => ({ text: "Done." }), []);
  const run = planner.run("Go.", { callTimeoutSeconds: callTimeoutSeconds as number });
  await expect(run).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT", path: "callTimeoutSeconds" });
});

const CANCELLED = '{"isError":true,"content":"The call was cancelled: go on without its result."}';

/** A tool that does what the test says. */
function doing(name: string, run: (context: PlannerToolContext) => unknown): NativeTool {
  return tool({ name, description: "", input: z.object({}), run: (_, context) => run(context) });
}

/** The same as a source has it. */
function ofSource(name: string, run: () => void): ToolSpec {
  return {
    name,
    description: "",
    input_schema: { type: "object" },
    side_effects: "external",
    tags: [],
    extra: { source: "test", namespace: "test" },
    call: () => {
      run();
      return Promise.reject(new Error("it was called"));
    },
  };
}

/** Goes on until it is given up, or for ever. */
function endless(name: string, heeds: boolean): NativeTool {
  return doing(
    name,
    ({ signal }) =>
      new Promise((_resolve, reject) => {
        if (heeds) signal.addEventListener("abort", () => reject(signal.reason as Error));
      }),
  );
}

test.each([true, false])("one call is given up, heeded: %s; the model is told so, and goes on", async (heeds) => {
  const calls = new Map<string, AbortController>();
  const callSignal = ({ tool: name }: CallPlace): AbortSignal | undefined => {
    const controller = new AbortController();
    calls.set(name, controller);
    return name === "math.add" ? undefined : controller.signal;
  };
  const kinds: string[] = [];
  const { planner } = planned(
    once({ name: "endless" }, { name: "math_add", args: { a: 1, b: 2 } }),
    [endless("endless", heeds), add],
    {
      onEvent: ({ kind }) => {
        kinds.push(kind);
        if (kind === "tool_returned") calls.get("endless")?.abort();
      },
    },
  );
  const { answer, trajectory } = answered(await planner.run("Do both.", { callSignal }));
  expect(answer).toBe("I saw 2 results.");
  expect(kinds.filter((kind) => kind === "tool_returned")).toHaveLength(2);
  expect(kinds).not.toContain("tool_failed");
  const observed = trajectory.steps[0]?.calls.map(({ observation, isError }) => [isError, observation]);
  expect(observed).toEqual([
    [true, CANCELLED],
    [false, '{"sum":3}'],
  ]);
});

/** A signal that is aborted as soon as others have their turn. */
function soonAborted(): AbortSignal {
  const controller = new AbortController();
  queueMicrotask(() => controller.abort());
  return controller.signal;
}

test.each<[string, (run: () => void) => CatalogSource, () => AbortSignal]>([
  ["a function's", (run) => doing("work", run), () => AbortSignal.abort()],
  ["a function's, at the last moment", (run) => doing("work", run), soonAborted],
  ["a source's", (run) => ofSource("work", run), () => AbortSignal.abort()],
])("a call that is given up before it begins is not made: %s", async (_, made, callSignal) => {
  const run = vi.fn<() => void>();
  const { planner, events } = planned(once({ name: "work" }), [], { catalog: [made(run)] });
  const { trajectory } = answered(await planner.run("Go.", { callSignal }));
  expect(trajectory.steps[0]?.calls[0]?.observation).toBe(CANCELLED);
  expect(run).not.toHaveBeenCalled();
  expect(events.filter(({ kind }) => kind.startsWith("tool_"))).toMatchObject([
    { kind: "tool_called" },
    { kind: "tool_returned", isError: true },
    { kind: "tool_answered", isError: true },
  ]);
});

test("a call that was given up does not wait for a person any more", async () => {
  const own = new AbortController();
  const asks = doing("asks", async ({ pause }) => {
    await pause("await_input", {}).catch(() => own.abort());
    return "an answer";
  });
  const { planner, events } = planned(once({ name: "asks" }), [asks]);
  const { trajectory } = answered(await planner.run("Ask.", { callSignal: () => own.signal }));
  expect(trajectory.steps[0]?.calls[0]?.observation).toBe(CANCELLED);
  expect(events.map(({ kind }) => kind)).not.toContain("paused");
});

/** Says all that a tool can say. */
function talk({ reportProgress, emitArtifact, emitChunk }: PlannerToolContext): void {
  reportProgress(1);
  emitArtifact("chart", {});
  emitChunk("log", "line");
}

describe("a call that is over says nothing more", () => {
  test.each([
    ["was given up", true],
    ["gave its result", false],
  ])("where it %s", async (_, isGivenUp) => {
    const own = new AbortController();
    const seen: PlannerToolContext[] = [];
    const work = doing("work", async (context) => {
      seen.push(context);
      talk(context);
      if (isGivenUp) own.abort();
      return isGivenUp ? new Promise(() => undefined) : 1;
    });
    const stateStore = new MemoryStateStore();
    const scope = { trace_id: "a trace" };
    const { planner, events } = planned(once({ name: "work" }), [work], { stateStore });
    answered(await planner.run("Go.", { scope, callSignal: () => own.signal }));
    const before = [[...events], await stateStore.loadHistory("a trace")];
    expect(
      events.filter(({ kind }) => ["tool_progress", "artifact_emitted", "chunk_emitted"].includes(kind)),
    ).toHaveLength(3);
    for (const context of seen) talk(context);
    expect([events, await stateStore.loadHistory("a trace")]).toEqual(before);
  });
});

test.each([
  ["was given up", CANCELLED],
  ["failed", '{"isError":true,"content":"The tool \\"work\\" failed without an explanation."}'],
])("what a call stored that %s is told of, and known of it", async (what, observation) => {
  const own = new AbortController();
  const work = doing("work", async ({ artifacts }) => {
    await artifacts.upload("a text of some length", { filename: "a.txt" });
    if (what === "failed") throw new Error("no more");
    own.abort();
    return new Promise(() => undefined);
  });
  const { planner, events, store } = planned(once({ name: "work" }), [work]);
  const { trajectory } = answered(await planner.run("Go.", { callSignal: () => own.signal }));
  const [call] = trajectory.steps[0]?.calls ?? [];
  expect(call).toMatchObject({ observation, artifacts: [{ filename: "a.txt" }] });
  expect(await store.exists(call?.artifacts[0]?.id ?? "")).toBe(true);
  expect(events.filter(({ kind }) => kind === "artifact_stored")).toMatchObject([
    { artifacts: [{ filename: "a.txt" }] },
  ]);
});

/** Makes a mistake at one tool's calls. */
function notThird({ tool: name }: CallPlace): undefined {
  if (name === "third") throw new Error("a mistake");
}

describe("a callSignal that gives no signal ends the run", () => {
  const refused = { code: "E_INVALID_ARGUMENT", path: "callSignal" };

  test.each<[string, () => unknown]>([
    ["null", () => null],
    ["a controller", () => new AbortController()],
    ["a promise", async () => new AbortController().signal],
    [
      "an error",
      () => {
        throw new TypeError("a mistake");
      },
    ],
  ])("but %s, and no tool is begun", async (_, callSignal) => {
    const run = vi.fn<() => void>();
    const { planner, turns } = planned(once({ name: "work" }), [doing("work", run)]);
    const options = { callSignal } as RunOptions;
    await expect(planner.run("Go.", options)).rejects.toMatchObject(refused);
    expect([run.mock.calls.length, turns.length]).toEqual([0, 1]);
  });

  test("and the step's other calls with it: those under way, and those that are still to begin", async () => {
    const seen: PlannerToolContext[] = [];
    let begun: (() => void) | undefined;
    const underWay = new Promise<void>((resolve) => (begun = resolve));
    const first = doing("first", async (context) => {
      seen.push(context);
      begun?.();
      return new Promise(() => undefined);
    });
    const second = doing("second", () => underWay);
    const [third, last] = [vi.fn<() => void>(), vi.fn<() => void>()];
    const { planner, events } = planned(
      once({ name: "first" }, { name: "second" }, { name: "third" }, { name: "last" }),
      [first, second, doing("third", third), doing("last", last)],
      { absoluteMaxParallel: 2 },
    );
    await expect(planner.run("Go.", { callSignal: notThird })).rejects.toMatchObject(refused);
    expect(seen[0]?.signal.reason).toMatchObject(refused);
    expect([third.mock.calls.length, last.mock.calls.length]).toEqual([0, 0]);
    const before = [...events];
    seen[0]?.reportProgress(1);
    expect(events).toEqual(before);
    expect(events.filter(({ kind }) => kind === "tool_called")).not.toContainEqual(
      expect.objectContaining({ tool: "last" }),
    );
  });
});

test("giving up the run ends all calls", async () => {
  const controller = new AbortController();
  const { planner } = planned(once({ name: "endless" }), [endless("endless", true)], {
    onEvent: ({ kind }) => kind === "tool_called" && controller.abort(new Error("enough")),
  });
  const own = new AbortController();
  const run = planner.run("Go on.", { signal: controller.signal, callSignal: () => own.signal });
  await expect(run).rejects.toThrow("enough");
});

test.each<[string, StopReason, ExhaustedLimit | undefined, PlannerOutcome]>([
  ["All of it.", "stop", undefined, "answered"],
  ["Half of", "length", undefined, "length"],
  ["", "length", undefined, "length"],
  ["", "content_filter", undefined, "content_filter"],
  ["", "stop", undefined, "empty"],
  [" \n", "stop", undefined, "empty"],
  ["What there was.", "stop", "tokens", "tokens"],
  ["", "tool_calls", "steps", "steps"],
  ["Half of", "length", "steps", "length"],
])("%j that ends by %s, with a budget that ends by %s, is %s", (text, stopReason, exhausted, outcome) => {
  expect(decideOutcome({ text, stopReason }, exhausted)).toBe(outcome);
});

/** Slips of those who write tools and hosts, and options that cannot be. */
const input = z.object({});
const named = (name: string, run: NativeToolOptions<typeof input>["run"]): ReturnType<typeof tool> =>
  tool({ name, description: "", input, run });

describe("a tool that heeds no signal", () => {
  const deaf = named("deaf", () => new Promise(() => undefined));

  test("does not keep a run that is given up", async () => {
    const controller = new AbortController();
    const { planner } = planned(once({ name: "deaf" }), [deaf], {
      onEvent: ({ kind }) => kind === "tool_called" && controller.abort(new Error("enough")),
    });
    await expect(planner.run("Go.", { signal: controller.signal })).rejects.toThrow("enough");
  });

  test("does not keep whoever stops listening", async () => {
    const { planner } = planned(once({ name: "deaf" }), [deaf]);
    const kinds: string[] = [];
    for await (const { kind } of planner.stream("Go.")) {
      kinds.push(kind);
      if (kind === "tool_called") break;
    }
    expect(kinds.at(-1)).toBe("tool_called");
  });
});

describe("a pause", () => {
  test("that the tool does not wait for is one all the same", async () => {
    const forgets = named("forgets", (_, { pause }) => {
      void pause("approval_required", { amount: 1 });
      return "done";
    });
    const { planner } = planned(once({ name: "forgets" }), [forgets]);
    expect(await planner.run("Go.")).toMatchObject({
      kind: "pause",
      reason: "approval_required",
      payload: { amount: 1 },
    });
  });

  test.each([
    ["a reason that there is not", "approve" as "await_input", {}, "The reason of a pause must be one of"],
    ["a payload that is no JSON", "await_input", { n: 1n }, "JSON"],
  ] as const)("with %s is the tool's failure", async (_, reason, payload, sentence) => {
    const slips = named("slips", (_args, { pause }) => pause(reason, payload));
    const { planner, events } = planned(once({ name: "slips" }), [slips]);
    const { answer } = answered(await planner.run("Go."));
    expect(answer).toBe("I saw 1 results.");
    const failed = events.find(({ kind }) => kind === "tool_failed");
    expect(failed).toMatchObject({ error: { code: "E_INVALID_ARGUMENT" } });
    expect(JSON.stringify(failed)).toContain(sentence);
  });
});

test("a field that a scope has not is refused at once, and not told to the model", async () => {
  const { planner, turns } = planned(once({ name: "math_add", args: { a: 1, b: 2 } }), [add]);
  const scope = { userId: "ada" } as object;
  await expect(planner.run("Go.", { scope })).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
  expect(turns).toEqual([]);
});

test.each([
  [{ name: "a", description: "", run: () => 1 }, /^catalog\[1\] must be a tool as tool\(\) makes it/],
  [null, /^catalog\[1\]/],
  ["add", /^catalog\[1\]/],
])("what is no source of tools is refused with its place: %j", (source, sentence) => {
  const catalog = [add, source] as ReactPlannerOptions["catalog"];
  const making = (): unknown =>
    new ReactPlanner({ catalog, llm: new OwnClient(), artifactStore: new MemoryArtifactStore() });
  expect(making).toThrow(sentence);
});

test.each([
  [{ stopReason: "length", text: "half an ans" }, "length"],
  [{ stopReason: "content_filter", text: "" }, "content_filter"],
  [{ text: " " }, "empty"],
  [{ text: "Yes." }, "answered"],
] as const)("an answer that is not whole is told of: %j", async (answer, outcome) => {
  const { planner, events } = planned(once(), [add], { llm: new OwnClient(answer) });
  expect(answered(await planner.run("Go."))).toMatchObject({ answer: answer.text, outcome });
  expect(events.at(-1)).toMatchObject({ kind: "finished", outcome });
});

const llm = { model: "none", ask: () => Promise.reject(new Error("nobody is asked")) };

test.each<[Record<string, unknown>, string, string]>([
  [{ llm }, "catalog", "a list of tools"],
  [{ catalog: [] }, "llm", "a model, such as an OpenAiClient"],
  [{ catalog: [], llm: "gpt-4o" }, "llm", "a model"],
  [{ catalog: {}, llm }, "catalog", "a list of tools"],
  [{ catalog: [], llm, maxStepChars: 255 }, "maxStepChars", "a whole number of at least 256"],
  [{ catalog: [], llm, absoluteMaxParallel: 1.5 }, "absoluteMaxParallel", "a whole number above 0"],
  [{ catalog: [], llm, artefactStore: {} }, "artefactStore", "did you mean artifactStore?"],
  [{ catalog: [], llm, leaseSeconds: -1 }, "leaseSeconds", "a number above 0"],
  [{ catalog: [], llm, leaseSeconds: Infinity }, "leaseSeconds", "a number above 0"],
  [{ catalog: [], llm, budget: { maxStep: 1 } }, "budget.maxStep", "did you mean maxSteps?"],
  [{ catalog: [], llm, budget: { maxSteps: "2" } }, "budget.maxSteps", "a whole number above 0"],
  [{ catalog: [], llm, budget: { maxSteps: 1.5 } }, "budget.maxSteps", "a whole number above 0"],
  [{ catalog: [], llm, budget: { maxSteps: 0 } }, "budget.maxSteps", "a whole number above 0"],
  [{ catalog: [], llm, budget: { maxTokens: Number.NaN } }, "budget.maxTokens", "a whole number above 0"],
  [{ catalog: [], llm, budget: { maxSeconds: "60" } }, "budget.maxSeconds", "a number above 0"],
  [{ catalog: [], llm, budget: { maxSeconds: -1 } }, "budget.maxSeconds", "a number above 0"],
  [{ catalog: [], llm, budget: [] }, "budget", "must be an object"],
])("a planner of %j is refused, with what is wrong of %s", (options, path, sentence) => {
  const refused = { code: "E_INVALID_ARGUMENT", path, message: expect.stringContaining(sentence) as string };
  expect(() => new ReactPlanner(options as unknown as ReactPlannerOptions)).toThrow(expect.objectContaining(refused));
});

test.each([{}, { maxSteps: 1 }, { maxSteps: Infinity, maxTokens: Infinity, maxSeconds: 0.5 }])(
  "a budget of %j is taken",
  (budget) => {
    expect(() => new ReactPlanner({ catalog: [], llm, budget })).not.toThrow();
  },
);

test.each<[unknown, string]>([
  [{ planningHints: { max_parallel: 0 } }, "planningHints"],
  [{ scope: "ada" }, "scope"],
  [{ signal: {} }, "signal"],
  [{ user: "ada" }, "user"],
])("a run with %j is refused", async (options, path) => {
  const { planner, turns } = planned(() => ({ text: "x" }), []);
  const refused = { code: "E_INVALID_ARGUMENT", path };
  await expect(planner.run("Go.", options as RunOptions)).rejects.toMatchObject(refused);
  await expect(planner.resume("token", options as RunOptions)).rejects.toMatchObject(refused);
  expect(turns).toEqual([]);
});

test.each([[""], ["  "], [undefined], [{}]])("no query is %j", async (query) => {
  const { planner } = planned(() => ({ text: "x" }), []);
  await expect(planner.run(query as string)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT", path: "query" });
});
