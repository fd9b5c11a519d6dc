import { beforeEach, describe, expect, it, test } from "vitest";
import { MAX_MESSAGE } from "../../../../web/src/jsonrpc/limits.js";
import { splitBatch, scanMembers } from "../../../../web/src/mcp/client-request.js";
import { exchange } from "../../../../web/src/mcp/http/exchange.js";
import { PassThrough } from "../../../../web/src/mcp/pass-through.js";
import { BoundedMessage } from "../../../../web/src/mcp/stdio/lines.js";
import { image, namesOf, png, Talk, textOf, uriIn, type Message } from "./talk.js";

let talk: Talk;
beforeEach(() => {
  talk = new Talk();
});

const LARGE = 9_000_000;
const words = "lorem ipsum ".repeat(100);
/** So many things with names, as lists have them. */
const things = (count: number): object[] =>
  Array.from({ length: count }, (_, at) => ({ name: `n${at}`, description: words, inputSchema: { type: "object" } }));
const failures = (): string[] =>
  talk.events.flatMap((event) => (event.kind === "failed" ? [`${event.error.code}: ${event.error.message}`] : []));
const parsed = (text: string | undefined): Message => JSON.parse(text ?? "null") as Message;

const many = (count: number, from = 0): object[] =>
  Array.from({ length: count }, (_, at) => ({ name: `t${from + at}`, inputSchema: { type: "object" } }));
/** As it comes from a client, in pieces. */
const held = (text: string): BoundedMessage => {
  const message = new BoundedMessage();
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += 65_536) message.push(bytes.subarray(at, at + 65_536));
  return message;
};

/** The same message with its id first, or last. */
const ORDERS = [
  ["first", (id: object, rest: object) => JSON.stringify({ jsonrpc: "2.0", ...id, ...rest })],
  ["last", (id: object, rest: object) => JSON.stringify({ ...rest, jsonrpc: "2.0", ...id })],
] as const;

describe.each(ORDERS)("with its id %s", (_, written) => {
  it("a request of the server's that is too large is refused, and the client hears nothing", async () => {
    const params = { messages: [{ role: "user", content: image(LARGE) }] };
    const asked = written({ id: "q" }, { method: "sampling/createMessage", params });
    expect(await talk.hear(asked)).toEqual([]);
    expect(talk.replies).toHaveLength(1);
    expect(parsed(talk.replies[0])).toMatchObject({ id: "q", error: { code: -32603 } });
    expect(parsed(talk.replies[0]).error?.message).toMatch(/larger than 8 MiB.*send less at a time/);
    expect(failures()).toEqual([
      expect.stringMatching(/^E_TOO_LARGE: The server's request "sampling\/createMessage" could not be passed on: /),
    ]);
  });

  it("a request of the server's that is not goes on as it came", async () => {
    const params = { messages: [{ role: "user", content: image(500_000) }] };
    const asked = written({ id: 1 }, { method: "sampling/createMessage", params });
    expect(await talk.hear(asked)).toEqual([asked]);
    expect(failures()).toEqual([]);
  });

  it.each([
    ["tools/list", { tools: things(9000) }],
    ["prompts/list", { prompts: things(9000) }],
    ["resources/list", { resources: things(9000) }],
    ["tasks/list", { tasks: things(9000) }],
  ])("%s that is too large is answered by an error that says so", async (method, result) => {
    // Another request waits, so that the id decides.
    await talk.say({ jsonrpc: "2.0", id: "other", method: "tools/call", params: { name: "a" } });
    await talk.say({ jsonrpc: "2.0", id: 1, method, params: {} });
    const [answer, ...more] = await talk.hear(written({ id: 1 }, { result }));
    expect(more).toEqual([]);
    expect(parsed(answer)).toMatchObject({ id: 1, error: { code: -32603, data: { code: "E_TOO_LARGE" } } });
    expect(parsed(answer).error?.message).toMatch(/larger than 8 MiB.*configure the server to list in pages/);
    expect(failures()).toEqual([expect.stringContaining(`The server's answer to ${method} could not be passed on`)]);
  });

  it("a prompt with an image that is too large is answered by an error", async () => {
    await talk.say({ jsonrpc: "2.0", id: 1, method: "prompts/get", params: { name: "p" } });
    await talk.say({ jsonrpc: "2.0", id: 2, method: "resources/read", params: { uri: "file:///a" } });
    const [answer] = await talk.hear(
      written({ id: 1 }, { result: { messages: [{ role: "user", content: image(LARGE) }] } }),
    );
    expect(parsed(answer).error?.message).toContain("larger than 8 MiB");
    const contents = [{ uri: "file:///a", blob: png(LARGE) }];
    const [read] = await talk.hear(written({ id: 2 }, { result: { contents } }));
    expect(read).toContain("[sluice] PNG image");
  });

  it("a notification that is too large is reduced, and one that cannot be is told of", async () => {
    const told = { method: "notifications/message", params: { level: "info", data: image(LARGE) } };
    const [line] = await talk.hear(written({}, told));
    expect(line).toContain("artifact://srv_");
    expect(talk.events).toMatchObject([{ kind: "stored" }]);
    const heavy = Object.fromEntries(Array.from({ length: 11 }, (_each, at) => [`m${at}`, "z ".repeat(500_000)]));
    expect(await talk.hear(written({}, { method: "notifications/message", ...heavy }))).toEqual([]);
    expect(failures()).toEqual([
      expect.stringMatching(
        /^E_TOO_LARGE: The server's notification "notifications\/message" could not be passed on: /,
      ),
    ]);
    expect(talk.replies).toEqual([]);
  });
});

it("parameters that come before the method are refused with it", async () => {
  const params = { messages: [{ role: "user", content: image(LARGE) }] };
  expect(await talk.hear({ jsonrpc: "2.0", params, id: 5, method: "sampling/createMessage" })).toEqual([]);
  expect(parsed(talk.replies[0])).toMatchObject({ id: 5, error: { code: -32603 } });
  const [line] = await talk.hear({ params: { data: image(LARGE) }, jsonrpc: "2.0", method: "notifications/message" });
  expect(line).toContain("artifact://srv_");
});

describe("a result of the size of a list", () => {
  const result = { content: [image(500_000)] };

  it("is gated when it is nobody's, also while a list is waited for", async () => {
    await talk.say({ jsonrpc: "2.0", id: 1, method: "prompts/list", params: {} });
    const [line] = await talk.hear({ result, jsonrpc: "2.0", id: 99 });
    expect(line).toContain("[sluice] PNG");
  });

  it("is gated behind a method and its parameters, as in no message that is one", async () => {
    await talk.say({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "a" } });
    const params = { words: words.repeat(100) };
    const [line] = await talk.hear({ method: "sampling/createMessage", params, jsonrpc: "2.0", result, id: 1 });
    expect(line).toContain("[sluice] PNG");
  });
});

describe("more tools than are remembered", () => {
  const file = { type: "object", properties: { file: { type: "string", contentEncoding: "base64" } } };

  it("are listed and widened all the same, gated, and told of once", async () => {
    const app = { _meta: { ui: { visibility: ["app"] } } };
    const answer = await talk.list(...many(4096), { name: "beyond", inputSchema: file, ...app }, ...many(3, 5000));
    expect(namesOf(answer)).toHaveLength(4102);
    expect(JSON.stringify(answer)).toContain('{"anyOf":[{"type":"string","contentEncoding":"base64"}');
    await talk.list(...many(4096), { name: "beyond", ...app });
    expect(failures()).toEqual([expect.stringContaining("The server lists more than 4096 tools.")]);
    expect(textOf(await talk.call("beyond", { content: [image()] }))).toContain("[sluice] PNG");
  });

  it("do not hide that the server has a tool of our name", async () => {
    const answer = await talk.list(...many(4096), { name: "srv_artifact_read" });
    expect(namesOf(answer).filter((name) => name === "srv_artifact_read")).toHaveLength(1);
  });

  it("do not keep those that are remembered from changing", async () => {
    await talk.list(...many(4097));
    await talk.list({ name: "t7", inputSchema: file });
    const uri = uriIn(await talk.call("shot", { content: [image()] }));
    const { forwarded } = await talk.say({
      jsonrpc: "2.0",
      id: 9,
      method: "tools/call",
      params: { name: "t7", arguments: { file: uri } },
    });
    expect(forwarded).toContain(png(5000));
  });
});

describe("a client's message that is too large", () => {
  const secret = "s".repeat(MAX_MESSAGE);

  it("is told of when it is a notification, without what it says", async () => {
    const message = held(`{"jsonrpc":"2.0","method":"notifications/x","params":{"a":"${secret}"}}`);
    expect(message.whole()).toBeUndefined();
    expect((await talk.interceptor).refuse(message.members)).toEqual({});
    expect(failures()).toEqual([
      expect.stringMatching(/^E_TOO_LARGE: The client's notification "notifications\/x" was not passed on: /),
    ]);
    expect(failures()[0]?.length).toBeLessThan(300);
  });

  it("is answered for each of its messages when it is a batch", async () => {
    const batch = [
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { a: '}]"{', b: secret } },
      { jsonrpc: "2.0", method: "notifications/x" },
      { jsonrpc: "2.0", id: "r", result: { nested: [{ id: 7, method: "x" }] } },
      { params: {}, method: "ping", id: "last" },
    ];
    const { toClient, toServer } = (await talk.interceptor).refuse(held(` ${JSON.stringify(batch)}`).members);
    expect(JSON.parse(toClient ?? "")).toMatchObject([
      { id: 1, error: { code: -32600 } },
      { id: "last", error: { code: -32600 } },
    ]);
    expect(JSON.parse(toServer ?? "")).toMatchObject([{ id: "r", error: { code: -32600 } }]);
    expect(failures()).toEqual([expect.stringContaining("The client's batch was not passed on: ")]);
  });

  it("is answered as a whole when it holds no message, and not at all when nobody waits", async () => {
    const interceptor = await talk.interceptor;
    expect(parsed(interceptor.refuse(held(`["${secret}"]`).members).toClient)).toMatchObject({
      error: { code: -32600 },
    });
    expect(interceptor.refuse(held(`[{"method":"x","params":"${secret}"}]`).members)).toEqual({});
  });

  it("is answered over HTTP too, on both sides", async () => {
    const sent: string[] = [];
    const body = new TextEncoder().encode(`[{"id":1,"method":"ping","a":"${secret}"},{"id":2,"result":{}}]`);
    const response = await exchange(await talk.interceptor, body, {
      send: async (bytes) => {
        sent.push(new TextDecoder().decode(bytes));
        return new Response(null, { status: 202 });
      },
    });
    expect(await response.json()).toMatchObject([{ id: 1, error: { code: -32600 } }]);
    expect(sent.map((text) => JSON.parse(text) as unknown)).toMatchObject([[{ id: 2, error: { code: -32600 } }]]);
  });

  it("has the ids that its elements have, wherever it is cut", () => {
    const batch = '[{"id":1,"method":"a","params":["]}",{"id":3}]}, {"id":"\\"2","method":"b"},{"method":"c"}]';
    const bytes = new TextEncoder().encode(batch);
    expect(splitBatch(bytes)).toHaveLength(3);
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const members = scanMembers([bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(members).toMatchObject({ requests: ["1", '"\\"2"'], responses: [], isEmpty: false });
    }
  });
});

// Bodies that are too large to be passed on, as HTTP answers them.

const SIZE = 12_000_000;
const TOO_LARGE = { error: { code: -32_600, message: expect.stringContaining("larger than 8 MiB") } };
const NO_MESSAGE = { id: null, error: { code: -32_700, message: expect.stringContaining("not a JSON-RPC message") } };

/** Bytes of no meaning, the same each time. */
function noise(): Uint8Array {
  let state = 1;
  return Uint8Array.from({ length: SIZE }, () => (state = (state * 48_271) % 2_147_483_647) & 0xff);
}

async function answered(body: Uint8Array): Promise<readonly [number, unknown, readonly string[]]> {
  const message = new BoundedMessage();
  for (let at = 0; at < body.length; at += 65_536) message.push(body.subarray(at, at + 65_536));
  const sent: string[] = [];
  const send = (bytes?: Uint8Array): Promise<Response> => {
    sent.push(new TextDecoder().decode(bytes));
    return Promise.resolve(new Response(null, { status: 202 }));
  };
  const response = await exchange(new PassThrough(), message.whole() ?? message.members, { send });
  const text = await response.text();
  return [response.status, text === "" ? null : (JSON.parse(text) as unknown), sent];
}

const text = (begin: string, filling: string, end = ""): Uint8Array =>
  new TextEncoder().encode(begin + filling.repeat(SIZE / filling.length) + end);

test.each<[string, Uint8Array, number, object]>([
  ["noise", noise(), 400, NO_MESSAGE],
  ["nothing but spaces", text("", " "), 400, NO_MESSAGE],
  ["nothing but zeros", new Uint8Array(SIZE), 400, NO_MESSAGE],
  ["one list in the other", text("", "["), 400, NO_MESSAGE],
  ["a text", text('"', "a", '"'), 400, NO_MESSAGE],
  ["an object of something else", text('{"a":"', "a", '"}'), 400, NO_MESSAGE],
  ["a notification", text('{"jsonrpc":"2.0","method":"notifications/x","params":{"a":"', "a", '"}}'), 400, TOO_LARGE],
  ["a request", text('{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"', "a", '"}}'), 200, { ...TOO_LARGE, id: 7 }],
])("12 MB of %s are answered, and not sent on", async (_, body, status, said) => {
  expect(await answered(body)).toEqual([status, expect.objectContaining(said), []]);
});

test("12 MB in answer to the server: the server is told in its place", async () => {
  const [status, said, sent] = await answered(text('{"jsonrpc":"2.0","id":"s1","result":{"a":"', "a", '"}}'));
  expect([status, said]).toEqual([202, null]);
  expect(sent.map((each) => JSON.parse(each) as unknown)).toEqual([
    expect.objectContaining({ ...TOO_LARGE, id: "s1" }),
  ]);
});
