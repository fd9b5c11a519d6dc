import { expect, describe, test } from "vitest";
import { type LlmRequest, LlmError, MAX_ANSWER_BYTES } from "../../../../web/src/planner/llm/client.js";
import { OpenAiClient } from "../../../../web/src/planner/llm/openai.js";
import { serveAnswers, serveModel, writeEvents } from "./model-server.js";

/** A client as tests ask it, and pieces of what servers stream. */

const KEY = "sk-very-secret";
const QUICKLY = {
  retry_policy: {
    max_attempts: 3,
    wait_exponential_min_s: 0,
    wait_exponential_max_s: 0,
    retry_on_status: [429, 500, 503],
  },
};
const HELLO: LlmRequest = { messages: [{ role: "user", content: "Hello" }], tools: [] };
const END = { choices: [{ delta: {}, finish_reason: "stop" }] };
const piece = (content: string): unknown => ({ choices: [{ delta: { content } }] });

const callPiece = (id: string | undefined, name: string, index?: number): unknown => ({
  choices: [{ delta: { tool_calls: [{ id, index, function: { name, arguments: "{}" } }] } }],
});

function clientOf(baseUrl: string, more: Partial<ConstructorParameters<typeof OpenAiClient>[0]> = {}): OpenAiClient {
  return new OpenAiClient({ model: "scripted", baseUrl, apiKey: KEY, resilience: QUICKLY, ...more });
}

/** What asking fails with. */
async function failure(asked: Promise<unknown>): Promise<LlmError> {
  const error: unknown = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(LlmError);
  return error as LlmError;
}

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
  [{ apiKey: 5 }, "apiKey", "a string"],
  [{ apiKey: `${KEY}\n` }, "apiKey", "without spaces and line breaks"],
  [{ apiKey: `${KEY}\r\nx: y` }, "apiKey", "without spaces and line breaks"],
  [{ apiKey: `${KEY}…` }, "apiKey", "Latin-1"],
  [{ headers: { "x-key": `${KEY}\n${KEY}` } }, "headers", "without line breaks"],
  [{ headers: { "x-key": `${KEY}…` } }, "headers", "Latin-1"],
  [{ headers: { "x key": KEY } }, "headers", "header names"],
  [{ headers: { "x-key": undefined } }, "headers", "a string"],
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

describe("what fails", () => {
  test("a server that is busy is asked again, and what it had begun to say is taken back", async () => {
    const { baseUrl, count } = await serveAnswers((response, number) => {
      if (number === 1) response.writeHead(429).end();
      else if (number === 2) {
        writeEvents(response, [piece("Half of")], { ends: false });
        setTimeout(() => response.destroy(), 50);
      } else writeEvents(response, [piece("All of it."), END]);
    });
    const heard: string[] = [];
    const told = { onText: (text: string) => heard.push(text), onRestart: () => heard.push("↺") };
    const { text } = await clientOf(baseUrl).ask(HELLO, told);
    expect(text).toBe("All of it.");
    expect(heard).toEqual(["Half of", "↺", "All of it."]);
    expect(count()).toBe(3);
  });

  test.each([
    [401, "E_LLM_AUTH", /did not accept the credentials \(HTTP 401\): check its API key/],
    [403, "E_LLM_AUTH", /refuses access/],
    [404, "E_LLM_REQUEST", /refuses the request \(HTTP 404\).* It says: "model not found, pull it"/],
    [400, "E_LLM_REQUEST", /It says: "model not found, pull it"/],
    [429, "E_LLM_RATE_LIMIT", /asks for fewer requests/],
    [503, "E_LLM_SERVER", /failed \(HTTP 503\)/],
  ])("HTTP %i is told as %s", async (status, code, sentence) => {
    const { baseUrl } = await serveAnswers((response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "model not found,\u202e\n pull it" } }));
    });
    const error = await failure(clientOf(baseUrl).ask(HELLO));
    expect(error).toMatchObject({ code, status });
    expect(error.message).toMatch(sentence);
    expect(error.message).toMatch(/^The model "scripted" /);
  });

  test("an error in the middle of a stream", async () => {
    const { baseUrl } = await serveAnswers((response) => {
      writeEvents(response, [piece("Well"), { error: { code: 502, message: "Provider returned error" } }]);
    });
    const error = await failure(clientOf(baseUrl).ask(HELLO));
    expect(error).toMatchObject({ code: "E_LLM_SERVER", status: 502 });
    expect(error.message).toContain("Provider returned error");
  });

  test("a server that ends before its answer does", async () => {
    const { baseUrl, count } = await serveAnswers((response) => writeEvents(response, [piece("Well")]));
    expect(await failure(clientOf(baseUrl).ask(HELLO))).toMatchObject({
      code: "E_LLM_CONNECTION",
      category: "network",
    });
    expect(count()).toBe(3);
  });

  test("a stream that becomes something else, and a server that is not there", async () => {
    const { baseUrl } = await serveAnswers((response) => writeEvents(response, [piece("Well"), "<html>"]));
    expect(await failure(clientOf(baseUrl).ask(HELLO))).toMatchObject({ code: "E_LLM_SERVER" });
    expect(await failure(clientOf("http://127.0.0.1:1/v1").ask(HELLO))).toMatchObject({ code: "E_LLM_CONNECTION" });
  });

  test("an answer without an end is given up", async () => {
    const { baseUrl, count } = await serveAnswers((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const line = `data: ${JSON.stringify(piece("x".repeat(64 * 1024)))}\n\n`;
      const more = (): void => {
        while (!response.destroyed && response.write(line)) continue;
      };
      response.on("drain", more);
      more();
    });
    const error = await failure(clientOf(baseUrl).ask(HELLO));
    expect(error).toMatchObject({ code: "E_LLM_REQUEST" });
    expect(error.message).toContain(String(MAX_ANSWER_BYTES));
    expect(count()).toBe(1);
  });

  test("a silent server is given up after the time allowed", async () => {
    const { baseUrl } = await serveAnswers((response) => writeEvents(response, [piece("Well")], { ends: false }));
    const resilience = { timeout_s: 0.2, retry_policy: { ...QUICKLY.retry_policy, max_attempts: 1 } };
    expect(await failure(clientOf(baseUrl, { resilience }).ask(HELLO))).toMatchObject({ code: "E_LLM_TIMEOUT" });
  });

  test("the caller may give up, with a reason of its own", async () => {
    const { baseUrl, count } = await serveAnswers((response) =>
      writeEvents(response, [piece("Well")], { ends: false }),
    );
    const controller = new AbortController();
    const reason = new Error("enough");
    const asked = clientOf(baseUrl).ask(HELLO, { signal: controller.signal, onText: () => controller.abort(reason) });
    await expect(asked).rejects.toBe(reason);
    expect(count()).toBe(1);
  });

  test("the key stands in no error, whatever the server says of it", async () => {
    const { baseUrl } = await serveAnswers((response) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `Bad key ${KEY}`, code: KEY } }));
    });
    const error = await failure(clientOf(baseUrl).ask(HELLO));
    expect(`${error.stack} ${error.message} ${JSON.stringify(error)}`).not.toContain(KEY);
    expect(error.message).toContain('"Bad key ***"');
  });

  test("a key goes to the server that it is for, and to none that it sends us on to", async () => {
    const elsewhere = await serveAnswers((response) => writeEvents(response, [piece("Thanks"), END]));
    const { baseUrl, count } = await serveAnswers((response) =>
      response.writeHead(307, { location: `${elsewhere.baseUrl}/chat/completions?key=${KEY}` }).end(),
    );
    const error = await failure(clientOf(baseUrl).ask(HELLO));
    expect(error).toMatchObject({ code: "E_LLM_REQUEST", status: 307 });
    expect(error.message).toContain("redirects (HTTP 307), and redirects are not followed");
    expect(error.message).toMatch(new RegExp(`use the new address as baseUrl\\. It leads to "${elsewhere.baseUrl}"$`));
    expect([count(), elsewhere.count()]).toEqual([1, 0]);
  });

  test("a redirect of which a browser hides where it leads", async () => {
    const hidden = Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" });
    const error = await failure(clientOf("http://model.test", { fetch: async () => hidden }).ask(HELLO));
    expect(error).toMatchObject({ code: "E_LLM_REQUEST" });
    expect(error.message).toMatch(/redirects, and redirects are not followed: .* as baseUrl\.$/);
  });

  test.each([
    [
      "a page",
      "text/html; charset=utf-8",
      "<!doctype html><p>Welcome</p>",
      "with text/html instead of a chat completion",
    ],
    ["an empty answer", "", "", "with something other than a chat completion"],
    ["an empty object", "application/json", "{}", "with application/json instead of a chat completion"],
    ["no JSON where JSON is said", "application/json", "<p>", "with application/json instead of a chat completion"],
    ["other events", "text/event-stream", 'data: {"hello":1}\n\n', "instead of a chat completion"],
    ["events without JSON", "text/event-stream", "data: <p>\n\n", "instead of a chat completion"],
    ["an error for an answer", "application/json", '{"error":"Unexpected endpoint"}', 'It says: "Unexpected endpoint"'],
  ])("%s is not asked for again: the address is to be checked", async (_, type, body, sentence) => {
    const { baseUrl, count } = await serveAnswers((response) => {
      response.writeHead(200, type === "" ? {} : { "content-type": type }).end(body);
    });
    const error = await failure(clientOf(baseUrl).ask(HELLO));
    expect(error).toMatchObject({ code: "E_LLM_REQUEST", category: "non_retryable" });
    expect(error.message).toContain(sentence);
    expect(error.message).toMatch(/check its .*address \(baseUrl\)/);
    expect(count()).toBe(1);
  });

  test("a stream that ends before its first word is asked for again", async () => {
    const { baseUrl, count } = await serveAnswers((response, number) =>
      writeEvents(response, number === 1 ? [] : number === 2 ? [{ choices: [] }] : [piece("Hi"), END]),
    );
    expect((await clientOf(baseUrl).ask(HELLO)).text).toBe("Hi");
    expect(count()).toBe(3);
  });

  test("too many requests are told with the option that there is", async () => {
    const { baseUrl } = await serveAnswers((response) => response.writeHead(429).end());
    const { message } = await failure(clientOf(baseUrl).ask(HELLO));
    expect(message).toContain("allow fewer requests at a time (resilience.max_concurrency)");
  });

  test("too little time is told with the option that there is", async () => {
    const { baseUrl } = await serveAnswers((response) => writeEvents(response, [], { ends: false }));
    const resilience = { timeout_s: 0.1, retry_policy: { max_attempts: 1 } };
    const { message } = await failure(clientOf(baseUrl, { resilience }).ask(HELLO));
    expect(message).toContain("allow it more time (resilience.timeout_s)");
  });
});
