/** `sluice proxy --timeout` over every way of a proxy: the same contract, by the real command in front of silent servers. */
import { once } from "node:events";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { overAfter, timeoutResult, waitNotices } from "../../../../web/src/mcp/wait-notices.js";
import { listening } from "../../../e2e/http/proxies.js";
import { Room, start } from "../command.js";

type Message = Readonly<Record<string, unknown>>;

/** Whether a server tells of progress. */
const hasProgress = (way: string): boolean => !way.includes("JSON");

const SERVER = fileURLToPath(new URL("silent.mjs", import.meta.url));

/** A server at a URL, and what it wrote to standard error. */
async function serveSilence(kind: "events" | "json"): Promise<{ readonly url: string; readonly said: () => string }> {
  const child = spawn(process.execPath, [SERVER, kind], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill());
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { url, said: () => said };
}

/** A client at a proxy. */
interface Client {
  readonly heard: readonly Message[];
  say(message: Message): void;
  /** What the server was told of cancelled calls, and what the proxy wrote for its operator. */
  cancelled(): readonly unknown[];
  log(): string;
}

function onStandardStreams(args: readonly string[], said?: () => string): Client {
  const child = start(["proxy", ...args]);
  onTestFinished(() => void child.kill());
  const [heard, errors]: [Message[], string[]] = [[], []];
  createInterface({ input: child.stdout }).on("line", (line) => void heard.push(JSON.parse(line) as Message));
  createInterface({ input: child.stderr }).on("line", (line) => void errors.push(line));
  return {
    heard,
    say: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    cancelled: () => cancelledIn(said?.() ?? errors.join("\n")),
    log: () => errors.join("\n"),
  };
}

const cancelledIn = (text: string): readonly unknown[] =>
  [...text.matchAll(/^cancelled (\S+)$/gm)].map(([, id]) => Number(id));

/** Reads each response of a listening proxy as its messages come. */
async function overHttp(args: readonly string[], accept: string, said?: () => string): Promise<Client> {
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
    cancelled: () => cancelledIn((said ?? proxy.said)()),
    log: () => proxy.said(),
  };
}

const BOTH = "application/json, text/event-stream";

type Open = (options: readonly string[]) => Promise<Client>;

const IN_FRONT = ["--", process.execPath, SERVER];

const atUrl =
  (kind: "events" | "json", open: (args: readonly string[], said: () => string) => Client | Promise<Client>): Open =>
  async (options) => {
    const { url, said } = await serveSilence(kind);
    return open([...options, "--url", url], said);
  };

const WAYS: Readonly<Record<string, Open>> = {
  "a command on standard streams": async (options) => onStandardStreams([...options, ...IN_FRONT]),
  "a URL with events on standard streams": atUrl("events", onStandardStreams),
  "a URL with JSON on standard streams": atUrl("json", onStandardStreams),
  "a command that listens": (options) => overHttp([...options, ...IN_FRONT], BOTH),
  "a command that listens, for a client of JSON": (options) => overHttp([...options, ...IN_FRONT], "application/json"),
  "a URL with events that listens": atUrl("events", (args, said) => overHttp(args, BOTH, said)),
  "a URL with JSON that listens": atUrl("json", (args, said) => overHttp(args, BOTH, said)),
  "a URL with JSON that listens, for a client of JSON": atUrl("json", (args, said) =>
    overHttp(args, "application/json", said),
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
  const client = await (WAYS[way] as Open)([...options, "--store", room.path(`store-${way.length}`)]);
  client.say(INITIALIZE);
  await vi.waitFor(() => expect(client.heard).toHaveLength(1), { timeout: 10_000 });
  client.say({ jsonrpc: "2.0", method: "notifications/initialized" });
  return client;
}

const textIn = (params: Message): unknown => params["data"] ?? params["message"];

const answersTo = ({ heard }: Client, id: number): readonly Message[] => heard.filter((each) => each["id"] === id);

describe.each(Object.keys(WAYS))("%s", (way) => {
  test("a silent call is answered, the server is told, and what it answers then is dropped", async () => {
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
    expect(client.heard.map(({ id }) => Number(id)).sort((left, right) => left - right)).toEqual([0, 1, 2, 3]);
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
  const told = async ([way, client]: (typeof clients)[number]): Promise<readonly unknown[]> => {
    client.say(call(1, "hangs"));
    client.say(call(2, "hangs", { _meta: { progressToken: 7 } }));
    for (const id of [1, 2]) await vi.waitFor(() => expect(answersTo(client, id)).toHaveLength(1), { timeout: 25_000 });
    expect(client.log()).toContain(`sluice: hangs: ${notice?.message ?? ""}`);
    const between = client.heard.filter(({ method }) => method !== undefined);
    return [way, ...between.map(({ method, params }) => [method, textIn(params as Message)])];
  };
  const both = [
    ["notifications/message", notice?.message],
    ["notifications/progress", notice?.message],
  ];
  expect(await Promise.all(clients.map(told))).toEqual(
    clients.map(([way]) => (way.endsWith("client of JSON") ? [way] : [way, ...both])),
  );
}, 60_000);
