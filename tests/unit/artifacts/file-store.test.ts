import { readdir } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { RetainingArtifactStore } from "../../../web/src/artifacts/retention/retaining-store.js";
import type { ArtifactStore, Clock } from "../../../web/src/artifacts/store.js";
import { listed } from "./bytes.js";
import { holds, step, type Step } from "./contract/model.js";
import { describeStore, type OpenSubject } from "./store-contract.js";
import { amount } from "../../support/full.js";
import { emptyFolder } from "../../support/folder.js";

type Wrap = (store: FileArtifactStore, clock: Clock | undefined) => ArtifactStore;

const opener =
  (durable: boolean, wrap: Wrap = (store) => store): OpenSubject =>
  async (options = {}) => {
    const root = await emptyFolder();
    const names = async (folder: string): Promise<string[]> =>
      (await readdir(join(root, "store", folder), { recursive: true, withFileTypes: true }).catch(() => []))
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name);
    return {
      store: wrap(new FileArtifactStore(join(root, "store"), { durable, ...options }), options.clock),
      contents: async () => (await names("blobs")).length + (await names("tmp")).length,
      dispose: async () => undefined,
    };
  };

describeStore("FileArtifactStore", opener(false));
describeStore("FileArtifactStore, durable", opener(true));
describeStore(
  "RetainingArtifactStore over FileArtifactStore",
  opener(false, (store, clock) => new RetainingArtifactStore(store, {}, clock === undefined ? {} : { clock })),
);

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
