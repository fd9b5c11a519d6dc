import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { describeStore, type OpenSubject } from "./store-contract.js";

const opener =
  (durable: boolean): OpenSubject =>
  async (options = {}) => {
    const root = await mkdtemp(join(tmpdir(), "sluice-store-"));
    const names = async (folder: string): Promise<string[]> =>
      (await readdir(join(root, "store", folder), { recursive: true, withFileTypes: true }).catch(() => []))
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name);
    return {
      store: new FileArtifactStore(join(root, "store"), { durable, ...options }),
      contents: async () => (await names("blobs")).length + (await names("tmp")).length,
      dispose: () => rm(root, { recursive: true }),
    };
  };

describeStore("FileArtifactStore", opener(false));
describeStore("FileArtifactStore, durable", opener(true));
