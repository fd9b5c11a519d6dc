/** Messages as events, whole and in pieces, over one connection and over several. */
import { afterEach, expect, test, vi } from "vitest";
import { EventStream, EventHistory } from "../../../../web/src/mcp/http/event-stream.js";
import { PostExchange } from "../../../../web/src/mcp/http/message-router.js";

afterEach(() => vi.useRealTimers());

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const nobody = { onGone: (): void => undefined };

test("nothing comes between the pieces of a message", async () => {
  const stream = new EventStream(nobody);
  const response = stream.response({});
  const first = await stream.begin();
  const sent = [stream.send(bytes("2")), stream.begin(), stream.send(bytes("4"))] as const;
  await first.write(bytes("1"));
  await first.write(bytes("1"));
  first.end();
  const third = await sent[1];
  await third.write(bytes("3"));
  third.end();
  await Promise.all(sent);
  stream.end();
  const data = [...(await response.text()).matchAll(/^data: (.*)\n\n/gm)].map(([, text]) => text);
  expect(data).toEqual(["11", "2", "3", "4"]);
});

test("a message that will not be complete breaks the stream off", async () => {
  const ends = [
    (stream: EventStream): void => stream.end(),
    (_stream: EventStream, { fail }: { fail: () => void }): void => fail(),
  ];
  for (const end of ends) {
    const stream = new EventStream(nobody);
    const response = stream.response({});
    const pieces = await stream.begin();
    await pieces.write(bytes("half"));
    end(stream, pieces);
    await stream.send(bytes("lost"));
    await expect(response.text()).rejects.toThrow("ended early");
  }
});

test("whoever writes waits for the client, and is told when it goes", async () => {
  let hasGone = false;
  const stream = new EventStream({ onGone: () => (hasGone = true) });
  const response = stream.response({});
  const pieces = await stream.begin();
  let isTaken = false;
  const written = pieces.write(new Uint8Array(2 * 1024 * 1024)).then(() => (isTaken = true));
  await Promise.resolve();
  expect(isTaken).toBe(false);
  await response.body?.cancel();
  await written;
  expect(hasGone).toBe(true);
  await pieces.write(bytes("lost"));
});

const MINUTES = 60_000;

/** A connection whose client does not leave. */
const staying = (): { headers: Record<string, string>; signal: AbortSignal; primes: boolean } => ({
  headers: {},
  signal: new AbortController().signal,
  primes: false,
});

interface Kept {
  readonly stream: EventStream;
  readonly sent: EventHistory;
  /** Breaks its connection off. */
  readonly breakOff: () => Promise<void>;
  /** The data of what a client gets that comes back behind an event; the status where it gets none. */
  readonly resumed: (after: string) => Promise<readonly string[] | number | undefined>;
}

async function dataOf(response: Response): Promise<readonly string[]> {
  return [...(await response.text()).matchAll(/^data: (.*)\n\n/gm)].map(([, text = ""]) => text);
}

function kept(sent = new EventHistory(0)): Kept {
  const stream = new EventStream({ onGone: () => undefined, sent });
  const first = stream.response({});
  return {
    stream,
    sent,
    breakOff: async () => first.body?.cancel(),
    resumed: async (lastEventId) => {
      const { stream: found, after = 0 } = sent.find(lastEventId) ?? {};
      const response = found?.resume(after, staying());
      return response?.status === 200 ? dataOf(response) : response?.status;
    },
  };
}

test("whoever comes back gets what was sent meanwhile and what is sent then", async () => {
  const { stream, breakOff, resumed } = kept();
  await stream.send(bytes("1"));
  await breakOff();
  await stream.send(bytes("2"));
  const rest = resumed("1-1");
  await stream.send(bytes("3"));
  stream.end();
  expect(await rest).toEqual(["2", "3"]);
  expect([await resumed("1-2"), await resumed("1-3"), await resumed("1-4")]).toEqual([["3"], 204, undefined]);
});

test("what is sent in pieces is not kept: whoever missed some is told so once, when it is over", async () => {
  const { stream, breakOff, resumed } = kept();
  const pieces = await stream.begin();
  await pieces.write(bytes("half"));
  await breakOff();
  const back = resumed("1-0");
  await pieces.write(bytes("and more"));
  pieces.end("7");
  stream.end();
  const lost = await back;
  expect(lost).toEqual([expect.stringContaining('"id":7,"error"')]);
  expect([await resumed("1-0"), await resumed("1-1")]).toEqual([lost, 204]);
});

test("what will not be complete breaks the connection off, and the stream goes on", async () => {
  const { stream, resumed } = kept();
  const pieces = await stream.begin();
  await pieces.write(bytes("half"));
  pieces.fail();
  await stream.send(bytes("an error"));
  stream.end();
  expect(await resumed("1-0")).toEqual(["an error"]);
});

test("the oldest events of a session give way to more than 8 MiB, and streams of which nothing is left are not known", async () => {
  const sent = new EventHistory(0);
  const [one, two] = [kept(sent), kept(sent)];
  await one.breakOff();
  await one.stream.send(new Uint8Array(3 * 1024 * 1024).fill(0x31));
  one.stream.end();
  await two.breakOff();
  await two.stream.send(bytes("2"));
  await two.stream.send(new Uint8Array(6 * 1024 * 1024).fill(0x33));
  two.stream.end();
  expect(await one.resumed("1-0")).toBe(undefined);
  expect((await two.resumed("2-0")) as readonly string[]).toHaveLength(2);
});

test("what was sent is kept for five minutes", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  const { stream, breakOff, resumed } = kept();
  await breakOff();
  await stream.send(bytes("1"));
  vi.advanceTimersByTime(3 * MINUTES);
  await stream.send(bytes("2"));
  stream.end();
  expect(await resumed("1-0")).toEqual(["1", "2"]);
  vi.advanceTimersByTime(3 * MINUTES);
  expect(await resumed("1-0")).toEqual(["2"]);
  vi.advanceTimersByTime(3 * MINUTES);
  expect(await resumed("1-0")).toBe(undefined);
});

test("a call is given up whose client was away for five minutes, and is not while it comes back", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const [sent, ended, away] = [new EventHistory(0), vi.fn<(left: readonly string[]) => void>(), new AbortController()];
  const terms = {
    ids: ["1"],
    isBatch: false,
    hasStatus: false,
    lacksEnvelope: false,
    acceptsEvents: true,
    headers: {},
  };
  const exchange = new PostExchange({ ...terms, sent, primes: true, signal: away.signal, onEnd: ended });
  vi.advanceTimersByTime(1000);
  expect((await exchange.response).headers.get("content-type")).toBe("text/event-stream");
  away.abort();
  exchange.left();
  for (let times = 0; times < 3; times += 1) {
    vi.advanceTimersByTime(4 * MINUTES);
    expect([exchange.isConnected, ended.mock.calls]).toEqual([false, []]);
    const { stream, after = 0 } = sent.find("1-0") ?? {};
    const response = stream?.resume(after, staying());
    vi.advanceTimersByTime(20 * MINUTES);
    expect(exchange.isConnected).toBe(true);
    await response?.body?.cancel();
  }
  vi.advanceTimersByTime(6 * MINUTES);
  expect(ended.mock.calls).toEqual([[["1"]]]);
  expect(sent.find("1-0")).toBe(undefined);
});
