import { describe, expect, test } from "vitest";
import { MAX_ANSWER_BYTES } from "../../../../web/src/planner/llm/client.js";
import { serveAnswers, writeEvents } from "./model-server.js";
import { KEY, QUICKLY, HELLO, END, piece, clientOf, failure } from "./asked.js";

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
    [401, "E_LLM_AUTH", /does not know who asks \(HTTP 401\): check its API key/],
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

  test("whoever asked may give up, with a reason of their own", async () => {
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
    expect(error.message).toContain("redirects (HTTP 307), which is not followed");
    expect(error.message).toMatch(new RegExp(`give the address .* as baseUrl\\. It leads to "${elsewhere.baseUrl}"$`));
    expect([count(), elsewhere.count()]).toEqual([1, 0]);
  });

  test("a redirect of which a browser hides where it leads", async () => {
    const hidden = Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" });
    const error = await failure(clientOf("http://model.test", { fetch: async () => hidden }).ask(HELLO));
    expect(error).toMatchObject({ code: "E_LLM_REQUEST" });
    expect(error.message).toMatch(/redirects, which is not followed: .* as baseUrl\.$/);
  });

  test.each([
    [
      "a page",
      "text/html; charset=utf-8",
      "<!doctype html><p>Welcome</p>",
      "with text/html that is no chat completion",
    ],
    ["an empty answer", "", "", "with what is no chat completion"],
    ["an empty object", "application/json", "{}", "with application/json that is no chat completion"],
    ["no JSON where JSON is said", "application/json", "<p>", "with application/json that is no chat completion"],
    ["other events", "text/event-stream", 'data: {"hello":1}\n\n', "that is no chat completion"],
    ["events without JSON", "text/event-stream", "data: <p>\n\n", "that is no chat completion"],
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
