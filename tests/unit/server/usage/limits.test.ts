import { describe, expect, onTestFinished, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { memoryState, type SluiceServerOptions } from "../../../../web/src/serve.js";
import { noise } from "../../artifacts/bytes.js";
import { asked, calling, chatting, doing, gate, kinds, SECRET } from "../chat/chatting.js";
import { CHANGING, program, served, visitor, type Serving } from "../sources/serving.js";
import { Telling } from "../sources/told.js";
import { refused, type Visitor } from "../visitor.js";

// What one user may have over all sessions.

type Use = Readonly<Record<string, { readonly used: number; readonly limit: number; readonly resets_at?: number }>>;

const useOf = async (by: Visitor): Promise<Use> => (await by.json<{ limits: Use }>("/usage")).limits;

function limited(
  userLimits: NonNullable<SluiceServerOptions["userLimits"]>,
  more: Partial<SluiceServerOptions> = {},
): Serving {
  return served({ userLimits, filesStore: new MemoryArtifactStore(), ...more });
}

const putFile = (by: Visitor, filename: string, bytes: number): Promise<Response> =>
  by.ask(`/files?filename=${filename}`, { method: "POST", body: noise(bytes, bytes) });
const putArtifact = (by: Visitor, bytes: number, seed = bytes): Promise<Response> =>
  by.ask("/artifacts", { method: "POST", body: noise(bytes, seed) });
const message = async (response: Response): Promise<string> =>
  ((await response.json()) as { error: { message: string } }).error.message;

test("nothing is limited or told where no limit is set", async () => {
  const by = await visitor(served({}));
  const answer = await by.ask("/usage");
  expect([answer.status, await answer.json(), answer.headers.get("ratelimit")]).toEqual([200, { limits: {} }, null]);
});

describe("sessions", () => {
  test("are as many as a user may have; one that ends makes room, and another user is not affected", async () => {
    const serving = limited({ sessions: 2 });
    const [one, two] = [await visitor(serving), await visitor(serving)];
    await expect(visitor(serving)).rejects.toThrow(
      /429 .*E_RATE_LIMIT.*You have 2 of 2 living sessions: end one with DELETE sessions\/current/,
    );
    expect(await useOf(two)).toEqual({ sessions: { used: 2, limit: 2 } });
    expect(await useOf(await visitor(serving, "eve"))).toEqual({ sessions: { used: 1, limit: 2 } });
    await one.end();
    await visitor(serving);
  });
});

describe("artifacts", () => {
  test("have as many bytes as a user may have, over all sessions, and what is deleted gives its bytes back", async () => {
    const serving = limited({ artifactBytes: 10_000 });
    const [one, two] = [await visitor(serving), await visitor(serving)];
    expect((await putArtifact(one, 6000)).status).toBe(201);
    const over = await putArtifact(two, 6001);
    expect(over.status).toBe(507);
    expect(await over.json()).toEqual({
      error: {
        code: "E_STORE_FULL",
        message:
          "You have 6,000 of 10,000 bytes of artifacts: store less, delete artifacts, or end sessions that are no longer needed.",
      },
    });
    expect((await putArtifact(two, 4000)).status).toBe(201);
    for (const by of [one, two]) expect(await useOf(by)).toEqual({ artifact_bytes: { used: 10_000, limit: 10_000 } });
    expect((await putArtifact(await visitor(serving, "eve"), 6000)).status).toBe(201);
    await one.end();
    expect(await useOf(two)).toEqual({ artifact_bytes: { used: 4000, limit: 10_000 } });
    expect((await putArtifact(two, 6000)).status).toBe(201);
    expect(serving.errors).toEqual([]);
  });

  test("that expire or are evicted give their bytes back", async () => {
    let now = Date.now();
    const store = new MemoryArtifactStore({ clock: () => now });
    const by = await visitor(
      limited({ artifactBytes: 10_000 }, { store, retention: { max_session_bytes: 8000, min_age_seconds: 0 } }),
    );
    await putArtifact(by, 6000);
    now += 10;
    // Too much for the session: the first makes room.
    expect((await putArtifact(by, 4000)).status).toBe(201);
    expect((await useOf(by))["artifact_bytes"]?.used).toBe(4000);
  });

  test("a result that has no room is told to be left out, and the rest of the answer is there", async () => {
    const serving = limited({ artifactBytes: 4000 }, { sources: [program("own", CHANGING)] });
    const by = await visitor(serving);
    const call = async () => {
      const init = { method: "POST", headers: { "content-type": "application/json", accept: "application/json" } };
      return by.json<{ observation: string; artifacts: { source: { truncated?: boolean } }[]; is_error: boolean }>(
        "/tools/own.pdf",
        { ...init, body: '{"args":{}}' },
      );
    };
    expect((await call()).artifacts[0]?.source.truncated).toBeUndefined();
    await putArtifact(by, 900);
    const { observation, artifacts, is_error } = await call();
    expect(artifacts[0]?.source.truncated).toBe(true);
    expect(observation).toContain("You have 3,909 of 4,000 bytes of artifacts");
    expect(is_error).toBe(false);
    expect((await useOf(by))["artifact_bytes"]?.used).toBe(3909);
  });
});

describe("files", () => {
  test("are as many, and have as many bytes with all versions, as a user may have", async () => {
    const serving = limited({ files: 2, fileBytes: 10_000 });
    const [one, two] = [await visitor(serving), await visitor(serving)];
    expect((await putFile(one, "a.bin", 3000)).status).toBe(201);
    expect((await putFile(two, "b.bin", 2000)).status).toBe(201);
    const third = await putFile(one, "c.bin", 1);
    expect([third.status, await message(third)]).toEqual([507, "You have 2 of 2 files: delete files."]);
    // A version is no further file, and its bytes are the user's.
    expect((await putFile(two, "a.bin", 4000)).status).toBe(201);
    expect(await refused(await putFile(one, "b.bin", 1001))).toEqual([507, "E_STORE_FULL"]);
    expect(await useOf(one)).toEqual({
      file_bytes: { used: 9000, limit: 10_000 },
      files: { used: 2, limit: 2 },
    });
    const { files } = await one.json<{ files: { id: string; name: string }[] }>("/files");
    expect(files.map(({ name }) => name)).toEqual(["a.bin", "b.bin"]);
    await one.ask(`/files/${files[0]?.id}`, { method: "DELETE" });
    expect((await putFile(one, "c.bin", 8000)).status).toBe(201);
    expect((await putFile(await visitor(serving, "eve"), "c.bin", 8000)).status).toBe(201);
  });

  test("that do not outlive sessions are those of all of the user's sessions", async () => {
    const serving = limited({ files: 2 }, { files: { persist_files_across_sessions: false } });
    const [one, two] = [await visitor(serving), await visitor(serving)];
    for (const by of [one, two]) expect((await putFile(by, "a.bin", 10)).status).toBe(201);
    // The same name in another session is the same file to the count of names.
    expect((await useOf(one))["files"]?.used).toBe(1);
    expect((await putFile(one, "b.bin", 10)).status).toBe(201);
    expect((await putFile(two, "c.bin", 10)).status).toBe(507);
    await one.end();
    expect((await putFile(two, "c.bin", 10)).status).toBe(201);
  });

  test("in two stores, by their size, count together", async () => {
    const files = { largeStore: new MemoryArtifactStore(), base64_size_limit_mb: 0.001 };
    const by = await visitor(limited({ fileBytes: 10_000 }, { files }));
    expect([(await putFile(by, "a.bin", 500)).status, (await putFile(by, "b.bin", 5000)).status]).toEqual([201, 201]);
    expect((await useOf(by))["file_bytes"]?.used).toBe(5500);
    expect((await putFile(by, "c.bin", 5000)).status).toBe(507);
  });
});

describe("requests", () => {
  test("are as many as a user may send, and say what is left; one's own use can always be seen", async () => {
    const serving = limited({ requestsPerMinute: 4, requestsPerDay: 100 });
    const by = await visitor(serving);
    const told = [];
    for (let at = 0; at < 3; at++) told.push((await by.ask("/sources")).headers.get("ratelimit"));
    expect(told[2]).toMatch(/^"requests_per_minute";r=0;t=\d+, "requests_per_day";r=96;t=86\d\d\d$/);
    const over = await by.ask("/sources");
    expect(over.headers.get("ratelimit-policy")).toBe(
      '"requests_per_minute";q=4;w=60, "requests_per_day";q=100;w=86400',
    );
    expect(Number(over.headers.get("retry-after"))).toBeGreaterThan(50);
    expect([over.status, await message(over)]).toEqual([
      429,
      expect.stringMatching(/^You have used 4 of 4 requests in a minute: wait \d+ s until they reset\.$/),
    ]);
    // Another session of the same user is no way around it, nor is a further one.
    await expect(visitor(serving)).rejects.toThrow(/429/);
    const use = await useOf(by);
    expect(use["requests_per_minute"]).toMatchObject({ used: 4, limit: 4 });
    expect(use["requests_per_minute"]?.resets_at).toBeGreaterThan(Date.now() + 50_000);
    expect((await (await visitor(serving, "eve")).ask("/sources")).status).toBe(200);
    await by.end();
  });

  test("pass while they cannot be counted, and the operator is told", async () => {
    const state = memoryState();
    const serving = limited({ requestsPerMinute: 1, artifactBytes: 10 }, { state: { ...state, usage: away() } });
    const by = await visitor(serving);
    expect([(await by.ask("/sources")).status, (await by.ask("/sources")).status]).toEqual([200, 200]);
    expect(serving.errors.length).toBeGreaterThan(0);
    // What is a promise to others is refused.
    expect((await putArtifact(by, 5)).status).toBe(503);
    expect((await by.ask("/usage")).status).toBe(503);
  });
});

/** A register that nobody can reach. */
function away(): ReturnType<typeof memoryState>["usage"] {
  const fail = () => Promise.reject(new Error("away"));
  return { take: fail, look: fail, renew: fail, end: fail, note: fail, count: fail };
}

describe("the chat", () => {
  test("ends a run that has no tokens left with its own outcome, which says when there are more", async () => {
    const script = calling("one", "two");
    const serving = chatting(script, [doing("one", async () => "x".repeat(4000)), doing("two", async () => "2")], {
      userLimits: { tokensPerDay: 1000 },
    });
    const by = await visitor(serving);
    const { telling } = await asked(by);
    const told = await telling.rest();
    const end = told.at(-1);
    expect(end).toMatchObject({ kind: "result", outcome: "limit" });
    expect(end?.["answer"]).toMatch(
      /^You have used [\d,]+ of 1,000 tokens of the model in 24 hours: wait 24 hours until they reset\.$/,
    );
    // It is told as text too, to those who show what comes.
    expect(told.filter(({ kind }) => kind === "text").at(-1)?.["text"]).toBe(end?.["answer"]);
    // What was done is there.
    expect((end?.["trajectory"] as { steps: unknown[] } | undefined)?.steps.length).toBeGreaterThan(1);
    const next = await by.ask("/chat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"query":"Go."}',
    });
    expect([next.status, Number(next.headers.get("retry-after")) > 86_000]).toEqual([429, true]);
    const { tokens_per_day: use } = await useOf(by);
    expect(use?.used).toBeGreaterThanOrEqual(1000);
    // Another user goes on.
    const others = await (await asked(await visitor(serving, "eve"))).telling.next("model_answered");
    expect(others).not.toBeNull();
  });

  test("an abandoned turn counts what was read", async () => {
    const held = gate();
    const serving = chatting(
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 60_000).unref());
        return { text: "late" };
      },
      [held.tool],
      { userLimits: { tokensPerDay: 1_000_000 } },
    );
    const by = await visitor(serving);
    const { run, telling } = await asked(by, "x".repeat(8000));
    await by.ask(`/chat/${run}`, { method: "DELETE" });
    await telling.rest();
    await vi.waitFor(async () => expect((await useOf(by))["tokens_per_day"]?.used).toBeGreaterThan(2000));
  });

  test("has as many runs of a user as may be, over all sessions and processes", async () => {
    const held = gate();
    const state = memoryState();
    const options = { userLimits: { runs: 1 }, state, secret: SECRET };
    const one = chatting(calling("wait"), [held.tool], options);
    const other = chatting(calling("wait"), [held.tool], { ...options, store: one.store });
    const [by, beside] = [await visitor(one), await visitor(other)];
    const { telling } = await asked(by);
    await held.called(1);
    await expect(asked(beside)).rejects.toThrow(/429 .*You have 1 of 1 chat runs at the same time/);
    expect(await useOf(beside)).toEqual({ runs: { used: 1, limit: 1 } });
    held.open();
    expect(kinds(await telling.rest())).toContain("result");
    await vi.waitFor(async () => expect(await useOf(beside)).toEqual({ runs: { used: 0, limit: 1 } }));
    await asked(beside);
  });
});

describe("programs", () => {
  const own = (name: string) => program(name, CHANGING, { user_files: true });
  const pid = async (by: Visitor, source: string): Promise<Response> =>
    by.ask(`/tools/${source}.pid`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: '{"args":{}}',
    });

  test("of a user's own are as many as may be, and end with the user's last session", async () => {
    const serving = limited({ programs: 1 }, { sources: [own("a"), own("b"), program("shared", CHANGING)] });
    const by = await visitor(serving);
    expect([(await pid(by, "a")).status, (await pid(by, "shared")).status]).toEqual([200, 200]);
    const over = await pid(by, "b");
    expect([over.status, await message(over)]).toEqual([
      429,
      "You have 1 of 1 running programs: end your other sessions, or wait until one has been idle for a while.",
    ]);
    expect(await useOf(by)).toEqual({ programs: { used: 1, limit: 1 } });
    // It is no failure of the source, which is tried again at once.
    const eve = await visitor(serving, "eve");
    expect((await pid(eve, "b")).status).toBe(200);
    await by.end();
    const again = await visitor(serving);
    await vi.waitFor(async () => expect(await useOf(again)).toEqual({ programs: { used: 0, limit: 1 } }));
    expect((await pid(again, "b")).status).toBe(200);
  });
});

describe("events", () => {
  /** What a session is told of limits until the first kind that is named. */
  async function hears(by: Visitor, until: string): Promise<readonly unknown[]> {
    await using telling = new Telling(await by.ask("/events"));
    const heard = [];
    for (;;) {
      const told = await telling.next();
      if (told === null) return heard;
      if (told.kind.startsWith("limit_")) heard.push(told);
      if (told.kind === until) return heard;
    }
  }

  test("tell all sessions of the user alone, once each, that a limit is near and is reached", async () => {
    const serving = limited({ artifactBytes: 10_000 });
    const [one, two, eve] = [await visitor(serving), await visitor(serving), await visitor(serving, "eve")];
    await putArtifact(one, 8000);
    for (const seed of [1, 2, 3]) await putArtifact(one, 100, seed);
    for (const seed of [1, 2]) expect((await putArtifact(two, 5000, seed)).status).toBe(507);
    const near = { kind: "limit_near", limit: "artifact_bytes", used: 8000, most: 10_000 };
    const reached = { kind: "limit_reached", limit: "artifact_bytes", used: 8300, most: 10_000 };
    expect(await hears(one, "limit_reached")).toEqual([near, reached]);
    expect(await hears(two, "limit_reached")).toEqual([near, reached]);
    const [ended] = await Promise.all([hears(eve, "session_ended"), eve.end()]);
    expect(ended).toEqual([]);
    // Refused again, which was told already.
    const [rest] = await Promise.all([hears(two, "session_ended"), two.end()]);
    expect(rest).toHaveLength(2);
  });

  test("say when a count resets", async () => {
    const serving = limited({ requestsPerDay: 5 });
    const by = await visitor(serving);
    const heard = hears(by, "limit_reached");
    for (let at = 0; at < 5; at++) await by.ask("/sources");
    expect(await heard).toEqual([
      { kind: "limit_near", limit: "requests_per_day", used: 4, most: 5, resets_at: expect.any(Number) },
      { kind: "limit_reached", limit: "requests_per_day", used: 5, most: 5, resets_at: expect.any(Number) },
    ]);
  });
});

test.each([
  [{ userLimits: { sessions: 0 } }, "userLimits.sessions"],
  [{ userLimits: { sessions: 1.5 } }, "userLimits.sessions"],
  [{ userLimits: { artifactBytes: -1 } }, "userLimits.artifactBytes"],
  [{ userLimits: { artifactBytes: Infinity } }, "userLimits.artifactBytes"],
  [{ userLimits: { byts: 1 } }, "userLimits.byts"],
])("%j is refused", (options, path) => {
  let failure: unknown;
  try {
    served(options as Partial<SluiceServerOptions>);
  } catch (error) {
    failure = error;
  }
  expect(failure).toMatchObject({ code: "E_INVALID_ARGUMENT", path });
});

test("what is held is given back when a server is disposed of", async () => {
  const state = memoryState();
  const held = gate();
  const serving = chatting(calling("wait"), [held.tool], { userLimits: { runs: 1 }, state });
  const by = await visitor(serving);
  await asked(by);
  await held.called(1);
  await serving.server[Symbol.asyncDispose]();
  const other = chatting(calling("wait"), [held.tool], { userLimits: { runs: 1 }, state });
  onTestFinished(() => held.open());
  expect((await asked(await visitor(other))).run).not.toBe("");
});
