import { createOpenAICompatible as createFive } from "ai-sdk-5";
import { createOpenAICompatible as createSix } from "ai-sdk-6";
import { describe, expect, test } from "vitest";
import { AiSdkClient, type AiSdkModel } from "../../../../web/src/planner/llm/ai-sdk.js";
import type { LlmRequest } from "../../../../web/src/planner/llm/client.js";
import { serveAnswers, serveModel, writeEvents } from "./model-server.js";

const HELLO: LlmRequest = { messages: [{ role: "user", content: "Hello" }], tools: [] };
const QUICKLY = {
  retry_policy: { max_attempts: 2, wait_exponential_min_s: 0, wait_exponential_max_s: 0, retry_on_status: [429, 500] },
};
const KEY = "sk-very-secret";

/** A model of each version that providers are made for, by a real one of them. */
const made: [string, (baseURL: string) => AiSdkModel][] = [
  ["5", (baseURL) => createFive({ name: "scripted", baseURL, apiKey: KEY, includeUsage: true })("scripted")],
  ["6", (baseURL) => createSix({ name: "scripted", baseURL, apiKey: KEY, includeUsage: true })("scripted")],
];

describe.each(made)("a provider of the AI SDK %s", (_, model) => {
  test("a text comes piece by piece, and whole at the end", async () => {
    const { baseUrl } = await serveModel(() => ({ text: "The sun shines in Oslo — 20°" }));
    const pieces: string[] = [];
    const answer = await new AiSdkClient(model(baseUrl)).ask(HELLO, { onText: (text) => pieces.push(text) });
    expect(answer).toMatchObject({ text: "The sun shines in Oslo — 20°", toolCalls: [], stopReason: "stop" });
    expect(answer.usage?.inputTokens).toBeGreaterThan(0);
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.join("")).toBe(answer.text);
  });

  test("calls come, and are told again with what they gave", async () => {
    const { baseUrl, asked } = await serveModel(({ messages }) =>
      messages.length > 1
        ? { text: "Done." }
        : {
            text: "I look.",
            calls: [
              { name: "look", args: { at: 1 } },
              { name: "look", args: { at: 2 } },
            ],
          },
    );
    const client = new AiSdkClient(model(baseUrl), { settings: { temperature: 0 } });
    const tools = [{ name: "look", description: "Looks.", inputSchema: { type: "object" } }];
    const { text, toolCalls, stopReason, meta } = await client.ask({ ...HELLO, tools });
    expect([text, stopReason]).toEqual(["I look.", "tool_calls"]);
    expect(toolCalls.map(({ name, arguments: args }) => [name, args])).toEqual([
      ["look", '{"at":1}'],
      ["look", '{"at":2}'],
    ]);
    const results = toolCalls.map(
      ({ id, name }) => ({ role: "tool", callId: id, name, content: '{"seen":true}' }) as const,
    );
    const said = { role: "assistant", content: text, toolCalls, ...(meta !== undefined && { meta }) } as const;
    expect((await client.ask({ messages: [...HELLO.messages, said, ...results], tools })).text).toBe("Done.");
    const body = JSON.parse(asked[1]?.body ?? "") as {
      messages: { role: string; content: unknown }[];
      temperature: number;
    };
    expect(body.temperature).toBe(0);
    expect(body.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool"]);
    expect(body.messages[3]?.content).toBe('{"seen":true}');
  });

  test("a server that is busy is asked again; one that refuses is told by its status, without the key", async () => {
    const busy = await serveAnswers((response, number) => {
      if (number === 1) response.writeHead(429).end();
      else
        writeEvents(response, [{ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] }, "[DONE]"]);
    });
    expect((await new AiSdkClient(model(busy.baseUrl), { resilience: QUICKLY }).ask(HELLO)).text).toBe("Hi");
    const refusing = await serveAnswers((response) => response.writeHead(401).end(`{"error":{"message":"no ${KEY}"}}`));
    const error: unknown = await new AiSdkClient(model(refusing.baseUrl)).ask(HELLO).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "LlmError", code: "E_LLM_AUTH", status: 401 });
    expect(`${(error as Error).stack} ${JSON.stringify(error)} ${String((error as Error).cause)}`).not.toContain(KEY);
  });

  test("the caller may give up, with a reason of its own", async () => {
    const { baseUrl } = await serveAnswers((response) =>
      writeEvents(response, [{ choices: [{ index: 0, delta: { content: "Well" } }] }], { ends: false }),
    );
    const controller = new AbortController();
    const reason = new Error("enough");
    const asked = new AiSdkClient(model(baseUrl)).ask(HELLO, {
      signal: controller.signal,
      onText: () => controller.abort(reason),
    });
    await expect(asked).rejects.toBe(reason);
  });
});

/** A model that says these parts. */
function saying(...parts: readonly object[]): AiSdkModel & { readonly prompts: unknown[] } {
  const prompts: unknown[] = [];
  return {
    specificationVersion: "v4",
    modelId: "said",
    prompts,
    doStream: async ({ prompt }) => {
      prompts.push(prompt);
      return {
        stream: new ReadableStream({
          start: (controller) => (
            parts.forEach((part) => controller.enqueue(part as { type: string })),
            controller.close()
          ),
        }),
      };
    },
  };
}

const FINISH = {
  type: "finish",
  finishReason: { unified: "tool-calls" },
  usage: { inputTokens: { total: 3 }, outputTokens: { total: 4 } },
};

test("signed thoughts, and what a provider notes of a call, are given back as they came", async () => {
  const model = saying(
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: "Hm." },
    { type: "reasoning-end", id: "r", providerMetadata: { anthropic: { signature: "abc" } } },
    {
      type: "tool-call",
      toolCallId: "c",
      toolName: "look",
      input: "",
      providerMetadata: { google: { thoughtSignature: "xyz" } },
    },
    { type: "tool-call", toolCallId: "d", toolName: "search", input: "{}", providerExecuted: true },
    FINISH,
  );
  const client = new AiSdkClient(model);
  const { toolCalls, meta, usage } = await client.ask(HELLO);
  expect(toolCalls).toMatchObject([{ id: "c", name: "look", arguments: "{}" }]);
  expect(usage).toEqual({ inputTokens: 3, outputTokens: 4 });
  await client.ask({ messages: [{ role: "assistant", content: "", toolCalls, meta }], tools: [] });
  expect(model.prompts[1]).toEqual([
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm.", providerOptions: { anthropic: { signature: "abc" } } },
        {
          type: "tool-call",
          toolCallId: "c",
          toolName: "look",
          input: {},
          providerOptions: { google: { thoughtSignature: "xyz" } },
        },
      ],
    },
  ]);
});

test("a stream that ends early, or in an error, is no answer", async () => {
  const once = { resilience: { retry_policy: { ...QUICKLY.retry_policy, max_attempts: 1 } } };
  await expect(new AiSdkClient(saying({ type: "text-delta", delta: "We" }), once).ask(HELLO)).rejects.toMatchObject({
    code: "E_LLM_CONNECTION",
  });
  await expect(
    new AiSdkClient(saying({ type: "error", error: { statusCode: 400 } }), once).ask(HELLO),
  ).rejects.toMatchObject({ code: "E_LLM_REQUEST" });
  await expect(new AiSdkClient(saying({ type: "error", error: "overloaded" }), once).ask(HELLO)).rejects.toMatchObject({
    code: "E_LLM",
  });
});

test.each([[null], ["gpt-4o"], [{ specificationVersion: "v1", modelId: "m", doStream: () => undefined }]])(
  "no model is %j",
  (model) => {
    expect(() => new AiSdkClient(model as unknown as AiSdkModel)).toThrow(
      expect.objectContaining({ code: "E_INVALID_ARGUMENT" }),
    );
  },
);

test.each([
  [{ setting: {} }, "setting", "did you mean settings?"],
  [{ settings: "hot" }, "settings", "an object"],
  [{ resilience: { max_concurrency: 0 } }, "resilience.max_concurrency", "a whole number above 0"],
])("options that cannot be are refused: %j", (options, path, sentence) => {
  const refused = { code: "E_INVALID_ARGUMENT", path, message: expect.stringContaining(sentence) as string };
  expect(() => new AiSdkClient(saying(FINISH), options as never)).toThrow(expect.objectContaining(refused));
});
