import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import type { StoredArtifact } from "../../../../web/src/artifacts/store.js";
import { passClientLines } from "../../../../web/src/mcp/stdio/lines.js";
import { exchange } from "../../../../web/src/mcp/http/exchange.js";
import { image, png, Talk, textOf, uriIn, type Message } from "./talk.js";

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

  constructor(talk: Talk) {
    this.ended = this.#pass(talk);
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

  async #pass(talk: Talk): Promise<void> {
    await passClientLines(this.#chunks(), await talk.interceptor, {
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
let talk: Talk;
let uri: string;
const upload = (id: unknown, file = `${uri}?as=base64`): object => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "upload", arguments: { file } },
});

beforeEach(async () => {
  store = new Hanging({ retention: null });
  talk = new Talk({ store });
  uri = uriIn(await talk.call("shot", { content: [image()] }));
  store.hang();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a call that waits for a store", () => {
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
    expect(textOf(client.toClient[0] ?? {})).toMatch(/did not answer in time; try again later/);
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
