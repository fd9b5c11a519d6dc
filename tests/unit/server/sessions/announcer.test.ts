import { expect, test } from "vitest";
import { MemoryArtifactStore, RetainingArtifactStore } from "../../../../web/src/index.js";
import { memoryState } from "../../../../web/src/serve.js";
import {
  announced,
  Announcer,
  sessionChannel,
  type AnnouncingDeps,
} from "../../../../web/src/server/sessions/announcer.js";
import { scopeOf, type ServedSession } from "../../../../web/src/server/sessions/session.js";

const SESSION: ServedSession = {
  id: "s1",
  identity: { user_id: "ada" },
  begun_at: Date.now(),
  expires_at: Date.now() + 60_000,
};

function desk(): AnnouncingDeps {
  const state = memoryState();
  const store = new RetainingArtifactStore(new MemoryArtifactStore());
  return { state, store, announcer: new Announcer(state.events, () => undefined) };
}

async function told({ state }: AnnouncingDeps): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  const signal = AbortSignal.timeout(50);
  for await (const { event } of state.events.follow(sessionChannel("s1"), { after: null, signal })) all.push(event);
  return all;
}

test("what is stored for a session is told to it; what became the user's file is told as such", async () => {
  const terms = desk();
  await terms.state.sessions.begin(SESSION);
  const { scope: _, ...ref } = await terms.store.putText("hello", { scope: scopeOf(SESSION, "r1") });
  const file = await terms.store.putText("a file", { scope: { user_id: "ada" } });
  expect(await announced(terms, SESSION, [{ ...ref, scope: scopeOf(SESSION, "r1") }, file])).toBe(true);
  expect(await told(terms)).toEqual([
    { kind: "artifact_stored", artifact: ref, trace: "r1" },
    { kind: "files_changed" },
  ]);
});

test("what was not stored is not told", async () => {
  const terms = desk();
  await terms.state.sessions.begin(SESSION);
  const ref = await terms.store.putText("hello", { scope: scopeOf(SESSION) });
  expect(await announced(terms, SESSION, [{ ...ref, source: { truncated: true } }])).toBe(true);
  expect(await told(terms)).toEqual([]);
});

test("of a session that is over nothing is kept, but the user's files are", async () => {
  const terms = desk();
  await terms.state.sessions.begin(SESSION);
  await terms.state.sessions.end("s1");
  const ref = await terms.store.putText("hello", { scope: scopeOf(SESSION, "r1") });
  const file = await terms.store.putText("a file", { scope: { user_id: "ada" } });
  expect(await announced(terms, SESSION, [ref, file])).toBe(false);
  expect(await terms.store.exists(ref.id, ref.scope)).toBe(false);
  expect(await terms.store.exists(file.id, file.scope)).toBe(true);
  expect(await told(terms)).toEqual([]);
});
