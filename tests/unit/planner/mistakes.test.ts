/** Slips of those who write tools and hosts. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { type ReactPlannerOptions, ReactPlanner } from "../../../web/src/planner/react-planner.js";
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

test("a limit that there is not is refused: it would lift the one that was meant", () => {
  const budget = { maxStep: 1 } as object;
  expect(() => planned(once(), [add], { budget })).toThrow("did you mean maxSteps?");
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
