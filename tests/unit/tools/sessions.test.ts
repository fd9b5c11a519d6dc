import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { userKey } from "../../../web/src/tools/auth/token-store.js";
import { wasClosed } from "../../../web/src/tools/errors.js";
import { OutOfTime } from "../../../web/src/tools/resilience/attempt.js";
import { Sessions } from "../../../web/src/tools/sessions.js";
import type { Authorize, SourceConnection, ToolSource } from "../../../web/src/tools/source.js";

/** A source of connections that can be cut. */
class Line {
  opened = 0;
  closed = 0;
  readonly authorized: string[] = [];
  readonly connections: { isOpen: boolean }[] = [];
  fails = 0;
  /** Opening waits for it. */
  held: Promise<unknown> = Promise.resolve();

  get source(): ToolSource {
    return {
      open: async ({ authorize }) => {
        this.opened += 1;
        await this.held;
        if (this.fails > 0) {
          this.fails -= 1;
          throw new Error("refused");
        }
        this.authorized.push((await authorize())["Authorization"] ?? "nobody");
        const state = { isOpen: true };
        this.connections.push(state);
        return this.#connection(state);
      },
    };
  }

  #connection(state: { isOpen: boolean }): SourceConnection {
    return {
      get isOpen() {
        return state.isOpen;
      },
      tools: async () => [],
      call: () => Promise.reject(new Error("not called")),
      resources: undefined,
      [Symbol.asyncDispose]: async () => {
        state.isOpen = false;
        this.closed += 1;
      },
    };
  }
}

const as =
  (name: string): Authorize =>
  async () => ({ Authorization: name });

const never = new AbortController().signal;

function sessions(line: Line, isPerUser: boolean = false, over: AbortSignal = never): Sessions {
  return new Sessions({
    name: "line",
    source: line.source,
    keyOf: isPerUser ? userKey : undefined,
    timeoutSeconds: 5,
    over,
    onNotice: () => undefined,
  });
}

const whole = async (connection: SourceConnection): Promise<SourceConnection> => connection;

test("one connection serves all, also those who come while it is opened", async () => {
  const line = new Line();
  await using all = sessions(line);
  const got = await Promise.all([1, 2, 3].map(() => all.use({}, as("a"), never, whole)));
  expect(new Set(got).size).toBe(1);
  expect(line.opened).toBe(1);
});

test("one that was lost is opened again, once for all who wait", async () => {
  const line = new Line();
  await using all = sessions(line);
  await all.use({}, as("a"), never, whole);
  (line.connections[0] as { isOpen: boolean }).isOpen = false;
  await Promise.all([1, 2, 3].map(() => all.use({}, as("a"), never, whole)));
  expect([line.opened, line.closed]).toEqual([2, 1]);
});

test("one that could not be opened is told of to all who wait, and tried again by the next", async () => {
  const line = new Line();
  line.fails = 1;
  await using all = sessions(line);
  const outcomes = await Promise.allSettled([1, 2].map(() => all.use({}, as("a"), never, whole)));
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await all.use({}, as("a"), never, whole);
  expect(line.opened).toBe(2);
});

test("callers that come while it cannot be opened open it again, once for all of them", async () => {
  const line = new Line();
  line.fails = 1;
  const held = new AbortController();
  line.held = once(held.signal, "abort");
  await using all = sessions(line);
  const first = all.use({}, as("a"), never, whole).catch((error: unknown) => error);
  await vi.waitFor(() => expect(line.opened).toBe(1), 20_000);
  const both = [1, 2].map(() => all.use({}, as("a"), never, whole));
  held.abort();
  const later = await Promise.all(both);
  expect(await first).toMatchObject({ message: "refused" });
  expect(new Set(later).size).toBe(1);
  expect(line.opened).toBe(2);
});

test("a caller that waits while it is closed opens nothing any more", async () => {
  const line = new Line();
  line.fails = 1;
  const held = new AbortController();
  line.held = once(held.signal, "abort");
  const over = new AbortController();
  const all = sessions(line, false, over.signal);
  const first = all.use({}, as("a"), never, whole).catch((error: unknown) => error);
  await vi.waitFor(() => expect(line.opened).toBe(1), 20_000);
  const later = all.use({}, as("a"), never, whole).catch((error: unknown) => error);
  over.abort(wasClosed("s"));
  const closed = all[Symbol.asyncDispose]();
  held.abort();
  await closed;
  expect(String(await later)).toContain("closed: connect it again");
  expect(String(await first)).toContain("closed: connect it again");
  expect(line.opened).toBe(1);
});

test("users whose tokens are their own never share, whatever session or run they are in", async () => {
  const line = new Line();
  await using all = sessions(line, true);
  for (const [user, session] of [
    ["ada", "1"],
    ["ada", "2"],
    ["bob", "1"],
  ] as const) {
    await all.use({ scope: { user_id: user, session_id: session } }, as(user), never, whole);
  }
  await all.use({ scope: { tenant_id: "other", user_id: "ada" } }, as("other ada"), never, whole);
  expect(line.authorized).toEqual(["ada", "bob", "other ada"]);
});

test("what a user's own connection tells names the user, and nobody where all share one", async () => {
  const notice = { kind: "resource_updated", uri: "x:y" } as const;
  const line = new Line();
  const source: ToolSource = {
    open: async (options) => {
      const connection = await line.source.open(options);
      options.onNotice(notice);
      return connection;
    },
  };
  const onNotice = vi.fn<(...told: readonly unknown[]) => void>();
  for (const keyOf of [userKey, undefined]) {
    await using some = new Sessions({ name: "line", source, keyOf, timeoutSeconds: 5, over: never, onNotice });
    await some.use({ scope: { tenant_id: "acme", user_id: "ada", trace_id: "t" } }, as("a"), never, whole);
  }
  expect(onNotice.mock.calls).toEqual([
    [notice, { tenant_id: "acme", user_id: "ada" }],
    [notice, undefined],
  ]);
});

test("a caller that gives up while it is opened leaves the others waiting", async () => {
  const line = new Line();
  await using all = sessions(line);
  const giving = new AbortController();
  const gone = all.use({}, as("a"), giving.signal, whole);
  const stays = all.use({}, as("a"), never, whole);
  giving.abort(new Error("enough"));
  await expect(gone).rejects.toThrow("enough");
  expect((await stays).isOpen).toBe(true);
});

test("of very many users those who call keep their connections", async () => {
  const line = new Line();
  await using all = sessions(line, true);
  const finished = new AbortController();
  const busy = all.use({ scope: { user_id: "busy" } }, as("busy"), never, async (connection) => {
    await new Promise((resolve) => finished.signal.addEventListener("abort", resolve));
    return connection.isOpen;
  });
  for (let user = 0; user < 300; user += 1) {
    await all.use({ scope: { user_id: String(user) } }, as(String(user)), never, whole);
  }
  finished.abort();
  expect(await busy).toBe(true);
  expect(line.closed).toBeGreaterThan(40);
});

test("opening may take as long as the call that opens is given", async () => {
  const line = new Line();
  const signals: AbortSignal[] = [];
  const source: ToolSource = {
    open: (options) => {
      signals.push(options.signal);
      return line.source.open(options);
    },
  };
  const held = new AbortController();
  line.held = once(held.signal, "abort");
  await using all = new Sessions({
    name: "line",
    source,
    keyOf: userKey,
    timeoutSeconds: 0.01,
    over: never,
    onNotice: () => {},
  });
  const less = all.use({ scope: { user_id: "ada" } }, as("ada"), never, whole);
  const more = all.use({ scope: { user_id: "bob" }, timeoutSeconds: 60 }, as("bob"), never, whole);
  await expect(less).rejects.toBeInstanceOf(OutOfTime);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  held.abort();
  expect((await more).isOpen).toBe(true);
});

test("what is closed opens nothing more", async () => {
  const line = new Line();
  const over = new AbortController();
  const all = sessions(line, false, over.signal);
  await all.use({}, as("a"), never, whole);
  over.abort(wasClosed("s"));
  await all[Symbol.asyncDispose]();
  expect(line.closed).toBe(1);
  await expect(all.use({}, as("a"), never, whole)).rejects.toThrow(/closed: connect it again/);
});

/** Programs of one source, by their numbers; none of them ever goes when it is killed. */
function programs() {
  const killed: number[] = [];
  let opened = 0;
  const open = async (): Promise<SourceConnection & { readonly number: number }> => {
    const number = (opened += 1);
    return {
      number,
      get isOpen() {
        return !killed.includes(number);
      },
      tools: async () => [],
      call: () => Promise.reject(new Error("not called")),
      resources: undefined,
      kill: () => {
        killed.push(number);
        return new Promise<void>(() => undefined);
      },
      [Symbol.asyncDispose]: () => new Promise<void>(() => undefined),
    };
  };
  return { killed, source: { open } satisfies ToolSource };
}

const numberOf = async (connection: SourceConnection): Promise<number> =>
  (connection as { number?: number }).number ?? 0;

/** A call that is given up in the middle, for this reason. */
async function givenUp(all: Sessions, user_id: string, reason: Error): Promise<void> {
  const end = new AbortController();
  const work = async (): Promise<void> => {
    end.abort(reason);
    end.signal.throwIfAborted();
  };
  await expect(all.use({ scope: { user_id } }, as(user_id), end.signal, work)).rejects.toBe(reason);
}

test.each<[string, typeof userKey | undefined, Error, readonly number[], number]>([
  [
    "a user's own program that was too slow is killed, and the next call has another at once",
    userKey,
    new OutOfTime("late", 1),
    [1],
    2,
  ],
  ["a user's own program stays where its user takes a call back", userKey, new Error("enough"), [], 1],
  ["a program that many share stays, however slow it was", undefined, new OutOfTime("late", 1), [], 1],
])("%s", async (_, keyOf, reason, killed, next) => {
  const own = programs();
  const all = new Sessions({
    name: "own",
    source: own.source,
    keyOf,
    timeoutSeconds: 5,
    over: never,
    onNotice: () => {},
  });
  await givenUp(all, "ada", reason);
  expect(own.killed).toEqual(killed);
  expect(await all.use({ scope: { user_id: "ada" } }, as("ada"), never, numberOf)).toBe(next);
});

test("opening that took too long is not waited for by the next call, and what it opens late is closed", async () => {
  const line = new Line();
  const held = new AbortController();
  line.held = once(held.signal, "abort");
  await using all = new Sessions({
    name: "slow",
    source: line.source,
    timeoutSeconds: 0.05,
    over: never,
    onNotice: () => {},
  });
  const late = all.use({}, as("a"), never, whole);
  await expect(late).rejects.toBeInstanceOf(OutOfTime);
  await expect(late).rejects.toThrow('The source "slow" showed no progress for 0.05 s');
  line.held = Promise.resolve();
  await all.use({}, as("a"), never, whole);
  expect(line.opened).toBe(2);
  held.abort();
  await vi.waitFor(() => expect(line.closed).toBe(1), 20_000);
  expect(line.connections.map(({ isOpen }) => isOpen)).toEqual([true, false]);
});

test("closing waits ten seconds for what never ends, and no longer", async () => {
  vi.useFakeTimers();
  try {
    const over = new AbortController();
    const deps = { name: "own", source: programs().source, timeoutSeconds: 5, over: over.signal, onNotice: () => {} };
    const all = new Sessions(deps);
    await all.use({}, as("a"), never, whole);
    over.abort(wasClosed("own"));
    let isClosed = false;
    const closed = all[Symbol.asyncDispose]().then(() => (isClosed = true));
    await vi.advanceTimersByTimeAsync(9_900);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    await closed;
  } finally {
    vi.useRealTimers();
  }
});
