/** Turns of clients that hold to nothing: ids of any kind, and as many calls as they like. */
import { expect, test } from "vitest";
import { z } from "zod";
import { OpenAiClient } from "../../../web/src/planner/llm/openai.js";
import type { LlmMessage, LlmToolCall } from "../../../web/src/planner/llm/client.js";
import type { PlannerPause } from "../../../web/src/planner/run-state.js";
import { leading, tool } from "../../../web/src/planner/tool.js";
import { callsOf } from "../../../web/src/planner/call.js";
import { answered, OwnClient, planned } from "./planned.js";

/** Calls of `work`, by their ids. */
const wanted = (...ids: readonly string[]): readonly LlmToolCall[] =>
  ids.map((id) => ({ id, name: "work", arguments: "{}" }));

const idsOf = (calls: readonly LlmToolCall[]): readonly string[] => calls.map(({ id }) => id);

const work = tool({ name: "work", description: "", input: z.object({}), run: () => "done" });
const ask = tool({
  name: "work",
  description: "",
  input: z.object({}),
  run: (_, { pause, llmContext }) => pause("await_input", llmContext),
});

const INHERITED = ["constructor", "__proto__", "toString", "hasOwnProperty"];

test("ids may be names that every object has", async () => {
  const llm = new OwnClient({ toolCalls: wanted(...INHERITED) });
  const { planner, events } = planned(() => ({ text: "" }), [work], { llm });
  answered(await planner.run("Go."));
  expect(llm.told.map(({ callId, content }) => [callId, content])).toEqual(INHERITED.map((id) => [id, '"done"']));
  expect(events.filter(({ kind }) => kind === "tool_called")).toHaveLength(4);
});

test("calls with such ids wait and go on, also where the run was kept as JSON", async () => {
  const kept = new Map<string, string>();
  const stateStore = {
    savePlannerState: async (token: string, payload: unknown) => void kept.set(token, JSON.stringify(payload)),
    loadPlannerState: async (token: string) => JSON.parse(kept.get(token) ?? "null") as unknown,
  };
  const llm = new OwnClient({ toolCalls: wanted(...INHERITED) });
  const { planner } = planned(() => ({ text: "" }), [ask], { llm, stateStore });
  let outcome = await planner.run("Go.");
  for (const id of INHERITED)
    outcome = await planner.resume((outcome as PlannerPause).resumeToken, { answer: `for ${id}` });
  answered(outcome);
  expect(llm.told.map(({ content }) => content)).toEqual(INHERITED.map((id) => `"for ${id}"`));
});

test("each call has an id of its own, whatever the client gives", async () => {
  const llm = new OwnClient({ toolCalls: wanted("a", "a", "", "a_2", "") });
  const { planner, events } = planned(() => ({ text: "" }), [work], { llm });
  const { trajectory } = answered(await planner.run("Go."));
  const ids = ["a", "a_2", "call_2", "a_2_2", "call_4"];
  expect(llm.told.map(({ callId }) => callId)).toEqual(ids);
  expect(llm.messages.find(({ role }) => role === "assistant")).toMatchObject({ toolCalls: ids.map((id) => ({ id })) });
  expect(trajectory.steps[0]?.calls.map(({ id }) => id)).toEqual(ids);
  expect(events.flatMap((event) => (event.kind === "tool_called" ? [event.call] : []))).toEqual(ids);
});

test("ids stay short and apart, however long and alike they are", () => {
  const ids = idsOf(callsOf(wanted(...Array.from({ length: 200 }, () => "x".repeat(1_000))), 200));
  expect(new Set(ids).size).toBe(200);
  expect(Math.max(...ids.map(({ length }) => length))).toBe(256);
});

test.each([
  [{}, 256, 44],
  [{ maxStepChars: 1_000 }, 3, 297],
  [{ maxStepChars: 256 }, 1, 299],
])("with %j %d of 300 calls are made, and it is told that the others are not", async (options, made, leftOut) => {
  const llm = new OwnClient({ toolCalls: wanted(...Array.from({ length: 300 }, (_, at) => `${at}`)) });
  const { planner, events } = planned(() => ({ text: "" }), [work], { llm, ...options });
  answered(await planner.run("Go."));
  const ids = Array.from({ length: made }, (_, at) => `${at}`);
  expect(llm.told.map(({ callId }) => callId)).toEqual(ids);
  const said = llm.messages.find((message) => message.role === "assistant");
  expect(idsOf(said?.toolCalls ?? [])).toEqual(ids);
  const { role, content } = llm.messages.at(-1) ?? {};
  expect([role, content]).toEqual(["user", expect.stringContaining(`Of your 300 calls the first ${made} were made.`)]);
  expect(content).toContain(`The last ${leftOut} were not made`);
  const turns = events.filter(({ kind }) => kind === "model_answered");
  expect(turns).toEqual([
    { kind: "model_answered", step: 1, calls: made, leftOut },
    { kind: "model_answered", step: 2, calls: 0 },
  ]);
});

test.each(["as a stream", "as one object"])("a model's server may want 300 calls, %s", async (way) => {
  const asked: LlmMessage[][] = [];
  const toolCalls = Array.from({ length: 300 }, (_, index) => ({
    index,
    id: `c${index}`,
    type: "function",
    function: { name: "work", arguments: "{}" },
  }));
  const answer = (): Response => {
    if (asked.length > 1) return Response.json({ choices: [{ message: { content: "Done." }, finish_reason: "stop" }] });
    if (way === "as one object") {
      return Response.json({ choices: [{ message: { tool_calls: toolCalls }, finish_reason: "tool_calls" }] });
    }
    const chunks = toolCalls.flatMap(({ index, id }) => [
      { choices: [{ delta: { tool_calls: [{ index, id, function: { name: "work", arguments: "{" } }] } }] },
      { choices: [{ delta: { tool_calls: [{ index, function: { arguments: "}" } }] } }] },
    ]);
    const end = { choices: [{ delta: {}, finish_reason: "tool_calls" }] };
    const events = [...chunks, end].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
    return new Response(`${events}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
  };
  const llm = new OpenAiClient({
    model: "m",
    baseUrl: "http://model.test/v1",
    fetch: async (_, init) => {
      const { messages } = JSON.parse(init?.body as string) as { messages: LlmMessage[] };
      asked.push(messages);
      return answer();
    },
  });
  const { planner, events } = planned(() => ({ text: "" }), [work], { llm });
  expect(answered(await planner.run("Go.")).trajectory.steps[0]?.calls).toHaveLength(256);
  expect(asked[1]?.at(-1)?.content).toContain("The last 44 were not made");
  expect(events).toContainEqual({ kind: "model_answered", step: 1, calls: 256, leftOut: 44 });
});

test("calls that were left out are told also where the run waited meanwhile, and was kept as JSON", async () => {
  const kept = new Map<string, string>();
  const stateStore = {
    savePlannerState: async (token: string, payload: unknown) => void kept.set(token, JSON.stringify(payload)),
    loadPlannerState: async (token: string) => JSON.parse(kept.get(token) ?? "null") as unknown,
  };
  const llm = new OwnClient({ toolCalls: wanted("1", "2", "3") });
  const options = { llm, stateStore, maxStepChars: 512 };
  const { planner } = planned(() => ({ text: "" }), [ask], options);
  let pause = (await planner.run("Go.")) as PlannerPause;
  pause = (await planner.resume(pause.resumeToken, { answer: "yes" })) as PlannerPause;
  answered(await planner.resume(pause.resumeToken, { answer: "yes" }));
  expect(llm.messages.at(-1)?.content).toContain("Of your 3 calls the first 2 were made.");
});

test("the beginning of a text never ends within a character", () => {
  expect([leading("a😀b", 1), leading("a😀b", 2), leading("a😀b", 3), leading("😀", 9)]).toEqual([
    "a",
    "a",
    "a😀",
    "😀",
  ]);
});
