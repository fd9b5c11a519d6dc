import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { RetainingArtifactStore } from "../../../web/src/artifacts/retention/retaining-store.js";
import type { ArtifactStore, Clock } from "../../../web/src/artifacts/store.js";
import { describeStore, type OpenSubject } from "./store-contract.js";
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
