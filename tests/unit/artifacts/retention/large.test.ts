/** A store of which reading takes long: nobody waits for that, and nothing is forgotten that happens meanwhile. */
import * as fc from "fast-check";
import { beforeEach, expect, test, vi } from "vitest";
import { BareMemoryStore } from "../../../../web/src/artifacts/memory.js";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import type { ArtifactRef, ArtifactScope, StoredArtifact } from "../../../../web/src/artifacts/store.js";
import { listed } from "../bytes.js";
import { amount } from "../../../support/full.js";

const MANY = 500;
let now: number;

/** Its list comes, as it was when it was asked for, when a test says so. */
class Slow extends BareMemoryStore {
  isSlow = false;
  reads = 0;
  go: () => void = () => undefined;

  override async *list(scope?: ArtifactScope): AsyncIterable<StoredArtifact> {
    const all = await listedOf(super.list(scope));
    if (scope === undefined) this.reads += 1;
    if (scope === undefined && this.isSlow) {
      await new Promise<void>((resolve) => {
        this.go = resolve;
      });
    }
    yield* all;
  }
}

async function listedOf(all: AsyncIterable<StoredArtifact>): Promise<StoredArtifact[]> {
  const found: StoredArtifact[] = [];
  for await (const each of all) found.push(each);
  return found;
}

beforeEach(() => {
  now = 1_000_000;
});

const clock = (): number => now;

/** A store with many artifacts of others, all of it known, and the clock a minute and more later. */
async function filled(max: number): Promise<{ readonly slow: Slow; readonly store: RetainingArtifactStore }> {
  const slow = new Slow({ clock });
  for (let at = 0; at < MANY; at++) await slow.putText(`${at}`, { scope: { session_id: `other ${at}` } });
  const limits = { ttl_seconds: null, max_artifacts_per_session: max };
  const store = new RetainingArtifactStore(slow, limits, { clock });
  await store.putText("first", { scope: { session_id: "first" } });
  now += 10_000_000;
  slow.isSlow = true;
  return { slow, store };
}

test("nobody waits for it to be read, and it is read once at a time", async () => {
  const { slow, store } = await filled(1000);
  for (let at = 0; at < 20; at++) await store.putText(`new ${at}`, { scope: { session_id: "mine" } });
  await vi.waitFor(() => expect(slow.reads).toBe(2));
  slow.go();
  slow.isSlow = false;
  await store.putText("more", { scope: { session_id: "mine" } });
  expect(slow.reads).toBe(2);
});

test("what others did is known when it has been read", async () => {
  const { slow, store } = await filled(3);
  const scope = { session_id: "shared" };
  const theirs: ArtifactRef[] = [];
  for (let at = 0; at < 3; at++) theirs.push(await slow.putText(`theirs ${at}`, { scope }));
  now += 1000;
  await store.putText("mine", { scope });
  await vi.waitFor(() => expect(slow.reads).toBe(2));
  slow.go();
  slow.isSlow = false;
  now += 1000;
  await vi.waitFor(async () => {
    await store.putText("again", { scope });
    expect((await listed(store.list(scope))).length).toBe(3);
  });
  expect(await store.exists(theirs[0]?.id ?? "", scope)).toBe(false);
});

test("limits hold to the artifact, whatever is stored, deleted and evicted while it is read", async () => {
  const { slow, store } = await filled(4);
  const step = fc.record({
    act: fc.constantFrom("put", "put", "put", "delete", "read", "go"),
    number: fc.nat(12),
    session: fc.nat(2),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const scopes = [0, 1, 2].map(() => ({ session_id: crypto.randomUUID() }));
      const ids = new Map<string, string>();
      slow.isSlow = true;
      for (const { act, number, session } of steps) {
        now += 10;
        const scope = scopes[session] ?? {};
        const key = `${session} ${number}`;
        if (act === "put") ids.set(key, (await store.putText(key, { scope })).id);
        else if (act === "delete") await store.delete(ids.get(key) ?? "", scope);
        else if (act === "read") now += 10_000_000;
        else slow.go();
        for (const each of scopes) expect((await listed(store.list(each))).length).toBeLessThanOrEqual(4);
      }
      slow.isSlow = false;
      slow.go();
      // What is known is what is there: one more is let in, and one goes only where there were four.
      for (const scope of scopes) {
        const before = (await listed(store.list(scope))).length;
        const ref = await store.putText("last", { scope });
        expect((await listed(store.list(scope))).length).toBe(Math.min(4, before + 1));
        await store.delete(ref.id, scope);
      }
    }),
    { numRuns: amount(8, 25) },
  );
}, 120_000);

test("a collection lets others store meanwhile, and takes what has expired, however much that is", async () => {
  const slow = new Slow({ clock });
  for (let at = 0; at < MANY; at++) await slow.putText(`${at}`);
  const store = new RetainingArtifactStore(slow, { ttl_seconds: 10 }, { clock });
  await store.putText("known");
  now += 20_000;
  slow.isSlow = true;
  const collecting = store.collect();
  const { id } = await store.putText("meanwhile");
  await vi.waitFor(() => expect(slow.reads).toBe(2));
  slow.go();
  const second = store.collect();
  expect((await collecting)?.artifacts).toBeGreaterThan(MANY - 300);
  slow.isSlow = false;
  slow.go();
  await second;
  expect((await listed(slow.list())).map((ref) => ref.id)).toEqual([id]);
});
