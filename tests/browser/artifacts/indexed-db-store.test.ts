import * as fc from "fast-check";
import { expect, test } from "vitest";
import { IndexedDbArtifactStore } from "mcp-sluice/browser";
import { BareIndexedDbStore } from "../../../web/src/artifacts/indexed-db/indexed-db-store.js";
import { listed } from "../../unit/artifacts/bytes.js";
import { holds, step, type Step } from "../../unit/artifacts/contract/model.js";
import { describeStore, type OpenSubject } from "../../unit/artifacts/store-contract.js";
import { contentsIn, freshName, removed, wrongIn } from "./database.js";

type Options = Parameters<OpenSubject>[0] & { readonly name: string };

/** Stores in databases of their own, which are deleted with them. */
const opener =
  (opened: (options: Options) => IndexedDbArtifactStore | BareIndexedDbStore): OpenSubject =>
  async (options = {}) => {
    const name = freshName();
    const store = opened({ name, ...options });
    return {
      store,
      contents: () => contentsIn(name),
      dispose: async () => {
        await store.close();
        await removed(name);
      },
    };
  };

describeStore(
  "IndexedDbArtifactStore",
  opener((options) => new IndexedDbArtifactStore(options)),
);
describeStore(
  "IndexedDbArtifactStore without limits and without Web Locks",
  opener((options) => new BareIndexedDbStore({ locks: null, ...options })),
);

async function sharedBy(steps: readonly Step[]): Promise<void> {
  const name = freshName();
  await using one = new IndexedDbArtifactStore({ name });
  await using two = new IndexedDbArtifactStore({ name, retention: null });
  await holds(one, steps.slice(0, steps.length / 2));
  for (const ref of await listed(two.list())) expect(await two.delete(ref.id, ref.scope)).toBe(true);
  await holds(two, steps);
  expect(await wrongIn(name)).toEqual([]);
  await Promise.all([one.close(), two.close()]);
  await removed(name);
}

test("it does what the model does, also when two objects share a database", async () => {
  expect.hasAssertions();
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), sharedBy), { numRuns: 25 });
});
