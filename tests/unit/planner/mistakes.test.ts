/** Slips of those who write tools and hosts, and options that cannot be. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { type ReactPlannerOptions, ReactPlanner, type RunOptions } from "../../../web/src/planner/react-planner.js";
import { tool, type NativeToolOptions } from "../../../web/src/planner/tool.js";
import { add, answered, once, OwnClient, planned } from "./planned.js";

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
