/** Streams of a server that is a command, gone on with after their connection broke off (MCP 2025-11-25, Resumability). */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Message } from "../script.js";
import { calling, listening, messagesOf, modern, offered, post, session, type Serving } from "./proxies.js";

const DIRECTED = [process.execPath, fileURLToPath(new URL("directed.mjs", import.meta.url))];

/** Events of one stream, as they come, until the connection is broken off. */
class Events {
  /** What came, event by event, as it was written. */
  readonly came: string[] = [];
  readonly status: number;
  readonly headers: Headers;
  /** Settles when the stream has ended, however it did. */
  readonly ended: Promise<void>;
  readonly #abort: AbortController;
  #wake: () => void = () => undefined;

  private constructor(response: Response, abort: AbortController) {
    this.#abort = abort;
    this.status = response.status;
    this.headers = response.headers;
    this.ended = this.#read(response).catch(() => undefined);
  }

  static async of(url: string, init: RequestInit): Promise<Events> {
    const abort = new AbortController();
    return new Events(await fetch(url, { ...init, signal: abort.signal }), abort);
  }

  /** The event at a place, once it is there. */
  async at(index: number): Promise<string> {
    while (this.came.length <= index) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.came[index] ?? "";
  }

  /** Breaks the connection off. */
  async breakOff(): Promise<void> {
    this.#abort.abort();
    await this.ended;
  }

  async #read(response: Response): Promise<void> {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const piece = decoder.decode(chunk, { stream: true });
      text += piece;
      if (!piece.includes("\n")) continue;
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      this.came.push(...events.filter((event) => event !== ":"));
      this.#wake();
    }
  }
}

const idOf = (event: string): string => /^id: (.*)$/m.exec(event)?.[1] ?? "";
const dataOf = (event: string): Message => JSON.parse(/^data: (.+)$/m.exec(event)?.[1] ?? "null") as Message;

const stepOf = (event: string): unknown => (dataOf(event)["params"] as { progress: unknown }).progress;

/** One session of a server at a URL. */
class Dialogue {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  #count = 0;

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
  }

  /** Calls `wait`, with progress. */
  wait(name = "", id: string | number = `wait ${name}`): Promise<Events> {
    const { params, ...call } = calling(id, "wait", { name });
    const message = { ...call, params: { ...(params as object), _meta: { progressToken: name } } };
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const init = { method: "POST", headers: { ...headers, ...this.#headers }, body: JSON.stringify(message) };
    return Events.of(this.#url, init);
  }

  /** Calls another tool, to its end. */
  async say(tool: string, args: Message = {}): Promise<void> {
    this.#count += 1;
    const id = `say ${this.#count}`;
    const answer = await messagesOf(await post(this.#url, calling(id, tool, args), this.#headers));
    if (answer.at(-1)?.["result"] === undefined) throw new Error(`${tool} was refused: ${JSON.stringify(answer)}`);
  }

  /** Makes the server say something that belongs to no request. */
  async change(): Promise<void> {
    const message = { jsonrpc: "2.0", method: "notifications/roots/list_changed" };
    await post(this.#url, message, this.#headers);
  }

  /** Asks for the stream, or for what came behind an event. */
  get(lastEventId?: string, more: Readonly<Record<string, string>> = {}): Promise<Events> {
    const last = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    return Events.of(this.#url, { headers: { accept: "text/event-stream", ...this.#headers, ...last, ...more } });
  }
}

/** What comes of an answer of so many bytes that was said while nobody listened. */
async function missedAnswer(own: Dialogue, bytes: number): Promise<Message> {
  const stream = await own.wait();
  const id = idOf(await stream.at(0));
  await stream.breakOff();
  await own.say("finish", { bytes });
  const again = await own.get(id);
  await again.ended;
  return dataOf(again.came.slice(1).join("\n\n"));
}

describe("a stream", () => {
  let proxy: Serving;
  const begin = async (more: Readonly<Record<string, string>> = {}): Promise<Dialogue> =>
    new Dialogue(proxy.url, { ...(await session(proxy.url)), ...more });

  beforeAll(async () => {
    proxy = await listening(["--bypass", "--", ...DIRECTED]);
  });
  afterAll(() => proxy[Symbol.asyncDispose]());

  it("tells at once how to come back, and gives every event an id of its own", async () => {
    const own = await begin();
    const [one, two] = [await own.wait("one"), await own.wait("two")];
    const events = [await one.at(0), await two.at(0)];
    for (const event of events) expect(event).toMatch(/^retry: \d+\nid: \S+\ndata: $/);
    for (const name of ["one", "two"]) await own.say("tell", { name });
    events.push(await one.at(1), await two.at(1));
    expect(new Set(events.map(idOf)).size).toBe(4);
  });

  it("goes on with what was missed and the rest, byte for byte and once", async () => {
    const own = await begin();
    const first = await own.wait();
    await own.say("tell", { count: 2 });
    const [known, missed] = [await first.at(1), await first.at(2)];
    await first.breakOff();
    await own.say("tell");
    const second = await own.get(idOf(known));
    expect(await second.at(1)).toBe(missed);
    expect(stepOf(await second.at(2))).toBe(3);
    await own.say("finish", { bytes: 100_000 });
    await second.ended;
    const answer = second.came[3] ?? "";
    expect(dataOf(answer)).toMatchObject({ id: "wait ", result: { content: [{ type: "text" }] } });
    expect(second.came).toHaveLength(4);
    const third = await own.get(idOf(known));
    await third.ended;
    expect(third.came.slice(1)).toEqual(second.came.slice(1));
  });

  it("goes on with nothing of another", async () => {
    const own = await begin();
    const [one, two] = [await own.wait("one"), await own.wait("two")];
    const [, known] = [await two.at(0), await one.at(0)];
    await one.breakOff();
    await two.breakOff();
    for (const name of ["two", "one", "two"]) await own.say("tell", { name });
    for (const name of ["two", "one"]) await own.say("finish", { name });
    const again = await own.get(idOf(known));
    await again.ended;
    expect(again.came.slice(1).map((event) => dataOf(event)["id"] ?? dataOf(event)["params"])).toMatchObject([
      { progressToken: "one" },
      "wait one",
    ]);
  });

  it("breaks off as often as it likes, also before anything came", async () => {
    const own = await begin();
    let stream = await own.wait();
    for (let times = 0; times < 5; times += 1) {
      const primed = await stream.at(0);
      await stream.breakOff();
      stream = await own.get(idOf(primed));
      expect(stream.headers.get("mcp-session-id")).toBeTruthy();
    }
    await own.say("finish");
    await stream.ended;
    expect(stream.came.slice(1).map((event) => dataOf(event)["id"])).toEqual(["wait "]);
  });

  it("goes on over the connection that asks, although the one before seems to be there", async () => {
    const own = await begin();
    const first = await own.wait();
    const second = await own.get(idOf(await first.at(0)));
    await first.ended;
    await own.say("finish");
    await second.ended;
    expect([first.came.length, second.came.length]).toEqual([1, 2]);
  });

  it("that was heard to its end is not begun again", async () => {
    const own = await begin();
    const first = await own.wait();
    await first.at(0);
    await own.say("finish", { fails: true });
    await first.ended;
    const again = await own.get(idOf(first.came.at(-1) ?? ""));
    expect(again.status).toBe(204);
  });

  it("that is unknown is refused, and the session is still there", async () => {
    const [own, other] = [await begin(), await begin()];
    const stream = await own.wait();
    const id = idOf(await stream.at(0));
    const [number = ""] = id.split("-");
    for (const unknown of ["x", "-", "0", "1e9-0", `${number}-1`, `${number}-99999999999`, "99-0"]) {
      expect([unknown, (await own.get(unknown)).status]).toEqual([unknown, 400]);
    }
    expect((await other.get(id)).status).toBe(400);
    await own.say("finish");
    await stream.ended;
    expect(stream.came).toHaveLength(2);
  });

  it("keeps an answer of eight megabytes", async () => {
    const { result } = await missedAnswer(await begin(), 8_000_000);
    expect((result as { content: readonly { text: string }[] }).content[0]?.text).toHaveLength(8_000_000);
  });

  it("says of an answer that is too large to be kept that it was lost, if it was", async () => {
    const own = await begin();
    const message = expect.stringContaining("too large to resend") as unknown;
    expect(await missedAnswer(own, 9_000_000)).toMatchObject({ id: "wait ", error: { message } });
    const heard = await own.wait();
    await heard.at(0);
    await own.say("finish", { bytes: 20_000_000 });
    await heard.ended;
    expect(heard.came[1]?.length).toBeGreaterThan(20_000_000);
    expect((await own.get(idOf(heard.came[1] ?? ""))).status).toBe(204);
  });

  it("keeps the latest thousand events", async () => {
    const own = await begin();
    const stream = await own.wait();
    const id = idOf(await stream.at(0));
    await stream.breakOff();
    await own.say("tell", { count: 1500 });
    await own.say("finish");
    const again = await own.get(id);
    await again.ended;
    const [, ...kept] = again.came;
    expect(dataOf(kept.at(-1) ?? "")).toMatchObject({ id: "wait " });
    const steps = kept.slice(0, -1).map(stepOf);
    // What was sent for the other calls counts too.
    expect(steps.length).toBeGreaterThan(990);
    expect(steps).toEqual(Array.from(steps, (_, index) => 1501 - steps.length + index));
  });

  it("of what belongs to no request goes on too", async () => {
    const own = await begin();
    const stream = await own.get();
    const primed = await stream.at(0);
    await own.change();
    const seen = await stream.at(1);
    await stream.breakOff();
    await own.change();
    const again = await own.get(idOf(primed));
    expect(await again.at(1)).toBe(seen);
    expect(dataOf(await again.at(2))).toMatchObject({ method: "notifications/tools/list_changed" });
    const fresh = await own.get();
    await fresh.at(0);
    await again.ended;
    expect((await own.get(idOf(primed))).status).toBe(400);
  });

  it("of a request whose client has gone makes room for one with the same id", async () => {
    const own = await begin();
    const first = await own.wait("", "same");
    await first.at(0);
    await first.breakOff();
    let second = await own.wait("", "same");
    // It is not known at once that a client has gone.
    await expect
      .poll(async () => (second.status === 200 ? second : (second = await own.wait("", "same"))).status)
      .toBe(200);
    await own.say("finish");
    await second.ended;
    expect(second.came).toHaveLength(2);
  });

  it("of an earlier revision has ids, and no event without data", async () => {
    const own = await begin({ "mcp-protocol-version": "2025-06-18" });
    const opened = own.wait();
    await own.say("tell");
    const stream = await opened;
    const told = await stream.at(0);
    expect(stepOf(told)).toBe(1);
    await stream.breakOff();
    await own.say("finish");
    const again = await own.get(idOf(told));
    await again.ended;
    expect(again.came.map((event) => dataOf(event)["id"])).toEqual(["wait "]);
  });

  it("of revision 2026-07-28 cannot be gone on with", async () => {
    const [message, headers] = modern("modern", "tools/call", { name: "wait", arguments: { name: "modern" } });
    const params = message["params"] as Record<string, object>;
    const told = { ...message, params: { ...params, _meta: { ...params["_meta"], progressToken: "modern" } } };
    const answered = post(proxy.url, told, headers);
    for (const [tool, id] of [["tell", 1] as const, ["finish", 2] as const]) {
      const [call, more] = modern(id, "tools/call", { name: tool, arguments: { name: "modern" } });
      await (await post(proxy.url, call, more)).text();
    }
    const text = await (await answered).text();
    expect(text).toMatch(/^event: message\ndata: /);
    expect(text).not.toMatch(/^(?:id|retry):/m);
    expect((await fetch(proxy.url, { headers: { ...headers, "last-event-id": "1-0" } })).status).toBe(405);
  });
});

/** Stands between a client and a server, and breaks every connection off when it is told to. */
interface Breakable extends AsyncDisposable {
  readonly url: string;
  readonly breakOff: () => void;
}

async function breakable(url: string): Promise<Breakable> {
  const open = new Set<Socket>();
  const { hostname, port } = new URL(url);
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const [socket, other] of [[client, upstream] as const, [upstream, client] as const]) {
      open.add(socket);
      socket.on("error", () => undefined).on("close", () => open.delete(socket) && other.destroy());
    }
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const breakOff = (): void => {
    for (const socket of open) socket.destroy();
  };
  const at = new URL(url);
  at.port = String((server.address() as AddressInfo).port);
  return {
    url: at.href,
    breakOff,
    [Symbol.asyncDispose]: async () => {
      breakOff();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What the tests use of a client and its transport; the SDKs' own types differ in what does not matter here. */
interface Caller {
  readonly connect: () => Promise<void>;
  readonly close: () => Promise<void>;
  /** Calls `wait`. */
  readonly call: (onprogress: (step: { progress: number }) => void) => Promise<unknown>;
  readonly transport: { readonly sessionId?: string; readonly onmessage?: (message: Message) => void };
}

const INFO = { name: "resumed", version: "1.0.0" };
const WAIT = { name: "wait", arguments: {} };

function callerV1(url: URL, headers: Record<string, string>): Caller {
  const client = new ClientV1(INFO);
  const transport = new HttpV1(url, { requestInit: { headers } });
  return {
    connect: () => client.connect(transport),
    close: () => client.close(),
    call: (onprogress) => client.callTool(WAIT, undefined, { onprogress }),
    transport: transport as unknown as Caller["transport"],
  };
}

function callerV2(url: URL, headers: Record<string, string>): Caller {
  const client = new ClientV2(INFO);
  const transport = new HttpV2(url, { requestInit: { headers } });
  return {
    connect: () => client.connect(transport),
    close: () => client.close(),
    call: (onprogress) => client.callTool(WAIT, { onprogress }),
    transport: transport as unknown as Caller["transport"],
  };
}

/** Servers, by the way that they are started. */
const SERVERS = [
  ["proxy --listen", async () => ({ ...(await listening(["--bypass", "--", ...DIRECTED])), headers: {} })],
  ["serve", () => offered(DIRECTED)],
] as const;

const CASES = SERVERS.flatMap(([name, start]) => [
  [name, "SDK v1", start, callerV1] as const,
  [name, "SDK v2", start, callerV2] as const,
]);

it.each(CASES)(
  "%s: %s gets its answer once after its connection broke off twice",
  async (_name, _sdk, start, caller) => {
    await using server = await start();
    await using path = await breakable(server.url);
    const { connect: open, close, call, transport } = caller(new URL(path.url), server.headers);
    await open();
    const ids: unknown[] = [];
    const { onmessage: take } = transport;
    const onmessage: typeof take = (message, ...more: []) => {
      if (message["result"] !== undefined) ids.push(message["id"]);
      take?.(message, ...more);
    };
    Object.assign(transport, { onmessage });
    const begun = { "mcp-session-id": transport.sessionId ?? "", "mcp-protocol-version": "2025-11-25" };
    const own = new Dialogue(server.url, { ...server.headers, ...begun });
    const steps: number[] = [];
    const answer = call(({ progress }) => steps.push(progress));
    for (const heard of [1, 4]) {
      await own.say("tell");
      await expect.poll(() => steps.length, { timeout: 10_000 }).toBe(heard);
      path.breakOff();
      await own.say("tell", { count: 2 });
    }
    await own.say("finish", { bytes: 1000 });
    const text = expect.stringMatching(/^.{1000}$/) as unknown;
    expect(await answer).toMatchObject({ content: [{ type: "text", text }] });
    expect(steps).toEqual([1, 2, 3, 4, 5, 6]);
    expect(ids).toHaveLength(1);
    await close();
  },
);
