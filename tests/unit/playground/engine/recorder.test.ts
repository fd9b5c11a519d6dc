/** What is recorded of a server's messages, and what is not. */
import { describe, expect, test } from "vitest";
import { readAbout, listExchanges } from "../../../../web/playground/engine/exchanges.js";
import { MAX_KEPT, Recorder } from "../../../../web/playground/engine/recorder.js";

const URL = "https://far.example/mcp";
const TOKEN = "secret-token-0123456789";

function post(body: string, headers: Record<string, string> = {}): RequestInit {
  return {
    method: "POST",
    body,
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
  };
}

const request = (id: number | string, method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

const answer = (id: number | string, result: unknown): string => JSON.stringify({ result, jsonrpc: "2.0", id });

/** A body in chunks of so many bytes. */
function chunked(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}

function answering(text: string, type: string, size = 1 << 16): typeof fetch {
  return async () => new Response(chunked(text, size), { headers: { "content-type": type } });
}

function recorder(): Recorder {
  return new Recorder(() => undefined);
}

describe("exchanges", () => {
  test("a request and its answer are one exchange, with both sizes", async () => {
    const it = recorder();
    const [sent, got] = [request(1, "tools/list"), answer(1, { tools: [] })];
    const response = await it.fetch(answering(got, "application/json"))(URL, post(sent));
    expect(await response.text()).toBe(got);
    expect(listExchanges("far", it)).toMatchObject([
      {
        method: "tools/list",
        id: "1",
        isSent: true,
        state: "done",
        request: { text: sent, size: sent.length, isCut: false },
        answer: { text: got, size: got.length, isCut: false },
      },
    ]);
  });

  test("in an event stream, what the server asks and tells meanwhile is told apart, and belongs to the same call", async () => {
    const it = recorder();
    const progress = JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } });
    const question = request("q", "elicitation/create", { message: "Which?" });
    const events = [progress, question, answer(7, { content: [] })].map(
      (data) => `event: message\nid: x\ndata: ${data}\n\n`,
    );
    const ended = it.call("page-call", "ask", { a: 1 });
    const fetched = it.fetch(answering(events.join(""), "text/event-stream"));
    await (await fetched(URL, post(request(7, "tools/call", { name: "ask", arguments: { a: 1 } })))).text();
    await it.fetch(async () => new Response(null, { status: 202 }))(URL, post(answer("q", { action: "decline" })));
    ended();
    expect(listExchanges("far", it).map(({ method, isSent, state, call }) => [method, isSent, state, call])).toEqual([
      ["tools/call", true, "done", "page-call"],
      ["notifications/progress", false, "done", "page-call"],
      ["elicitation/create", false, "done", "page-call"],
    ]);
  });

  test("two calls of one tool at a time are told apart by their arguments", async () => {
    const it = recorder();
    it.call("one", "add", { n: 1 });
    it.call("two", "add", { n: 2 });
    for (const n of [2, 1]) {
      const fetched = it.fetch(answering(answer(n, {}), "application/json"));
      await (await fetched(URL, post(request(n, "tools/call", { name: "add", arguments: { n } })))).text();
    }
    expect(listExchanges("far", it).map(({ call }) => call)).toEqual(["two", "one"]);
  });

  test("a request that fails, one that is refused and one that is cancelled say so", async () => {
    const it = recorder();
    const failing = it.fetch(async () => {
      throw new TypeError("fetch failed");
    });
    await expect(failing(URL, post(request(1, "a")))).rejects.toThrow("fetch failed");
    await it.fetch(async () => new Response(null, { status: 401 }))(URL, post(request(2, "b")));
    const cancelled = await it.fetch(answering(answer(3, "x".repeat(100)), "application/json", 10))(
      URL,
      post(request(3, "c")),
    );
    await cancelled.body?.cancel();
    expect(listExchanges("far", it).map(({ method, state, problem }) => [method, state, problem])).toEqual([
      ["a", "error", "TypeError: fetch failed"],
      ["b", "error", "HTTP 401"],
      ["c", "cancelled", "cancelled"],
    ]);
  });

  test("how a server introduced itself is kept while other messages are dropped", async () => {
    const it = recorder();
    const result = {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "far", version: "3" },
      instructions: "Be kind. ".repeat(2000),
    };
    await (
      await it.fetch(answering(answer(0, result), "application/json"))(URL, post(request(0, "initialize")))
    ).text();
    for (let id = 1; id <= 500; id += 1) {
      await (await it.fetch(answering(answer(id, {}), "application/json"))(URL, post(request(id, "ping")))).text();
    }
    expect(it.messages.length).toBe(400);
    expect(readAbout(it)).toEqual({
      name: "far",
      version: "3",
      protocol: "2025-11-25",
      capabilities: { tools: {} },
      instructions: result.instructions,
    });
  });
});

describe("bounds", () => {
  test.each(["application/json", "text/event-stream"])(
    "of a long answer (%s) only the first 8 KB are kept",
    async (type) => {
      const it = recorder();
      const got = answer(4, { content: [{ type: "text", text: "é".repeat(500_000) }] });
      const body = type === "application/json" ? got : `data: ${got}\n\n`;
      await (await it.fetch(answering(body, type, 777))(URL, post(request(4, "tools/call", { name: "long" })))).text();
      const [exchange] = listExchanges("far", it);
      expect(exchange?.answer).toMatchObject({ size: new TextEncoder().encode(got).length, isCut: true });
      const kept = new TextEncoder().encode(exchange?.answer?.text).length;
      expect(kept).toBeGreaterThan(MAX_KEPT - 4);
      expect(kept).toBeLessThanOrEqual(MAX_KEPT);
      expect(exchange?.state).toBe("done");
      expect(JSON.stringify(it.messages).length).toBeLessThan(12_000);
    },
  );
});

describe("bytes", () => {
  const events = `: hello\r\n\r\ndata: ${answer(1, "ü€😀")}\r\n\r\nevent: x\rdata:${answer(2, 2)}\r\rdata: {"jsonrpc":\ndata: "2.0","id":3,"result":3}\n\n`;

  test.each([1, 2, 3, 7, 64, 10_000])(
    "an event stream in chunks of %d bytes passes unchanged and is read the same",
    async (size) => {
      const it = recorder();
      const response = await it.fetch(answering(events, "text/event-stream", size))(URL, post(request(1, "a")));
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(new TextEncoder().encode(events));
      const got = it.messages.filter(({ isSent }) => !isSent).map(({ text }) => JSON.parse(text) as unknown);
      expect(got).toEqual([
        { result: "ü€😀", jsonrpc: "2.0", id: 1 },
        { result: 2, jsonrpc: "2.0", id: 2 },
        { jsonrpc: "2.0", id: 3, result: 3 },
      ]);
    },
  );

  test("a body is not read ahead of its reader", async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled += 1;
          controller.enqueue(new Uint8Array(1000));
        },
      },
      { highWaterMark: 0 },
    );
    const fetched = recorder().fetch(
      async () => new Response(body, { headers: { "content-type": "application/json" } }),
    );
    const reader = (await fetched(URL, post(request(1, "a")))).body?.getReader();
    await reader?.read();
    expect(pulled).toBe(1);
    await reader?.cancel();
  });
});

describe("secrets", () => {
  test.each([0, 5, 40])(
    "a token that the cut of a long message would halve is blotted out: %d from its end",
    async (from) => {
      const it = new Recorder(() => undefined);
      const text = `{"jsonrpc":"2.0","result":"${"x".repeat(20_000)}${TOKEN}${"y".repeat(150 - from)}"}`;
      const fetched = it.fetch(answering(text, "application/json"));
      await (await fetched(URL, post(request(1, "a"), { authorization: `Bearer ${TOKEN}` }))).text();
      const said = JSON.stringify(it.messages);
      for (let at = 0; at + 6 <= TOKEN.length; at += 1) expect(said).not.toContain(TOKEN.slice(at, at + 6));
    },
  );

  test("no header is recorded, and a token that a server repeats is blotted out", async () => {
    const it = recorder();
    const got = answer(1, { text: `${"x".repeat(MAX_KEPT - 40)}${TOKEN} and ${TOKEN}` });
    const fetched = it.fetch(answering(got, "application/json", 11));
    await (await fetched(URL, post(request(1, "a"), { authorization: `Bearer ${TOKEN}` }))).text();
    const kept = JSON.stringify([it.messages, listExchanges("far", it)]);
    expect(kept).not.toContain(TOKEN);
    expect(kept).not.toContain(TOKEN.slice(0, 12));
  });

  test("requests of a sign-in are not recorded", async () => {
    const it = recorder();
    const fetched = it.fetch(answering('{"access_token":"a"}', "application/json"));
    await fetched(`${URL}/token`, { method: "POST", body: new URLSearchParams({ code: "c" }) });
    await fetched(`${URL}/register`, post('{"client_name":"x"}'));
    await fetched(`${URL}/.well-known/oauth-protected-resource`);
    expect(it.messages).toEqual([]);
  });
});
