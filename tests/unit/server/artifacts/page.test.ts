import * as fc from "fast-check";
import { expect, test } from "vitest";
import { artifactPage } from "../../../../web/src/server/artifacts/page.js";
import { MemoryArtifactStore, type ArtifactRef } from "../../../../web/src/index.js";

// Pages of a listing.

const session = (trace_id: string | null) => ({ user_id: "ada", session_id: "s", trace_id });

async function paged(
  store: MemoryArtifactStore,
  traces: readonly (string | null)[],
  limit: number,
): Promise<string[][]> {
  const pages: string[][] = [];
  const scopes = traces.map(session);
  for (let after: string | undefined; ;) {
    const page = await artifactPage(store, { scopes, limit, ...(after !== undefined && { after }) });
    pages.push(page.artifacts.map(({ id, scope }) => `${scope.trace_id} ${id}`));
    after = page.next;
    if (after === undefined) return pages;
  }
}

test("pages together are the whole, each as long as it may be, whatever the limit", async () => {
  const drawn = fc.record({
    stored: fc.array(fc.record({ text: fc.string(), trace: fc.constantFrom(null, "a", "b") }), { maxLength: 40 }),
    limit: fc.integer({ min: 1, max: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(drawn, async ({ stored, limit }) => {
      // Many have the same time.
      let now = 1_000_000;
      const store = new MemoryArtifactStore({ clock: () => (now += 0.4) });
      const refs: ArtifactRef[] = [];
      for (const { text, trace } of stored) refs.push(await store.putText(text, { scope: session(trace) }));
      const pages = await paged(store, [null, "a", "b"], limit);
      const expected = new Set(refs.map(({ id, scope }) => `${scope.trace_id} ${id}`));
      expect(pages.flat().toSorted()).toEqual([...expected].toSorted());
      for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit);
    }),
  );
});

test("what goes between two pages takes nothing else with it, and what comes is on a later one", async () => {
  let now = 1_000_000;
  const store = new MemoryArtifactStore({ clock: () => (now += 10) });
  const refs: ArtifactRef[] = [];
  for (const text of ["a", "b", "c", "d"]) refs.push(await store.putText(text, { scope: session(null) }));
  const scopes = [session(null)];
  const first = await artifactPage(store, { scopes, limit: 2 });
  await store.delete(refs[1]?.id ?? "", session(null));
  const late = await store.putText("e", { scope: session(null) });
  const second = await artifactPage(store, { scopes, limit: 9, after: first.next ?? "" });
  expect(second.artifacts.map(({ id }) => id)).toEqual([refs[2]?.id, refs[3]?.id, late.id]);
  expect(second.next).toBeUndefined();
});

test("a page of long records ends early", async () => {
  const store = new MemoryArtifactStore({ retention: null });
  const source = { note: "x".repeat(1_000_000) };
  for (let number = 0; number < 9; number++) await store.putText(`${number}`, { scope: session(null), source });
  const lengths = (await paged(store, [null], 500)).map(({ length }) => length);
  expect(lengths).toEqual([4, 4, 1]);
});
