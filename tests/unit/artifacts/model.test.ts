/** Random operations in random scopes, held against a model that is nothing but a list. */
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { listed } from "./bytes.js";
import { holds, step, type Step } from "./contract/model.js";
import { amount } from "../../support/full.js";
import { emptyFolder } from "../../support/folder.js";

test("the memory store does what the model does", async () => {
  expect.hasAssertions();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) => holds(new MemoryArtifactStore(), steps)),
    { numRuns: 100 },
  );
});

test("the file store does what the model does, also when two objects share a folder", async () => {
  const root = await emptyFolder();
  let run = 0;
  const check = async (steps: readonly Step[]): Promise<void> => {
    const folder = join(root, String(run++));
    await holds(new FileArtifactStore(folder), steps.slice(0, steps.length / 2));
    for (const ref of await listed(new FileArtifactStore(folder).list())) {
      expect(await new FileArtifactStore(folder).delete(ref.id, ref.scope)).toBe(true);
    }
    await holds(new FileArtifactStore(folder), steps);
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), check), { numRuns: amount(15, 40) });
});
