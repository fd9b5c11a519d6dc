/** Event streams as they are written, and what is sent in silence. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ListenUrl } from "../../../web/src/cli/proxy/listen.js";
import { encodeEvent, keepAlive, keepResponseAlive } from "../../../web/src/http/event-stream.js";
import { EventHistory, EventStream } from "../../../web/src/mcp/http/event-stream.js";

const EVENTS = { "content-type": "text/event-stream" };
const SILENCE = 15_000;

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

test("an event is the same of text and of bytes", () => {
  const fields = { name: "message", id: "1-2", retry: 5 };
  expect(new TextDecoder().decode(encodeEvent(fields, "é"))).toBe("retry: 5\nevent: message\nid: 1-2\ndata: é\n\n");
  expect(encodeEvent(fields, encode("é"))).toEqual(encodeEvent(fields, "é"));
  expect(new TextDecoder().decode(encodeEvent({}, ""))).toBe("data: \n\n");
});

test.each([
  ["JSON", new Response("{}", { headers: { "content-type": "application/json" } })],
  ["a compressed stream", new Response("x", { headers: { ...EVENTS, "content-encoding": "gzip" } })],
  ["nothing", new Response(null, { headers: EVENTS })],
])("%s stays as it is", (_, response) => {
  expect(keepResponseAlive(response)).toBe(response);
});

describe("in time that a test sets", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A stream that a test writes to, and all that its client has read. */
  class Conversation {
    text = "";
    readonly done: Promise<void>;
    readonly #writer: WritableStreamDefaultWriter<Uint8Array>;

    constructor(keep: (stream: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array> = keepAlive) {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      this.#writer = writable.getWriter();
      this.done = this.#read(keep(readable));
    }

    async write(text: string): Promise<void> {
      await this.#writer.write(encode(text));
    }

    async end(): Promise<void> {
      await this.#writer.close();
      await this.done;
    }

    async abort(): Promise<void> {
      await this.#writer.abort(new Error("gone"));
    }

    async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
      for await (const piece of stream) this.text += new TextDecoder().decode(piece);
    }
  }

  test("each silence gets a comment, and what is sent in time gets none", async () => {
    const talk = new Conversation();
    await vi.advanceTimersByTimeAsync(2 * SILENCE);
    for (const number of [1, 2]) {
      await talk.write(`data: ${number}\n\n`);
      await vi.advanceTimersByTimeAsync(SILENCE - 1);
    }
    // What other tests left behind in this process may have timers, too.
    const timers = vi.getTimerCount();
    await talk.end();
    expect(talk.text).toBe(":\n\n:\n\ndata: 1\n\ndata: 2\n\n");
    expect(vi.getTimerCount()).toBe(timers - 1);
  });

  test.each([
    ["data: 1", "\n\n"],
    ["id: 1\n", "\n"],
    ["id: 1\r\n", "data: 1\r\n\r\n"],
    ["data: 1\r", "\r"],
  ])("an event that is under way is not ended by one: %j and %j", async (half, rest) => {
    const talk = new Conversation();
    await talk.write(half);
    await vi.advanceTimersByTimeAsync(3 * SILENCE);
    expect(talk.text).toBe(half);
    await talk.write(rest);
    await vi.advanceTimersByTimeAsync(SILENCE);
    await talk.end();
    expect(talk.text).toBe(`${half}${rest}:\n\n`);
  });

  test("what breaks off in silence breaks off for the client", async () => {
    const talk = new Conversation();
    await vi.advanceTimersByTimeAsync(SILENCE);
    await Promise.all([expect(talk.done).rejects.toThrow("gone"), talk.abort()]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a client that goes in silence leaves nothing behind", async () => {
    const cancelled = vi.fn<() => void>();
    const reader = keepAlive(new ReadableStream({ cancel: cancelled })).getReader();
    const next = reader.read();
    await reader.cancel();
    expect((await next).done).toBe(true);
    expect([cancelled.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  test("a proxy keeps the streams of a silent server alive", async () => {
    const url = new ListenUrl({
      url: new URL("http://server.example/mcp"),
      headers: [],
      passesAuthorization: false,
      fetch: async () => new Response(new ReadableStream(), { headers: { ...EVENTS, "content-length": "9" } }),
      onUnauthorized: () => undefined,
    });
    for (const method of ["GET", "POST"]) {
      const headers = new Headers({ accept: "text/event-stream" });
      const { signal } = new AbortController();
      const response = await url.handle({ method, path: "/mcp", headers, body: undefined, signal });
      expect(response.headers.has("content-length")).toBe(false);
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      const piece = reader.read();
      await vi.advanceTimersByTimeAsync(SILENCE);
      expect(new TextDecoder().decode((await piece).value)).toBe(":\n\n");
      await reader.cancel();
    }
  });

  test("so does a session, over every connection, and not within a message in pieces", async () => {
    const stream = new EventStream({ onGone: () => undefined, sent: new EventHistory(0) });
    const read = async (response: Response | undefined, work: () => Promise<void>): Promise<string> => {
      const talk = new Conversation(() => response?.body as ReadableStream<Uint8Array>);
      await work();
      void talk.done.catch(() => undefined);
      return talk.text;
    };
    const first = await read(stream.response({}), async () => {
      const pieces = await stream.begin();
      await pieces.write(encode("1"));
      await vi.advanceTimersByTimeAsync(2 * SILENCE);
      await pieces.write(encode("2"));
      pieces.end("7");
      await vi.advanceTimersByTimeAsync(SILENCE);
    });
    expect(first).toBe("event: message\nid: 1-1\ndata: 12\n\n:\n\n");
    const again = stream.resume(1, { headers: {}, signal: new AbortController().signal, primes: true });
    const second = await read(again, () => vi.advanceTimersByTimeAsync(SILENCE).then(() => undefined));
    expect(second).toBe("retry: 1000\nid: 1-1\ndata: \n\n:\n\n");
    stream.giveUp();
  });
});
