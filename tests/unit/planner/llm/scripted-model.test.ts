import { describe, expect, expectTypeOf, test } from "vitest";
import { OpenAiClient } from "../../../../web/src/planner/llm/openai.js";
import { createScriptedModel, type ScriptedMessage } from "../../../../web/src/planner/llm/scripted-model.js";

const COMPLETIONS = "http://model.test/v1/chat/completions";
const body = JSON.stringify({ messages: [{ role: "user", content: "Hello" }] });
const says = createScriptedModel(({ last }) => ({ text: `You said: ${last.content}` }));

test("it is a fetch, and a client takes it as it is", async () => {
  expectTypeOf(says).toEqualTypeOf<typeof globalThis.fetch>();
  const llm = new OpenAiClient({ model: "scripted", baseUrl: "http://model.test/v1", fetch: says });
  const { text } = await llm.ask({ messages: [{ role: "user", content: "Hello" }], tools: [] });
  expect(text).toBe("You said: Hello");
});

describe("it answers", () => {
  test.each([
    ["a text and options", () => says(COMPLETIONS, { method: "POST", body })],
    ["a URL and options", () => says(new URL(COMPLETIONS), { method: "POST", body })],
    ["a request", () => says(new Request(COMPLETIONS, { method: "POST", body }))],
    ["a request whose options are others", () => says(new Request(COMPLETIONS), { method: "POST", body })],
  ])("%s", async (_, asked) => {
    expect(await (await asked()).text()).toContain("You said: Hello");
  });
});

test("a script is told the last message", async () => {
  const lasts: ScriptedMessage[] = [];
  const listens = createScriptedModel(({ messages, last }) => {
    expectTypeOf(last).toEqualTypeOf<ScriptedMessage>();
    expect(last).toBe(messages.at(-1));
    lasts.push(last);
    return {};
  });
  const messages = [
    { role: "user", content: "Hello" },
    { role: "tool", content: "world" },
  ];
  await listens(COMPLETIONS, { method: "POST", body: JSON.stringify({ messages }) });
  expect(lasts).toEqual([{ role: "tool", content: "world" }]);
});

test.each([
  ["another address", "http://model.test/v1/models", body, 404, "There is nothing at /v1/models."],
  ["no JSON", COMPLETIONS, "hello", 400, ""],
  ["no messages", COMPLETIONS, '{"messages":[]}', 400, "messages must have one message at least."],
])("it refuses %s", async (_, url, sent, status, reason) => {
  const response = await says(url, { method: "POST", body: sent });
  expect(response.status).toBe(status);
  expect(await response.text()).toContain(reason);
});
