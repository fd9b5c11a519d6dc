/** What is stored of a result is its user's once the result is whole. */
import { expect, test } from "vitest";
import { NoOpArtifactStore } from "../../../../web/src/artifacts/no-op.js";
import type { ArtifactScope, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { createSluice } from "../../../../web/src/index.js";
import type { SourceResult } from "../../../../web/src/tools/source.js";
import { through } from "../../../../web/src/tools/sources/body.js";
import { whole } from "../../../../web/src/tools/call-files.js";
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
    return { gated: await through(sluice, { ...options, scope }, [JSON.stringify(RESULT)]), isError: false };
  };
  const made = (work: typeof source): Promise<SourceResult> => whole(work, ALICE, store, clock);
  return { sluice, store, clock, scopes, source, made };
}

test("a result is made in a scope of nobody's, where its user is known all the same, and moves when it is there", async () => {
  const store = new WatchedStore();
  const { source, made, scopes, sluice } = await setting(store);
  const { gated } = await made(source);
  const reduced = await gated.answer({ scope: ALICE });
  await gated[Symbol.asyncDispose]();
  const [staged] = scopes;
  expect(staged).toMatchObject({ tenant_id: "acme", user_id: "alice" });
  expect(staged?.session_id).toMatch(/^sluice-staging-/);
  expect(reduced.artifacts).toMatchObject([{ scope: ALICE, size_bytes: 6000, source: { tool: "report" } }]);
  expect(await sluice.restore(reduced.value, { scope: ALICE })).toEqual(RESULT);
  await expect.poll(() => listed(store, staged)).toEqual([]);
});

test("of work that fails nothing stays, nor of what comes late", async () => {
  const store = new WatchedStore();
  const { source, made, scopes, clock } = await setting(store);
  const failing = async (scope: ArtifactScope): Promise<SourceResult> => {
    await source(scope);
    throw new Error("too late");
  };
  await expect(made(failing)).rejects.toThrow("too late");
  const all = (): Promise<readonly string[]> => listed(store);
  await expect.poll(all).toEqual([]);
  await store.putText("late", { scope: scopes[0] ?? {} });
  clock.pass(2);
  await expect.poll(all).toEqual([]);
});

test("of a result that nobody asks for nothing stays", async () => {
  const store = new WatchedStore();
  const { source, made } = await setting(store);
  const { gated } = await made(source);
  await gated[Symbol.asyncDispose]();
  expect(await listed(store)).toEqual([]);
});

test("where nothing is kept nothing has to move", async () => {
  const { source, made, scopes } = await setting(new NoOpArtifactStore());
  await using gated = (await made(source)).gated;
  const reduced = await gated.answer({ scope: ALICE });
  expect(scopes).toEqual([ALICE]);
  expect(reduced.artifacts).toMatchObject([{ source: { truncated: true } }]);
});

test("what the store failed at is told as it was", async () => {
  class Full extends WatchedStore {
    override openWriter(): Promise<never> {
      return Promise.reject(new Error("no room"));
    }
  }
  const { source, made } = await setting(new Full());
  await using gated = (await made(source)).gated;
  const reduced = await gated.answer({ scope: ALICE });
  expect(reduced.failures).toHaveLength(1);
  expect(reduced.artifacts).toMatchObject([{ source: { truncated: true } }]);
});
