/** `sluice proxy --timeout` over every way of a proxy: the same contract, by the real command in front of silent servers. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { overAfter, timeoutResult, waitNotices } from "../../../../web/src/mcp/wait-notices.js";
import { listening } from "../../../e2e/http/proxies.js";
import { Room, start } from "../command.js";

type Message = Readonly<Record<string, unknown>>;

/** Whether a server tells of progress. */
const hasProgress = (way: string): boolean => !way.includes("JSON");

const TOOLS = `
const answerCall = ({ id, method, params }, send, cancelled) => {
  const done = (id) => send({ id, result: { content: [{ type: "text", text: "done " + id }] } });
  if (method === "initialize") {
    const serverInfo = { name: "silent", version: "1" };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === "notifications/cancelled") {
    cancelled(params.requestId);
  } else if (method === "tools/call" && params.name === "prompt") done(id);
  else if (method === "tools/call" && params.name === "works") {
    const { progressToken } = params._meta ?? {};
    let step = 0;
    const timer = setInterval(() => {
      step += 1;
      send({ method: "notifications/progress", params: { progressToken, progress: step, message: "step " + step } });
      if (step === 4) {
        clearInterval(timer);
        if (params.arguments?.ends !== false) done(id);
      }
    }, 500);
  }
};
`;

/** Writes to standard error which calls were cancelled, and answers them all the same. */
const SERVER = `${TOOLS}
const { createInterface } = require("node:readline");
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  answerCall(JSON.parse(line), send, (id) => {
    console.error("cancelled " + id);
    send({ id, result: { content: [{ type: "text", text: "late" }] } });
  });
});
`;

interface Silent {
  readonly url: string;
  /** Ids of the calls that were cancelled. */
  readonly cancelled: unknown[];
}

/** The same at a URL: it begins an event stream at once, or answers with JSON when it has an answer. */
async function serveSilence(kind: "events" | "JSON"): Promise<Silent> {
  const answerCall = new Function(`${TOOLS} return answerCall;`)() as (
    message: Message,
    send: (message: Message) => void,
    cancelled: (id: unknown) => void,
  ) => void;
  const cancelled: unknown[] = [];
  const open = new Map<unknown, ServerResponse>();
  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const piece of request) body += String(piece);
      if (request.method !== "POST") return void response.writeHead(405).end();
      const message = JSON.parse(body) as Message;
      const headers = { "mcp-session-id": "one" };
      if (message["id"] === undefined) response.writeHead(202, headers).end();
      else if (kind === "events" && message["method"] === "tools/call") {
        response.writeHead(200, { ...headers, "content-type": "text/event-stream" }).flushHeaders();
      }
      if (message["id"] !== undefined) open.set(message["id"], response);
      const send = (more: Message): void => {
        const text = JSON.stringify({ jsonrpc: "2.0", ...more });
        const isAnswer = "id" in more;
        const at = isAnswer ? open.get(more["id"]) : response;
        if (at?.headersSent === true) at.write(`data: ${text}\n\n`);
        else if (isAnswer) at?.writeHead(200, { ...headers, "content-type": "application/json" }).write(text);
        if (isAnswer) at?.end();
      };
      answerCall(message, send, (id) => {
        cancelled.push(id);
        send({ id, result: { content: [{ type: "text", text: "late" }] } });
      });
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, cancelled };
}

/** A client at a proxy. */
interface Client {
  readonly heard: readonly Message[];
  say(message: Message): void;
  /** What the server was told of cancelled calls, and what the proxy wrote for its operator. */
  cancelled(): readonly unknown[];
  log(): string;
}

function onStandardStreams(args: readonly string[], cancelled?: readonly unknown[]): Client {
  const child = start(["proxy", ...args]);
  onTestFinished(() => void child.kill());
  const [heard, errors]: [Message[], string[]] = [[], []];
  createInterface({ input: child.stdout }).on("line", (line) => void heard.push(JSON.parse(line) as Message));
  createInterface({ input: child.stderr }).on("line", (line) => void errors.push(line));
  return {
    heard,
    say: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    cancelled: () => cancelled ?? cancelledIn(errors.join("\n")),
    log: () => errors.join("\n"),
  };
}

const cancelledIn = (text: string): readonly unknown[] =>
  [...text.matchAll(/^cancelled (\S+)$/gm)].map(([, id]) => Number(id));

/** Reads each response of a listening proxy as its messages come. */
async function overHttp(args: readonly string[], accept: string, cancelled?: readonly unknown[]): Promise<Client> {
  const proxy = await listening(args);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const heard: Message[] = [];
  let session: string | undefined;
  const post = async (message: Message): Promise<void> => {
    const response = await fetch(proxy.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept,
        ...(session !== undefined && { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }),
      },
      body: JSON.stringify(message),
    });
    session ??= response.headers.get("mcp-session-id") ?? undefined;
    const isStream = (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (!isStream) continue;
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const data = /^data: (.+)$/m.exec(event)?.[1];
        if (data !== undefined) heard.push(JSON.parse(data) as Message);
      }
    }
    if (text.trim() !== "") heard.push(JSON.parse(text) as Message);
  };
  return {
    heard,
    say: (message) => void post(message).catch((error: unknown) => heard.push({ failed: String(error) })),
    cancelled: () => cancelled ?? cancelledIn(proxy.said()),
    log: () => proxy.said(),
  };
}

const BOTH = "application/json, text/event-stream";

type Open = (options: readonly string[], room: Room) => Promise<Client>;

const inFront = async (room: Room): Promise<readonly string[]> => [
  "--",
  process.execPath,
  await room.write("server.cjs", SERVER),
];

const atUrl =
  (
    kind: "events" | "JSON",
    open: (args: readonly string[], cancelled: readonly unknown[]) => Client | Promise<Client>,
  ): Open =>
  async (options) => {
    const { url, cancelled } = await serveSilence(kind);
    return open([...options, "--url", url], cancelled);
  };

const WAYS: Readonly<Record<string, Open>> = {
  "a command on standard streams": async (options, room) => onStandardStreams([...options, ...(await inFront(room))]),
  "a URL with events on standard streams": atUrl("events", onStandardStreams),
  "a URL with JSON on standard streams": atUrl("JSON", onStandardStreams),
  "a command that listens": async (options, room) => overHttp([...options, ...(await inFront(room))], BOTH),
  "a command that listens, for a client of JSON": async (options, room) =>
    overHttp([...options, ...(await inFront(room))], "application/json"),
  "a URL with events that listens": atUrl("events", (args, cancelled) => overHttp(args, BOTH, cancelled)),
  "a URL with JSON that listens": atUrl("JSON", (args, cancelled) => overHttp(args, BOTH, cancelled)),
  "a URL with JSON that listens, for a client of JSON": atUrl("JSON", (args, cancelled) =>
    overHttp(args, "application/json", cancelled),
  ),
};

const call = (id: number, name: string, more: object = {}): Message => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: {}, ...more },
});

const INITIALIZE: Message = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

const isOver = (id: number, seconds: number, last: string | null): object => {
  const value = timeoutResult(seconds, last);
  const content = [{ type: "text", text: JSON.stringify(value) }];
  return { jsonrpc: "2.0", id, result: { content, structuredContent: value, isError: true } };
};

async function opened(way: string, options: readonly string[], room: Room): Promise<Client> {
  const client = await (WAYS[way] as Open)([...options, "--store", room.path(`store-${way.length}`)], room);
  client.say(INITIALIZE);
  await vi.waitFor(() => expect(client.heard).toHaveLength(1), { timeout: 10_000 });
  client.say({ jsonrpc: "2.0", method: "notifications/initialized" });
  return client;
}

const answersTo = ({ heard }: Client, id: number): readonly Message[] => heard.filter((each) => each["id"] === id);

describe.each(Object.keys(WAYS))("%s", (way) => {
  test("a silent call is answered, the server is told, and what it answers then is for nobody", async () => {
    await using room = await Room.open();
    const client = await opened(way, ["--timeout", "1"], room);
    for (const message of [call(1, "hangs"), call(2, "prompt")]) client.say(message);
    await vi.waitFor(() => expect(answersTo(client, 1)).toHaveLength(1), { timeout: 10_000 });
    expect(answersTo(client, 1)).toEqual([isOver(1, 1, null)]);
    expect(JSON.stringify(answersTo(client, 2))).toContain("done 2");
    await vi.waitFor(() => expect(client.cancelled()).toEqual([1]), { timeout: 5000 });
    expect(client.log()).toContain(`sluice: hangs: ${overAfter(1).message}`);
    // Another call finds the connection as it was, and its own answer alone.
    client.say(call(3, "prompt"));
    await vi.waitFor(() => expect(answersTo(client, 3)).toHaveLength(1), { timeout: 5000 });
    expect(client.heard.map(({ id }) => id).sort()).toEqual([0, 1, 2, 3]);
  });
});

describe.each(Object.keys(WAYS).filter(hasProgress))("%s", (way) => {
  test("a call that makes progress goes on, and its last step is told", async () => {
    await using room = await Room.open();
    const client = await opened(way, ["--timeout", "1"], room);
    // This client asked for no progress, and gets none.
    client.say(call(1, "works"));
    client.say(call(2, "works", { arguments: { ends: false }, _meta: { progressToken: "mine" } }));
    await vi.waitFor(() => expect(answersTo(client, 2)).toHaveLength(1), { timeout: 10_000 });
    expect(JSON.stringify(answersTo(client, 1))).toContain("done 1");
    expect(answersTo(client, 2)).toEqual([isOver(2, 1, "step 4")]);
    const progress = client.heard.filter(({ method }) => method === "notifications/progress");
    expect(progress.map(({ params }) => (params as Message)["progressToken"])).toEqual([
      "mine",
      "mine",
      "mine",
      "mine",
    ]);
  });
});

test("clients are told of a call that is silent, over each way that can carry it", async () => {
  await using room = await Room.open();
  const clients = await Promise.all(
    Object.keys(WAYS).map(async (way) => [way, await opened(way, ["--timeout", "16"], room)] as const),
  );
  const [notice] = waitNotices([15], 16);
  for (const [, client] of clients) {
    client.say(call(1, "hangs"));
    client.say(call(2, "hangs", { _meta: { progressToken: 7 } }));
  }
  for (const [way, client] of clients) {
    await vi.waitFor(() => expect(answersTo(client, 2), way).toHaveLength(1), { timeout: 25_000 });
    await vi.waitFor(() => expect(answersTo(client, 1), way).toHaveLength(1), { timeout: 5000 });
    const told = client.heard.filter(({ method }) => method !== undefined);
    const isMute = way.endsWith("client of JSON");
    expect(
      told.map(({ method, params }) => [method, (params as Message)["data"] ?? (params as Message)["message"]]),
      way,
    ).toEqual(
      isMute
        ? []
        : [
            ["notifications/message", notice?.message],
            ["notifications/progress", notice?.message],
          ],
    );
    expect(client.log()).toContain(`sluice: hangs: ${notice?.message ?? ""}`);
  }
}, 60_000);
