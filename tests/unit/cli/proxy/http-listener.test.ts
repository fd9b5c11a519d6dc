/** The proxy over HTTP: what it listens to, what it asks upstream, and ids in between. */
import { array, assert, constantFrom, integer, oneof, property, string } from "fast-check";
import { expect, test } from "vitest";
import { IdSwap, MappedIds } from "../../../../web/src/mcp/http/session.js";
import { listenAddress, ListenGuard, listenToken, formatUrl } from "../../../../web/src/cli/proxy/http-listener.js";
import { namespaceOfCommand, namespaceOfUrl } from "../../../../web/src/cli/proxy/interceptors.js";
import { RemoteEvents } from "../../../../web/src/cli/proxy/remote-connection.js";
import {
  parseHeaderLines,
  parseHeaders,
  requestHeaders,
  withoutConnection,
} from "../../../../web/src/cli/proxy/upstream.js";
import { JsonRpcScanner } from "../../../../web/src/jsonrpc/json-rpc-scanner.js";

const TOKEN = "0123456789abcdef";

const statusOf = (guard: ListenGuard, headers: Record<string, string>): number | undefined =>
  guard.refusal(new Headers(headers))?.status;

test("an address is a host and a port", () => {
  expect(listenAddress("127.0.0.1:8080")).toEqual({ host: "127.0.0.1", port: 8080 });
  expect(listenAddress("[::1]:0")).toEqual({ host: "::1", port: 0 });
  expect(formatUrl("::1", 80, "/mcp")).toBe("http://[::1]:80/mcp");
  for (const wrong of [
    "8080",
    ":8080",
    "localhost",
    "localhost:x",
    "localhost:65536",
    "::1:80",
    "http://localhost:1",
  ]) {
    expect(() => listenAddress(wrong)).toThrow("--listen needs HOST:PORT");
  }
});

test("others than this machine need a token, and a token is long", () => {
  expect(listenToken({}, { host: "localhost", port: 0 })).toBeUndefined();
  expect(listenToken({}, { host: "127.1.2.3", port: 0 })).toBeUndefined();
  for (const host of ["0.0.0.0", "::", "192.168.0.1", "example.com", "127.0.0.1.example.com"]) {
    expect(() => listenToken({}, { host, port: 0 })).toThrow("SLUICE_PROXY_TOKEN");
    expect(listenToken({ SLUICE_PROXY_TOKEN: TOKEN }, { host, port: 0 })).toBe(TOKEN);
  }
  expect(() => listenToken({ SLUICE_PROXY_TOKEN: "short" }, { host: "localhost", port: 0 })).toThrow("16 characters");
});

test("names of this machine and of the address are let in, others are not", () => {
  const guard = new ListenGuard({ host: "mcp.lan", port: 80 }, undefined);
  for (const host of ["localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:80", "mcp.lan", "Mcp.Lan:8080"]) {
    expect(statusOf(guard, { host })).toBeUndefined();
  }
  for (const host of [
    "",
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "mcp.lan.",
    "192.168.0.1",
  ]) {
    expect(statusOf(guard, { host })).toBe(403);
  }
  expect(statusOf(guard, {})).toBe(403);
});

test("listening everywhere, every address is let in, and no name but the machine's", () => {
  const guard = new ListenGuard({ host: "0.0.0.0", port: 80 }, TOKEN);
  const authorization = `Bearer ${TOKEN}`;
  expect(statusOf(guard, { host: "192.168.0.1:80", authorization })).toBeUndefined();
  expect(statusOf(guard, { host: "evil.example", authorization })).toBe(403);
});

test("a token is wanted whole, whatever the name of the scheme is written like", () => {
  const guard = new ListenGuard({ host: "localhost", port: 80 }, TOKEN);
  const host = "localhost";
  expect(statusOf(guard, { host, authorization: `bearer ${TOKEN}` })).toBeUndefined();
  for (const authorization of [
    "",
    TOKEN,
    "Bearer ",
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
    `Basic ${TOKEN}`,
  ]) {
    expect(statusOf(guard, { host, authorization })).toBe(401);
  }
  expect(statusOf(guard, { host })).toBe(401);
});

test.each([
  ["npx -y @modelcontextprotocol/server-filesystem@1.2.3 /data", "filesystem"],
  ["uvx mcp-server-git --repository .", "git"],
  ["node /srv/server-everything/dist/index.js stdio", "everything"],
  ["python -m weather_mcp", "weather"],
  ["docker run -i --rm mcp/github", "github"],
  ["./my.server.py", "my_server"],
  ["C:\\tools\\notes-mcp.exe", "notes"],
  ["node index.js", "index"],
])("%s is called %s", (command, name) => {
  expect(namespaceOfCommand(command.split(" "))).toBe(name);
});

test.each([
  ["https://mcp.example.com/mcp", "example"],
  ["https://example.com/", "example"],
  ["http://127.0.0.1:8080/mcp", "127_0_0_1_8080"],
  ["http://localhost:3000/mcp", "localhost_3000"],
  ["http://[::1]:8080/", "1_8080"],
])("the server at %s is called %s", (url, name) => {
  expect(namespaceOfUrl(new URL(url))).toBe(name);
});

async function read(stream: string, size: number): Promise<{ messages: string[]; id?: string; retry?: number }> {
  const messages: string[] = [];
  const events = new RemoteEvents(() => {
    let message = "";
    return {
      write: async (bytes) => void (message += new TextDecoder().decode(bytes)),
      end: async () => void messages.push(message),
      [Symbol.asyncDispose]: async () => undefined,
    };
  });
  const bytes = new TextEncoder().encode(stream);
  for (let at = 0; at < bytes.length; at += size) await events.write(bytes.slice(at, at + size));
  await events[Symbol.asyncDispose]();
  const { lastEventId: id, retry } = events;
  return { messages, ...(id !== undefined && { id }), ...(retry !== undefined && { retry }) };
}

test("chunks of any size say the same", async () => {
  const stream =
    ':hi\r\nretry: 25\r\nid: 1\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: {}\nid:2\nevent: message\n\nid: 3\ndata: {';
  await assertSizes(async (size) => {
    expect(await read(stream, size)).toEqual({ messages: ['{"a":\n1}', "{}"], id: "2", retry: 25 });
  });
});

test("only what was dispatched need not come again, and only what a header can say is asked for", async () => {
  expect(await read("id: 1\ndata:\n\nid: 2\n", 5)).toEqual({ messages: [""], id: "1" });
  expect(await read("id: \u0000\ndata: {}\n\n", 5)).toEqual({ messages: ["{}"] });
  expect(await read(`id: ${"x".repeat(10_000)}\ndata: {}\n\n`, 1000)).toEqual({ messages: ["{}"] });
  expect(await read("retry: 1e9\nretry: -1\n\n", 5)).toEqual({ messages: [] });
});

async function assertSizes(check: (size: number) => Promise<void>): Promise<void> {
  const sizes = new Set<number>();
  assert(property(integer({ min: 1, max: 100 }), (size) => void sizes.add(size)));
  for (const size of sizes) await check(size);
}

test("what belongs to a connection stays on it, also what it names itself", () => {
  const headers = new Headers({
    connection: "close, X-Hop",
    "x-hop": "1",
    "transfer-encoding": "chunked",
    "x-far": "2",
  });
  expect(Object.fromEntries(withoutConnection(headers))).toEqual({ "x-far": "2" });
});

test("a request gets what it is given, in place of what the client said", () => {
  const headers = new Headers({ host: "localhost", "content-length": "3", "x-key": "theirs", "mcp-session-id": "s" });
  expect(Object.fromEntries(requestHeaders(headers, [["X-Key", "ours"]]))).toEqual({
    "mcp-session-id": "s",
    "x-key": "ours",
  });
});

test("a header is a name and a value, which may have colons", () => {
  expect(parseHeaders(["Authorization: Bearer a:b", "X-Empty:"])).toEqual([
    ["Authorization", "Bearer a:b"],
    ["X-Empty", ""],
  ]);
});

test.each(["", "secret", ": secret", "A B: secret", "X: a\nY: secret", "Host: secret", "content-length: secret"])(
  "what is none is refused, and not shown: %j",
  (line) => {
    expect(() => parseHeaders([line])).toThrow(/^--header needs a name and a value(?!.*secret)/);
  },
);

test("headers in a variable stand one a line; a wrong one is not shown", () => {
  expect(parseHeaderLines("A: b\n\nC: d: e\r\n", "HEADERS")).toEqual([
    ["A", "b"],
    ["C", "d: e"],
  ]);
  expect(parseHeaderLines("", "HEADERS")).toEqual([]);
  for (const line of ["A: b\nsecret", "Host: secret"]) {
    expect(() => parseHeaderLines(line, "HEADERS")).toThrow(
      /^each line of HEADERS needs a name and a value(?!.*secret)/,
    );
  }
});

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (message: Uint8Array): string => new TextDecoder().decode(message);

/** Ids as somebody may spell them. */
const spelled = oneof(
  integer().map(String),
  string().map((value) => JSON.stringify(value)),
  constantFrom('"\\u0061"', "12345678901234567890", "1.0", '""'),
);

test("every answer gets its own id back, as it was spelled", () => {
  assert(
    property(array(spelled, { minLength: 1, maxLength: 8 }), (ids) => {
      const mapped = new MappedIds();
      const keys = ids.map((id) => mapped.request(`{"jsonrpc":"2.0","id": ${id} ,"method":"m"}`).key);
      expect(new Set(keys).size).toBe(ids.length);
      for (const [index, key] of keys.entries()) {
        const back = mapped.back(encode(`{"result":{"id":${key}},"jsonrpc":"2.0","id":${key}}`));
        expect(back.key).toBe(key);
        expect(text(back.bytes)).toBe(`{"result":{"id":${key}},"jsonrpc":"2.0","id":${ids[index] ?? ""}}`);
      }
    }),
  );
});

test("progress, cancellation and subscriptions are told of by the client's own names", () => {
  const mapped = new MappedIds();
  mapped.request('{"id":"x","method":"m"}');
  const { bytes: sent, key } = mapped.request(
    '{"id":"a","method":"m","params":{"_meta":{"progressToken":"t"},"n":1.0}}',
  );
  expect(text(sent)).toBe(`{"id":${key},"method":"m","params":{"_meta":{"progressToken":${key}},"n":1.0}}`);
  const told = [
    [`{"method":"notifications/progress","params":{"progressToken":${key},"progress":1}}`, `:${key},`, ':"t",'],
    [`{"method":"n","params":{"_meta":{"${SUBSCRIPTION}":${key}}}}`, `:${key}}`, ':"a"}'],
    [`{"method":"notifications/cancelled","params":{"requestId":${key}}}`, `:${key}}`, ':"a"}'],
  ] as const;
  for (const [message, own, theirs] of told) {
    const back = mapped.back(encode(message));
    expect(back.key).toBe(key);
    expect(text(back.bytes)).toBe(message.replace(own, theirs));
  }
  const cancelled = mapped.notification('{"method":"notifications/cancelled","params":{"requestId":"a"}}');
  expect(text(cancelled)).toBe(`{"method":"notifications/cancelled","params":{"requestId":${key}}}`);
});

test("what belongs to no request stays as it is", () => {
  const mapped = new MappedIds();
  for (const message of ['{"method":"n"}', '{"id":99,"result":{}}', '{"method":"n","params":{"progressToken":99}}']) {
    expect(mapped.back(encode(message)).bytes).toEqual(encode(message));
  }
});

/** Passes a message through in pieces that end at these places; `behind`: the message is known before. */
function swapped(message: string, places: readonly number[], behind: boolean): string {
  const bytes = new TextEncoder().encode(message);
  const ends = [...new Set([...places.map((place) => place % bytes.length), bytes.length])].toSorted((a, b) => a - b);
  const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
  const about = new JsonRpcScanner();
  if (behind) for (const piece of pieces) about.push(piece);
  const swap = new IdSwap((key) => (key === "17" ? '"its own"' : undefined));
  const out = pieces.flatMap((piece) => {
    if (!behind) about.push(piece);
    return swap.pieces(piece, about);
  });
  return Buffer.concat(out).toString();
}

const MESSAGES: readonly (readonly [message: string, expected: string])[] = [
  ['{"jsonrpc":"2.0","id":17,"result":{"id":17}}', '{"jsonrpc":"2.0","id":"its own","result":{"id":17}}'],
  ['{"result":{"id":17},"id" : 17 }', '{"result":{"id":17},"id" : "its own"}'],
  ['{"result":{},"id":18}', '{"result":{},"id":18}'],
  ['{"result":{},"id":"17"}', '{"result":{},"id":"17"}'],
  ['{"result":{}}', '{"result":{}}'],
];

test("is replaced wherever it stands and however it is cut", () => {
  assert(
    property(array(integer({ min: 0, max: 60 })), constantFrom(...MESSAGES), constantFrom(true, false), (...given) => {
      const [places, [message, expected], behind] = given;
      expect(swapped(message, places, behind)).toBe(expected);
    }),
  );
});
