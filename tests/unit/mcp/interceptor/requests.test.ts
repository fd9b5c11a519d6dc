import { beforeEach, describe, expect, it, afterEach, vi } from "vitest";
import type { StoredArtifact } from "../../../../web/src/artifacts/store.js";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { exchange } from "../../../../web/src/mcp/http/exchange.js";
import { passClientLines } from "../../../../web/src/mcp/stdio/lines.js";
import { image, large, png, Talk, textOf, uriIn, type Message } from "./talk.js";

let talk: Talk;
beforeEach(() => {
  talk = new Talk();
});

describe("arguments", () => {
  it("take an artifact in the form that the tool wants", async () => {
    await talk.list({
      name: "upload",
      inputSchema: { type: "object", properties: { file: { type: "string", contentEncoding: "base64" } } },
    });
    const uri = uriIn(await talk.call("shot", { content: [image()] }));
    const { forwarded } = await talk.say({
      jsonrpc: "2.0",
      id: 9,
      method: "tools/call",
      params: { name: "upload", arguments: { file: uri, n: 1 } },
    });
    expect(JSON.parse(forwarded ?? "")).toMatchObject({ params: { arguments: { file: png(5000), n: 1 } } });
    expect(talk.events.at(-1)).toMatchObject({ kind: "expanded", tool: "upload", path: "file", form: "base64" });
  });

  it("that nobody knows the form of are asked for, and the call is not made", async () => {
    const uri = uriIn(await talk.call("shot", { content: [image()] }));
    const { forwarded, answers } = await talk.say({
      jsonrpc: "2.0",
      id: 9,
      method: "tools/call",
      params: { name: "upload", arguments: { file: uri } },
    });
    expect(forwarded).toBeUndefined();
    expect(textOf(answers[0] ?? {})).toContain("?as=");
  });

  it("with an artifact of another server are made where a rule says so, and nowhere else", async () => {
    const { id } = await talk.store.putText("a page", { namespace: "browser", mime_type: "text/plain" });
    const share = [{ from: "browser", to: "srv.upload" }];
    const sharing = new Talk({ store: talk.store, config: { interceptor: { share } } });
    const call = (name: string): object => ({
      jsonrpc: "2.0",
      id: 9,
      method: "tools/call",
      params: { name, arguments: { file: `artifact://${id}?as=text` } },
    });
    expect((await sharing.say(call("upload"))).forwarded).toContain('"file":"a page"');
    for (const [interceptor, name] of [
      [sharing, "download"],
      [talk, "upload"],
    ] as const) {
      const { forwarded, answers } = await interceptor.say(call(name));
      expect(forwarded).toBeUndefined();
      expect(textOf(answers[0] ?? {})).toContain("there is no such artifact here");
    }
    const read = await sharing.say({
      jsonrpc: "2.0",
      id: 9,
      method: "tools/call",
      params: { name: "srv_artifact_read", arguments: { uri: id } },
    });
    expect(textOf(read.answers[0] ?? {})).toContain("There is no artifact");
  });

  it("without an artifact of ours go on to the letter", async () => {
    const text =
      '{"jsonrpc":"2.0", "id":9,"method":"tools/call","params":{"name":"u","arguments":{"a":"artifact://theirs","n":1.10}}}';
    expect((await talk.say(text)).forwarded).toBe(text);
  });
});

describe("a client", () => {
  it("may send batches, of which the interceptor answers its part", async () => {
    const read = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "srv_artifact_read", arguments: {} } };
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const { forwarded, answers } = await talk.say([ping, read]);
    expect(JSON.parse(forwarded ?? "")).toEqual([ping]);
    expect(answers.map(({ id }) => id)).toEqual([2]);
    const text = '[ {"id":3,"method":"ping"} , {"method":"x"} ]';
    expect((await talk.say(text)).forwarded).toBe(text);
  });

  it("that sends more than a server takes is told, and so is a server that waits for it", async () => {
    const interceptor = await talk.interceptor;
    expect(JSON.parse(interceptor.refuse(large('"id":1,"method":"tools/call"')).toClient ?? "")).toMatchObject({
      id: 1,
      error: { code: -32600 },
    });
    expect(JSON.parse(interceptor.refuse(large('"id":"q","result":1')).toServer ?? "")).toMatchObject({ id: "q" });
    expect(interceptor.refuse(large('"method":"notifications/x"'))).toEqual({});
  });

  it("is answered when the server is gone, but not where it said that it no longer waits", async () => {
    for (const id of [1, 2]) await talk.say({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "a" } });
    await talk.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    const answers = (await talk.interceptor).abandon("The server ended.");
    expect(answers.map((answer) => JSON.parse(answer) as Message)).toEqual([
      { jsonrpc: "2.0", id: 2, error: { code: -32000, message: "The server ended." } },
    ]);
  });
});

/** A store that answers only what it is let. */
class Hanging extends MemoryArtifactStore {
  #open: (() => void)[] | undefined;

  /** From now on nothing is answered. */
  hang(): void {
    this.#open = [];
  }

  /** Answers everything again. */
  goOn(): void {
    for (const open of this.#open ?? []) open();
    this.#open = undefined;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#open?.length ?? 0;
  }

  override async stat(...args: Parameters<MemoryArtifactStore["stat"]>): Promise<StoredArtifact | null> {
    const waiting = this.#open;
    if (waiting !== undefined) await new Promise<void>((resolve) => waiting.push(resolve));
    return super.stat(...args);
  }
}

/** A client that writes lines. */
class Client {
  readonly toServer: Message[] = [];
  readonly toClient: Message[] = [];
  readonly ended: Promise<void>;
  #lines: string[] = [];
  #wake: (() => void) | undefined;
  #isOver = false;

  constructor(through: Talk) {
    this.ended = this.#pass(through);
  }

  send(...messages: object[]): void {
    this.#lines.push(...messages.map((message) => `${JSON.stringify(message)}\n`));
    this.#wake?.();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    this.#wake?.();
    await this.ended;
  }

  get idsToServer(): unknown[] {
    return this.toServer.map(({ id, method }) => id ?? method);
  }

  async #pass(through: Talk): Promise<void> {
    await passClientLines(this.#chunks(), await through.interceptor, {
      server: async (line) => void this.toServer.push(JSON.parse(new TextDecoder().decode(line)) as Message),
      client: async (text) => void this.toClient.push(JSON.parse(text) as Message),
    });
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const text = this.#lines.splice(0).join("");
      if (text !== "") yield new TextEncoder().encode(text);
      else if (this.#isOver) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

const ping = (id: unknown): object => ({ jsonrpc: "2.0", id, method: "ping" });
const cancel = (requestId: unknown): object => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
});

let store: Hanging;
let uri: string;
const upload = (id: unknown, file = `${uri}?as=base64`): object => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "upload", arguments: { file } },
});

describe("a call of one of our tools", () => {
  it("ends when it is cancelled or the server is gone: the work on it too, and only who did not cancel it is answered", async () => {
    store = new Hanging({ retention: null });
    talk = new Talk({ store });
    uri = uriIn(await talk.call("shot", { content: [image()] }));
    const read = (id: number): object => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "srv_artifact_read", arguments: { uri, lines: "1-2" } },
    });
    let opened = 0;
    let cancelled = 0;
    store.openReader = async () => {
      opened += 1;
      return new ReadableStream({
        pull: async (controller) => {
          await new Promise((resolve) => setTimeout(resolve, 5));
          controller.enqueue(new Uint8Array(1).fill(0x61));
        },
        cancel: () => void (cancelled += 1),
      });
    };
    const client = new Client(talk);
    client.send(read(1), ping(2));
    await expect.poll(() => opened).toBe(1);
    client.send(cancel(1));
    await expect.poll(() => cancelled).toBe(1);
    client.send(read(3));
    await expect.poll(() => opened).toBe(2);
    expect((await talk.interceptor).abandon("The server ended.")).toHaveLength(1);
    await client.end();
    expect(cancelled).toBe(2);
    expect(client.idsToServer).toEqual([2]);
    expect(client.toClient).toMatchObject([{ id: 3, error: { message: "The call was cancelled." } }]);
  });
});

describe("a cancellation", () => {
  it("reaches the server for what it still works on, and for nothing that it has answered or never saw", async () => {
    const call = (id: unknown, name = "slow"): object => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name, arguments: {} },
    });
    for (const id of [1, "1", 2]) await talk.say(call(id));
    await talk.say(call(3, "srv_artifact_read"));
    await talk.hear({ jsonrpc: "2.0", id: 1, result: { content: [] } });
    const ids = [1, 3, 4, "x", 2, "1"];
    const sent: unknown[] = [];
    for (const id of ids) {
      const said = await talk.say(cancel(id));
      expect(said.answers).toEqual([]);
      if (said.forwarded !== undefined) sent.push(id);
    }
    expect(sent).toEqual([2, "1"]);
  });

  it("over HTTP finds the request of another exchange", async () => {
    const interceptor = await talk.interceptor;
    const say = (message: object): ReturnType<typeof interceptor.fromClient> =>
      interceptor.forExchange().fromClient(new TextEncoder().encode(JSON.stringify(message)));
    await say({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "slow" } });
    expect((await say(cancel(1))).forward).toBeDefined();
    expect((await say(cancel(2))).forward).toBeUndefined();
  });
});

describe("a call that waits for a store", () => {
  beforeEach(async () => {
    store = new Hanging({ retention: null });
    talk = new Talk({ store });
    uri = uriIn(await talk.call("shot", { content: [image()] }));
    store.hang();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is overtaken by everything else, which keeps its order", async () => {
    const client = new Client(talk);
    client.send(ping(1), upload(2), ping(3), { jsonrpc: "2.0", method: "notifications/x" }, ping(4));
    await expect.poll(() => client.idsToServer).toEqual([1, 3, "notifications/x", 4]);
    store.goOn();
    await client.end();
    expect(client.idsToServer).toEqual([1, 3, "notifications/x", 4, 2]);
    expect(client.toServer.at(-1)).toMatchObject({ params: { arguments: { file: png(5000) } } });
  });

  it("is not held for escapes that name nothing", async () => {
    const client = new Client(talk);
    client.send(upload(1, "artifact: \u0001"), ping(2));
    await client.end();
    expect(client.idsToServer).toEqual([1, 2]);
  });

  it("ends when it is cancelled: neither side hears of it", async () => {
    const client = new Client(talk);
    client.send(upload(1), upload("b"), cancel(1), cancel("b"), ping(3));
    await client.end();
    store.goOn();
    expect(client.idsToServer).toEqual([3]);
    expect(client.toClient).toEqual([]);
    expect((await talk.interceptor).waiting).toBe(1);
  });

  it("is answered by words when the store does not", async () => {
    vi.useFakeTimers();
    const client = new Client(talk);
    client.send(upload(1), ping(2));
    await expect.poll(() => store.waiting).toBe(1);
    await vi.advanceTimersByTimeAsync(31_000);
    await client.end();
    expect(client.idsToServer).toEqual([2]);
    expect(client.toClient).toMatchObject([{ id: 1, result: { isError: true } }]);
    expect(textOf(client.toClient[0] ?? {})).toMatch(/did not answer in time. Try again later/);
    expect(talk.events.at(-1)).toMatchObject({ kind: "failed", error: { code: "E_STORE_READ" } });
    expect((await talk.interceptor).waiting).toBe(1);
  });

  it("is answered when the server is gone", async () => {
    const client = new Client(talk);
    client.send(upload(7));
    await expect.poll(() => store.waiting).toBe(1);
    const answers = (await talk.interceptor).abandon("The server ended.");
    expect(answers.map((answer) => JSON.parse(answer) as Message)).toMatchObject([{ id: 7, error: { code: -32000 } }]);
    await client.end();
    expect(client.toServer).toEqual([]);
  });

  it("in a batch holds the batch, and nothing else", async () => {
    const client = new Client(talk);
    client.send([ping(1), upload(2)], ping(3));
    await expect.poll(() => client.idsToServer).toEqual([3]);
    store.goOn();
    await client.end();
    expect(client.toServer.at(-1)).toMatchObject([{ id: 1 }, { id: 2 }]);
  });

  it("asks the store for few at a time, and many of them stop the reading", async () => {
    const client = new Client(talk);
    client.send(...Array.from({ length: 70 }, (_, at) => upload(at)), ping("last"));
    await expect.poll(() => store.waiting).toBe(4);
    expect(client.toServer).toEqual([]);
    store.goOn();
    await client.end();
    expect(new Set(client.idsToServer).size).toBe(71);
  });

  it("is waited for where one message is all there is", async () => {
    const said = talk.say(upload(1));
    await expect.poll(() => store.waiting).toBe(1);
    store.goOn();
    expect((await said).forwarded).toContain(png(5000));
  });

  it("over HTTP ends with an empty response when another request cancels it", async () => {
    const interceptor = await talk.interceptor;
    const send = (message: object): Promise<Response> =>
      exchange(interceptor, new TextEncoder().encode(JSON.stringify(message)), {
        send: () => Promise.reject(new Error("the server is told")),
      });
    const call = send(upload(1));
    await expect.poll(() => store.waiting).toBe(1);
    const responses = [await send(cancel(1)), await call];
    expect(responses.map(({ status }) => status)).toEqual([202, 202]);
  });
});
