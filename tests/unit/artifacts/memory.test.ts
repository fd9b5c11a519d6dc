import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { listed } from "./bytes.js";
import { describeStore } from "./store-contract.js";

describeStore("MemoryArtifactStore", async (options = {}) => {
  const store = new MemoryArtifactStore(options);
  return {
    store,
    contents: async () => new Set((await listed(store.list())).map((ref) => ref.sha256)).size,
    dispose: async () => undefined,
  };
});
