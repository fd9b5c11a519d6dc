import { describe, expect, test } from "vitest";
import { OpenAiClient } from "../../../../web/src/planner/llm/openai.js";
import { serveAnswers, serveModel, writeEvents } from "./model-server.js";
import { KEY, HELLO, END, piece, callPiece, clientOf, failure } from "./asked.js";

describe("a turn", () => {
  test("a text comes piece by piece, and whole at the end", async () => {
    const { baseUrl } = await serveModel(() => ({ text: "The sun  shines\nin Oslo — 20°" }));
    const pieces: string[] = [];
    const answer = await clientOf(baseUrl).ask(HELLO, { onText: (text) => pieces.push(text) });
    expect(answer).toMatchObject({ text: "The sun  shines\nin Oslo — 20°", toolCalls: [], stopReason: "stop" });
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.join("")).toBe(answer.text);
  });

  test("calls come with their names and arguments, and what the turn cost", async () => {
    const calls = [
      { name: "weather__map", args: { city: "Oslo" } },
      { name: "weather__map", args: { city: "Bergen", days: [1, 2] } },
    ];
    const { baseUrl } = await serveModel(() => ({ text: "I look.", calls }));
    const answer = await clientOf(baseUrl).ask(HELLO);
    expect(answer.toolCalls.map((call) => ({ name: call.name, args: JSON.parse(call.arguments) as unknown }))).toEqual(
      calls,
    );
    expect(new Set(answer.toolCalls.map(({ id }) => id)).size).toBe(2);
    expect(answer.stopReason).toBe("tool_calls");
    expect(answer.usage?.inputTokens).toBeGreaterThan(0);
  });

  test("the server is asked as its API says, with all that was said before", async () => {
    const { baseUrl, asked } = await serveModel(() => ({ text: "Done." }));
    await clientOf(baseUrl, { body: { temperature: 0 }, headers: { "x-team": "a" } }).ask({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Look." },
        { role: "assistant", content: "", toolCalls: [{ id: "c1", name: "look", arguments: '{"at":1}' }] },
        { role: "tool", callId: "c1", name: "look", content: '{"seen":true}' },
      ],
      tools: [{ name: "look", description: "Looks.", inputSchema: { type: "object" } }],
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      url: "/v1/chat/completions",
      headers: { authorization: `Bearer ${KEY}`, "x-team": "a" },
    });
    expect(JSON.parse(asked[0]?.body ?? "")).toEqual({
      temperature: 0,
      model: "scripted",
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Look." },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: '{"at":1}' } }],
        },
        { role: "tool", tool_call_id: "c1", content: '{"seen":true}' },
      ],
      tools: [{ type: "function", function: { name: "look", description: "Looks.", parameters: { type: "object" } } }],
    });
  });

  test("arguments that were no JSON are not sent back: servers refuse the turn for them", async () => {
    const { baseUrl, asked } = await serveModel(() => ({ text: "Sorry." }));
    const toolCalls = [{ id: "c1", name: "look", arguments: '{"at":' }];
    const messages = [
      { role: "assistant", content: "", toolCalls } as const,
      { role: "tool", callId: "c1", name: "look", content: "no" } as const,
    ];
    await clientOf(baseUrl).ask({ messages, tools: [] });
    expect(asked[0]?.body).toContain('"arguments":"{}"');
  });
});

describe("servers differ", () => {
  test("one that does not stream", async () => {
    const { baseUrl } = await serveAnswers((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const message = {
        content: "Whole.",
        tool_calls: [{ function: { name: "look", arguments: { at: 1 } } }, { function: { name: "go" } }],
      };
      response.end(
        JSON.stringify({
          choices: [{ message, finish_reason: "stop" }],
          usage: { prompt_tokens: 3, completion_tokens: 4 },
        }),
      );
    });
    const { text, toolCalls, stopReason, usage } = await clientOf(baseUrl).ask(HELLO);
    expect(text).toBe("Whole.");
    expect(toolCalls.map((call) => [call.name, call.arguments])).toEqual([
      ["look", '{"at":1}'],
      ["go", "{}"],
    ]);
    expect(stopReason).toBe("tool_calls");
    expect(usage).toEqual({ inputTokens: 3, outputTokens: 4 });
  });

  test("one that does not stream, and does not say that it is done", async () => {
    const { baseUrl } = await serveAnswers((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ choices: [{ message: { content: "Whole." } }] }));
    });
    expect(await clientOf(baseUrl).ask(HELLO)).toMatchObject({ text: "Whole.", stopReason: "stop" });
  });

  test("one that says in a field of its own why it does not answer", async () => {
    const { baseUrl } = await serveAnswers((response) =>
      writeEvents(response, [{ choices: [{ delta: { content: null, refusal: "I will not." } }] }, END]),
    );
    expect((await clientOf(baseUrl).ask(HELLO)).text).toBe("I will not.");
  });

  test("one that gives every call the index 0, and one that repeats ids or leaves them out", async () => {
    const { baseUrl } = await serveAnswers((response) => {
      writeEvents(response, [
        callPiece("a", "one", 0),
        callPiece("b", "two", 0),
        callPiece("b", "three", 1),
        callPiece(undefined, "four", 2),
        END,
      ]);
    });
    const { toolCalls } = await clientOf(baseUrl).ask(HELLO);
    expect(toolCalls.map(({ name }) => name)).toEqual(["one", "two", "three", "four"]);
    expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(4);
  });

  test("one that ends its last event without an empty line, and sends no [DONE]", async () => {
    const { baseUrl } = await serveAnswers((response) => {
      writeEvents(response, [piece("Hi")], { ends: false });
      response.end(`data: ${JSON.stringify(END)}`);
    });
    expect((await clientOf(baseUrl).ask(HELLO)).text).toBe("Hi");
  });

  test("one that cuts its bytes anywhere", async () => {
    const whole = Buffer.from(
      `data: ${JSON.stringify(piece("Grüße aus Łódź 🌍"))}\r\n\r\n: still here\r\n\r\ndata: ${JSON.stringify(END)}\r\n\r\n`,
    );
    const { baseUrl } = await serveAnswers((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const byte of whole) response.write(Buffer.of(byte));
      response.end();
    });
    expect((await clientOf(baseUrl).ask(HELLO)).text).toBe("Grüße aus Łódź 🌍");
  });
});

test.each<[Record<string, unknown>, string, string]>([
  [{ model: "" }, "model", "the name of a model"],
  [{}, "model", "the name of a model"],
  [{ baseUrl: "localhost:11434" }, "baseUrl", "an http(s) URL"],
  [{ baseUrl: "http://me:secret@localhost/v1" }, "baseUrl", "an http(s) URL"],
  [{ api_key: KEY }, "api_key", "did you mean apiKey?"],
  [{ apiKey: 5 }, "apiKey", "a text"],
  [{ apiKey: `${KEY}\n` }, "apiKey", "without spaces and line breaks"],
  [{ apiKey: `${KEY}\r\nx: y` }, "apiKey", "without spaces and line breaks"],
  [{ apiKey: `${KEY}…` }, "apiKey", "Latin-1"],
  [{ headers: { "x-key": `${KEY}\n${KEY}` } }, "headers", "without line breaks"],
  [{ headers: { "x-key": `${KEY}…` } }, "headers", "Latin-1"],
  [{ headers: { "x key": KEY } }, "headers", "header names"],
  [{ headers: { "x-key": undefined } }, "headers", "a text"],
  [{ headers: new Headers({ "x-key": KEY }) }, "headers", "an object of header names"],
  [{ body: "{}" }, "body", "an object"],
  [{ fetch: "fetch" }, "fetch", "a function"],
  [{ resilience: { timeout: 5 } }, "resilience.timeout", "did you mean timeout_s?"],
  [{ resilience: { timeout_s: "5" } }, "resilience.timeout_s", "a number of seconds"],
  [{ resilience: { retry_policy: { attempts: 5 } } }, "resilience.retry_policy.attempts", "max_attempts"],
  [{ resilience: { retry_policy: { retry_on_status: 503 } } }, "resilience.retry_policy.retry_on_status", "a list"],
])("options that cannot be are refused, and no key is told: %j", (options, path, sentence) => {
  const given = (path === "model" ? options : { model: "m", ...options }) as never;
  const refused = expect.objectContaining({
    code: "E_INVALID_ARGUMENT",
    path,
    message: expect.stringContaining(sentence) as string,
  }) as Error;
  expect(() => new OpenAiClient(given)).toThrow(refused);
  expect(() => new OpenAiClient(given)).not.toThrow(KEY);
});

test("of patience only what is said is another", async () => {
  const { baseUrl, count } = await serveAnswers((response) => response.writeHead(503).end());
  await failure(clientOf(baseUrl, { resilience: { retry_policy: { max_attempts: 1 } } }).ask(HELLO));
  expect(count()).toBe(1);
});
