/** Streams of events, and what is left of them: nothing. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { sessionChannel } from "../../../../web/src/server/sessions/announcer.js";
import { eventStream, type SentEvent } from "../../../../web/src/server/http/sse.js";
import { memoryState, type ServeState } from "../../../../web/src/server/state.js";
import { Visitor } from "../visitor.js";

type Reader = ReadableStreamDefaultReader<Uint8Array>;

const never = new AbortController().signal;

/** Events of a source that says how many listen to it. */
class Source {
  listening = 0;
  readonly given: readonly SentEvent[];

  constructor(given: readonly SentEvent[] = []) {
    this.given = given;
  }

  readonly follow = async function* (this: Source, signal: AbortSignal): AsyncIterable<SentEvent> {
    this.listening += 1;
    try {
      yield* this.given;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    } finally {
      this.listening -= 1;
    }
  }.bind(this);
}

async function read(response: Response, pieces: number): Promise<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  for (let at = 0; at < pieces; at++) text += new TextDecoder().decode((await reader.read()).value);
  reader.releaseLock();
  return text;
}

test("an event is one line of data, with its name and id", async () => {
  const events: SentEvent[] = [
    { id: "5-0", data: { kind: "artifact_stored", text: "a\nb\r\n\u2028" } as SentEvent["data"] },
    { data: { kind: "result" } },
  ];
  const response = eventStream(new Source(events).follow, never);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(await read(response, 3)).toBe(
    'retry: 1000\n\nevent: artifact_stored\nid: 5-0\ndata: {"kind":"artifact_stored","text":"a\\nb\\r\\n\u2028"}\n\n' +
      'event: result\ndata: {"kind":"result"}\n\n',
  );
  await response.body?.cancel();
});

test("an event is made only when it is asked for", async () => {
  let made = 0;
  async function* endless(): AsyncIterable<SentEvent> {
    for (;;) {
      made += 1;
      yield { data: { kind: "tick" } };
    }
  }
  const response = eventStream(endless, never);
  await read(response, 3);
  await sleep(20);
  expect(made).toBeLessThanOrEqual(4);
  await response.body?.cancel();
});

describe("in time that a test sets", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("silence is broken every 15 seconds", async () => {
    const response = eventStream(new Source().follow, never);
    const text = read(response, 4);
    await vi.advanceTimersByTimeAsync(45_000);
    expect(await text).toBe("retry: 1000\n\n:\n\n:\n\n:\n\n");
    await response.body?.cancel();
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
  });

  test("it ends when the session's time is over", async () => {
    const source = new Source();
    const response = eventStream(source.follow, never, Date.now() + 60_000);
    const text = response.text();
    await vi.advanceTimersByTimeAsync(59_000);
    expect(source.listening).toBe(1);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await text).toMatch(/^retry: 1000\n\n(?::\n\n)*$/);
    expect([source.listening, vi.getTimerCount()]).toEqual([0, 0]);
  });
});

test.each([
  ["the client goes", (reader: Reader) => reader.cancel()],
  [
    "the server closes",
    async (reader: Reader, over: AbortController) => {
      const next = reader.read();
      over.abort();
      expect((await next).done).toBe(true);
    },
  ],
])("nobody listens any more when %s, in the middle of waiting", async (_, leave) => {
  const source = new Source();
  const over = new AbortController();
  const response = eventStream(source.follow, over.signal);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  await leave(reader, over);
  await vi.waitFor(() => expect(source.listening).toBe(0));
});

// oxlint-disable-next-line require-yield
async function* deaf(): AsyncIterable<SentEvent> {
  await new Promise(() => undefined);
}

test("events that do not end by the signal are not waited for", async () => {
  const over = new AbortController();
  const text = eventStream(deaf, over.signal).text();
  await sleep(10);
  over.abort();
  expect(await text).toBe("retry: 1000\n\n");
});

test("what fails breaks the stream", async () => {
  // oxlint-disable-next-line require-yield
  const response = eventStream(async function* (): AsyncIterable<SentEvent> {
    throw new Error("the log is gone");
  }, never);
  await expect(response.text()).rejects.toThrow("the log is gone");
});

/** State that says how many follow its events. */
function counting(kept: (channel: string) => boolean): {
  readonly state: ServeState;
  readonly following: () => number;
} {
  const state = memoryState();
  let following = 0;
  const events = Object.create(state.events, {
    follow: {
      value: async function* (...args: Parameters<ServeState["events"]["follow"]>) {
        const count = kept(args[0]) ? 1 : 0;
        following += count;
        try {
          yield* state.events.follow(...args);
        } finally {
          following -= count;
        }
      },
    },
  }) as ServeState["events"];
  // Private members are those of the log itself.
  for (const name of ["append", "has", "end"] as const)
    Object.defineProperty(events, name, { value: state.events[name].bind(state.events) });
  return { state: { ...state, events }, following: () => following };
}

test("two hundred listeners come and go, and leave nothing behind", async () => {
  const { state, following } = counting((channel) => channel.startsWith("session "));
  await using server = new SluiceServer({ store: new MemoryArtifactStore(), state, limits: { listeners: 200 } });
  const ada = await Visitor.of(server);
  const responses = await Promise.all(Array.from({ length: 200 }, () => ada.ask("/events")));
  const readers = responses.map(({ body }) => (body as ReadableStream<Uint8Array>).getReader());
  await Promise.all(readers.map((reader) => reader.read()));
  await ada.upload("x");
  await Promise.all(readers.map((reader) => reader.read()));
  expect(following()).toBe(200);
  // Some in the middle of waiting, some with an event that they did not take.
  for (const reader of readers.slice(0, 100)) void reader.read();
  await Promise.all(readers.map((reader) => reader.cancel()));
  await vi.waitFor(() => expect(following()).toBe(0));
  expect((await ada.ask("/events")).status).toBe(200);
});

test("a listener hears what was stored, from where it was, and the end of the session", async () => {
  const state = memoryState();
  await using server = new SluiceServer({ store: new MemoryArtifactStore(), state });
  const ada = await Visitor.of(server);
  const first = await ada.upload("first");
  const second = await ada.upload("second", "?trace=t");
  const all = await read(await ada.ask("/events"), 3);
  const ids = [...all.matchAll(/^id: (.*)$/gm)].map(([, id = ""]) => id);
  expect(all).toContain(first.id);
  const rest = await ada.ask("/events", { headers: { "last-event-id": ids[0] ?? "" } });
  const ending = rest.text();
  await sleep(10);
  await ada.end();
  const text = await ending;
  expect(text).not.toContain(first.id);
  expect(text).toContain(second.id);
  expect(text).toContain('"trace":"t"');
  expect(text).toMatch(/event: session_ended\n.*\n.*\n\n$/);
  expect(text).not.toMatch(/user_id|session_id|scope/);
  expect(await state.events.has(sessionChannel(ada.id))).toBe(false);
});
