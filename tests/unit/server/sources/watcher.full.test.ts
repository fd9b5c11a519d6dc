import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { memoryState } from "../../../../web/src/serve.js";
import { Announcer, sessionChannel } from "../../../../web/src/server/sessions/announcer.js";
import { Watching } from "../../../../web/src/server/sources/watcher.js";
import type { ServedSession } from "../../../../web/src/server/session.js";
import { ToolNode, type ToolNodeEvent } from "../../../../web/src/tools-node.js";
import { program } from "./serving.js";

const WATCHED = "test://watched-resource";
const IT = { namespace: "lab", uri: WATCHED };

class WatchedSource {
  readonly state = memoryState();
  readonly errors: unknown[] = [];
  readonly watching: Watching;
  readonly node: ToolNode;
  readonly #over = new AbortController();

  constructor(look = 100, linger = 50) {
    const onEvent = (event: ToolNodeEvent): void => this.watching.take(event, null);
    this.node = new ToolNode(program("lab"), { store: new MemoryArtifactStore(), onEvent });
    const report = (error: unknown): void => void this.errors.push(error);
    this.watching = new Watching({
      get: async (name) => {
        if (name !== "lab") throw new Error(`no ${name}`);
        await this.node.connect();
        return this.node;
      },
      report,
      register: this.state.sessions,
      events: this.state.events,
      announcer: new Announcer(this.state.events, report),
      over: this.#over.signal,
      look,
      linger,
    });
    onTestFinished(async () => {
      await this.watching[Symbol.asyncDispose]();
      await this.node.close();
    });
  }

  async begun(id: string, user_id = "ada"): Promise<ServedSession> {
    const session = { id, identity: { user_id }, begun_at: Date.now(), expires_at: Date.now() + 60_000 };
    await this.state.sessions.begin(session);
    return session;
  }

  /** What a session was told so far. */
  async told(id: string): Promise<readonly unknown[]> {
    const told: unknown[] = [];
    const signal = AbortSignal.timeout(20);
    for await (const { event } of this.state.events.follow(sessionChannel(id), { after: null, signal }))
      told.push(event);
    return told;
  }

  /** Changes the resource until the session is told of it; false where it is not within 20 s. */
  async tells(id: string): Promise<boolean> {
    const before = (await this.told(id)).length;
    for (const until = performance.now() + 20_000; performance.now() < until;) {
      await this.node.call("touch").catch(() => undefined);
      if ((await this.told(id)).length > before) return true;
    }
    return false;
  }

  close(): void {
    this.#over.abort();
  }
}

test("what stands in the register is watched as long as somebody listens", async () => {
  const source = new WatchedSource();
  const session = await source.begun("s1");
  await source.state.sessions.subscribe("s1", IT);
  const [first, second] = [source.watching.watch(session, false), source.watching.watch(session, false)];
  expect(await source.tells("s1")).toBe(true);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(await source.tells("s1")).toBe(true);
  second[Symbol.dispose]();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const told = await source.told("s1");
  await source.node.call("touch");
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await source.told("s1")).toEqual(told);
});

test("who comes back at once was watched for all the time, and is told nothing twice", async () => {
  const source = new WatchedSource(100, 20_000);
  const session = await source.begun("s1");
  await source.state.sessions.subscribe("s1", IT);
  source.watching.watch(session, false)[Symbol.dispose]();
  expect(await source.tells("s1")).toBe(true);
  const told = await source.told("s1");
  source.watching.watch(session, true);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await source.told("s1")).toEqual(told);
});

test("a source that died is started again, and asked for all that is watched", async () => {
  const source = new WatchedSource();
  const session = await source.begun("s1");
  await source.state.sessions.subscribe("s1", IT);
  source.watching.watch(session, false);
  expect(await source.tells("s1")).toBe(true);
  await source.node.call("crash").catch(() => undefined);
  expect(await source.tells("s1")).toBe(true);
});

test("a source that cannot be had is reported once, and holds up no other", async () => {
  const source = new WatchedSource();
  const session = await source.begun("s1");
  await source.state.sessions.subscribe("s1", { namespace: "gone", uri: "a:b" });
  await source.state.sessions.subscribe("s1", IT);
  source.watching.watch(session, false);
  expect(await source.tells("s1")).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(source.errors.map(String)).toEqual(["Error: no gone"]);
});

/** Two users who subscribed and listen. */
async function watchedBy(): Promise<WatchedSource> {
  const source = new WatchedSource();
  for (const [id, user] of [
    ["s1", "ada"],
    ["s2", "bob"],
  ] as const) {
    const session = await source.begun(id, user);
    await source.state.sessions.subscribe(id, IT);
    source.watching.watch(session, false);
    await source.tells(id);
  }
  return source;
}

const updated = (uri: string): ToolNodeEvent => ({
  kind: "resource",
  event: { kind: "updated", namespace: "lab", uri },
});
const changed: ToolNodeEvent = { kind: "resource", event: { kind: "list_changed", namespace: "lab" } };

describe("who is told", () => {
  test("of a source that all share, everybody who subscribed, and everybody who listens", async () => {
    const source = await watchedBy();
    source.watching.take(updated("test://other"), null);
    const before = await Promise.all(["s1", "s2"].map((id) => source.told(id)));
    source.watching.take(changed, null);
    const news = { kind: "resources_changed", namespace: "lab" };
    expect(await Promise.all(["s1", "s2"].map((id) => source.told(id)))).toEqual(before.map((told) => [...told, news]));
  });

  test("of one user's connection, that user alone", async () => {
    const source = await watchedBy();
    const before = await source.told("s2");
    for (const event of [changed, updated(WATCHED)]) source.watching.take(event, JSON.stringify([null, "ada"]));
    expect((await source.told("s1")).slice(-2)).toEqual([
      { kind: "resources_changed", namespace: "lab" },
      { kind: "resource_updated", namespace: "lab", uri: WATCHED },
    ]);
    expect(await source.told("s2")).toEqual(before);
  });

  test("no client, once the server is closed", async () => {
    const source = await watchedBy();
    source.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = await source.told("s1");
    source.watching.take(changed, null);
    expect(await source.told("s1")).toEqual(before);
  });
});
