/** Retention through HTTP: time, traces, sessions, and who makes room, while many store at once. */
import { expect, test } from "vitest";
import { MemoryArtifactStore, type RetentionConfig } from "../../../web/src/index.js";
import { SluiceServer } from "../../../web/src/serve.js";
import { noise } from "../artifacts/bytes.js";
import { refused, Visitor, type ShownArtifact } from "./visitor.js";

const KB = 1000;
const FREE = { requestsPerMinute: 100_000, concurrentRequests: 1000 };

interface Served extends AsyncDisposable {
  readonly server: SluiceServer;
  readonly pass: (milliseconds: number) => void;
}

/** A server in time that the test sets; every look at the clock is a millisecond later. */
function served(retention: RetentionConfig): Served {
  let now = 1_000_000;
  const store = new MemoryArtifactStore({ clock: () => (now += 1) });
  const server = new SluiceServer({ store, retention, limits: FREE });
  return {
    server,
    pass: (milliseconds) => void (now += milliseconds),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Contents that are all different. */
const content = (size: number, seed: number): BodyInit => noise(size, seed + 1);

const shown = async (visitor: Visitor, query = ""): Promise<readonly string[]> =>
  (await visitor.list(`?limit=500${query}`)).artifacts.map(({ id }) => id);

const sum = (artifacts: readonly ShownArtifact[]): number =>
  artifacts.reduce((all, { size_bytes }) => all + size_bytes, 0);

test("what has expired is gone, in the list and by its address, and was said to go then", async () => {
  await using one = served({ ttl_seconds: 60 });
  const ada = await Visitor.of(one.server);
  const old = await ada.upload("old");
  one.pass(40_000);
  const young = await ada.upload("young");
  const meta = await ada.json<ShownArtifact>(`/artifacts/${old.id}/meta`);
  const listed = (await ada.list()).artifacts.find(({ id }) => id === old.id);
  expect(listed?.expires_at).toBe(meta.expires_at);
  one.pass(30_000);
  expect(await refused(await ada.ask(`/artifacts/${old.id}`))).toEqual([410, "E_EXPIRED"]);
  expect(await refused(await ada.ask(`/artifacts/${old.id}/meta`))).toEqual([410, "E_EXPIRED"]);
  expect(await shown(ada)).toEqual([young.id]);
});

test("a hundred uploads at once leave no trace, and no session, with more than it may have", async () => {
  await using one = served({ max_artifacts_per_trace: 5, max_trace_bytes: 40 * KB, max_session_bytes: 100 * KB });
  const visitors = await Promise.all(Array.from({ length: 4 }, () => Visitor.of(one.server)));
  await Promise.all(
    visitors.flatMap((visitor, whose) =>
      Array.from({ length: 100 }, async (_, at) => {
        const size = 1 * KB + ((at * 7919) % (15 * KB));
        const stored = await visitor.upload(content(size, whose * 1000 + at), `?trace=${at % 4}`);
        // Read meanwhile, where it is still there.
        const got = await visitor.ask(`/artifacts/${stored.id}?trace=${at % 4}`);
        const bytes = (await got.arrayBuffer()).byteLength;
        expect(got.status === 200 ? bytes : size).toBe(size);
        expect([200, 404, 410]).toContain(got.status);
      }),
    ),
  );
  for (const visitor of visitors) {
    const { artifacts } = await visitor.list("?trace=*&limit=500");
    expect(sum(artifacts)).toBeLessThanOrEqual(100 * KB);
    for (const trace of ["0", "1", "2", "3"]) {
      const own = artifacts.filter((artifact) => artifact.trace === trace);
      expect(own.length).toBeLessThanOrEqual(5);
      expect(sum(own)).toBeLessThanOrEqual(40 * KB);
    }
    expect(artifacts.length).toBeGreaterThan(4);
    for (const { id, trace, size_bytes } of artifacts) {
      const got = await visitor.ask(`/artifacts/${id}?trace=${trace}`);
      expect([got.status, (await got.arrayBuffer()).byteLength]).toEqual([200, size_bytes]);
    }
  }
});

test.each([
  ["lru", [0, 3, 4]],
  ["fifo", [2, 3, 4]],
] as const)("by %s, what leaves is what was not asked for, or what came first", async (cleanup_strategy, stay) => {
  await using one = served({ max_artifacts_per_session: 3, cleanup_strategy });
  const ada = await Visitor.of(one.server);
  const stored: string[] = [];
  const upload = async (at: number): Promise<void> => {
    one.pass(1000);
    stored.push((await ada.upload(`number ${at}`)).id);
  };
  for (const at of [0, 1, 2]) await upload(at);
  for (const at of [3, 4]) {
    one.pass(1000);
    await (await ada.ask(`/artifacts/${stored[0]}`)).text();
    await upload(at);
  }
  expect(new Set(await shown(ada))).toEqual(new Set(stay.map((at) => stored[at])));
});

test("where nothing may leave, what comes is refused, and leaves nothing", async () => {
  await using one = served({ max_artifacts_per_session: 2, cleanup_strategy: "none" });
  const ada = await Visitor.of(one.server);
  const kept = [(await ada.upload("1")).id, (await ada.upload("2")).id];
  expect(await refused(await ada.ask("/artifacts", { method: "POST", body: "3" }))).toEqual([507, "E_STORE_FULL"]);
  expect(await shown(ada)).toEqual(kept);
});

test("one session makes no room in another", async () => {
  await using one = served({ max_session_bytes: 10 * KB });
  const [ada, bob] = [await Visitor.of(one.server), await Visitor.of(one.server)];
  const { id } = await bob.upload(content(9 * KB, 1));
  for (let at = 2; at < 30; at++) await ada.upload(content(9 * KB, at));
  expect((await bob.ask(`/artifacts/${id}`)).status).toBe(200);
  expect(await shown(ada)).toHaveLength(1);
});
