/** Options that make no server: refused before anything is served. */
import { expect, test } from "vitest";
import { discoverArtifactStore, MemoryArtifactStore } from "../../../web/src/index.js";
import { memoryState, SluiceServer, type SluiceServerOptions } from "../../../web/src/serve.js";

const store = new MemoryArtifactStore();
/** The basic methods of a store, and no more. */
const five = {
  putBytes: store.putBytes.bind(store),
  putText: store.putText.bind(store),
  get: store.get.bind(store),
  delete: store.delete.bind(store),
  exists: store.exists.bind(store),
};

test.each([
  ["without a store", {}, "store", "must be an artifact store"],
  ["with null for a store", { store: null }, "store", "it has no putBytes"],
  ["with a store that cannot do all that stores do", { store: { get: () => null } }, "store", "it has no putBytes"],
  ["with a store that knows no scopes", { store: five }, "store", "kept in this one process"],
  ["with one that was found", { store: discoverArtifactStore({ artifactStore: five }) }, "store", "openWriter"],
  ["with such a store for files", { store, filesStore: five }, "filesStore", "kept in this one process"],
  ["with an option that there is not", { store, sorces: [] }, "sorces", "did you mean sources?"],
  ["with a limit that is none", { store, limits: { runs: 0 } }, "limits.runs", "a whole number above 0"],
  ["with a limit that there is not", { store, limits: { run: 1 } }, "limits.run", "did you mean runs?"],
  ["with a base that is no path", { store, base: "sluice" }, "base", "begins and ends with /"],
  ["with a public URL that is none", { store, publicUrl: "sluice.example" }, "publicUrl", "https://sluice.example"],
  ["with an origin that has a path", { store, origins: ["https://app.example/"] }, "origins", "without a path"],
  ["with a secret that can be guessed", { store, secret: "secret" }, "secret", "32"],
  ["with sources that are no list", { store, sources: {} }, "sources", "must be a list"],
  [
    "with state that others share, and a secret that they do not",
    { store, state: { ...memoryState(), isShared: true } },
    "secret",
    "give them the same one",
  ],
])("a server %s is not made, and the option is named", (_, options, path, sentence) => {
  const made = (): SluiceServer => new SluiceServer(options as unknown as SluiceServerOptions);
  expect(made).toThrow(
    expect.objectContaining({ code: "E_INVALID_ARGUMENT", path, message: expect.stringContaining(sentence) as string }),
  );
});

test("a retention that is wrong is named by its key", () => {
  expect(() => new SluiceServer({ store, retention: { ttl: 1 } as object })).toThrow(
    expect.objectContaining({ code: "E_CONFIG_KEY", path: "retention.ttl" }),
  );
});
