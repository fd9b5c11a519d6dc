/** What is stored of a result is its user's once the result is whole. */
import { expect, test } from "vitest";
import { NoOpArtifactStore } from "../../../../web/src/artifacts/no-op.js";
import type { ArtifactScope, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { createSluice } from "../../../../web/src/index.js";
import type { SourceResult } from "../../../../web/src/tools/source.js";
import { whole } from "../../../../web/src/tools/user-files/whole.js";
import { ManualClock } from "../resilience/manual.js";
import { WatchedStore } from "./timed.js";

const ALICE = { tenant_id: "acme", user_id: "alice", session_id: "s", trace_id: null };

/** A PDF inside a result. */
const RESULT = {
  content: [
    {
      type: "resource",
      resource: {
        uri: "file:///a.pdf",
        mimeType: "application/pdf",
        blob: Buffer.alloc(6000, 1).fill("%PDF-1.7\n", 0, 9).toString("base64"),
      },
    },
  ],
};

async function listed(store: ArtifactStore, scope?: ArtifactScope): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of store.list(scope)) ids.push(id);
  return ids;
}

async function setting(store: ArtifactStore) {
  const sluice = await createSluice({ store });
  const clock = new ManualClock();
  const options = { tool: "report", namespace: "lab", dialect: "mcp" as const, scope: ALICE };
  const scopes: ArtifactScope[] = [];
  /** A source that reduces a result in the scope that it is given. */
  const source = async (scope: ArtifactScope): Promise<SourceResult> => {
    scopes.push(scope);
    return { reduced: await sluice.transform(RESULT, { ...options, scope }), isError: false };
  };
  return { sluice, store, clock, options, scopes, source, terms: { sluice, store, options, clock } };
}

test("a result is made in a scope of nobody's, where its user is known all the same, and moves when it is there", async () => {
  const store = new WatchedStore();
  const { source, terms, scopes, sluice } = await setting(store);
  const { reduced } = await whole(source, terms);
  const [staged] = scopes;
  expect(staged).toMatchObject({ tenant_id: "acme", user_id: "alice" });
  expect(staged?.session_id).toMatch(/^sluice-staging-/);
  expect(reduced.artifacts).toMatchObject([{ scope: ALICE, size_bytes: 6000, source: { tool: "report" } }]);
  expect(await sluice.restore(reduced.value, { scope: ALICE })).toEqual(RESULT);
  await expect.poll(() => listed(store, staged)).toEqual([]);
});

test("of work that fails nothing stays, nor of what comes late", async () => {
  const store = new WatchedStore();
  const { source, terms, scopes, clock } = await setting(store);
  const failing = async (scope: ArtifactScope): Promise<SourceResult> => {
    await source(scope);
    throw new Error("too late");
  };
  await expect(whole(failing, terms)).rejects.toThrow("too late");
  const all = (): Promise<readonly string[]> => listed(store);
  await expect.poll(all).toEqual([]);
  await store.putText("late", { scope: scopes[0] ?? {} });
  clock.pass(2);
  await expect.poll(all).toEqual([]);
});

test("a result that stores nothing is given as it came", async () => {
  const { sluice, terms } = await setting(new WatchedStore());
  const plain = { content: [{ type: "text", text: "hello" }] };
  const result = { reduced: await sluice.transform(plain, { dialect: "mcp" }), isError: true };
  const given = await whole(async () => result, terms);
  expect(given).toEqual(result);
  expect(given.reduced).toBe(result.reduced);
});

test("where nothing is kept nothing has to move", async () => {
  const { source, terms, scopes } = await setting(new NoOpArtifactStore());
  const { reduced } = await whole(source, terms);
  expect(scopes).toEqual([ALICE]);
  expect(reduced.artifacts).toMatchObject([{ source: { truncated: true } }]);
});

test("what the store failed at is told as it was", async () => {
  class Full extends WatchedStore {
    override openWriter(): Promise<never> {
      return Promise.reject(new Error("no room"));
    }
  }
  const { source, terms } = await setting(new Full());
  const { reduced } = await whole(source, terms);
  expect(reduced.failures).toHaveLength(1);
  expect(reduced.artifacts).toMatchObject([{ source: { truncated: true } }]);
});
