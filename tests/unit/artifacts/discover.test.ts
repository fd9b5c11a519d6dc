import { expect, test } from "vitest";
import { chosenStore } from "../../../web/src/artifacts/choice.js";
import { discoverArtifactStore } from "../../../web/src/artifacts/discover.js";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { NoOpArtifactStore } from "../../../web/src/artifacts/no-op.js";
import type { ArtifactStore } from "../../../web/src/artifacts/store.js";

const store = new MemoryArtifactStore();
const other = new MemoryArtifactStore();

/** A state store that is an artifact store and has an attribute besides. */
const both = (attribute: unknown): object => Object.assign(new MemoryArtifactStore(), { artifactStore: attribute });

test("a state store's attribute is its artifact store, in either spelling", () => {
  expect(discoverArtifactStore({ artifactStore: store })).toBe(store);
  expect(discoverArtifactStore({ artifact_store: store })).toBe(store);
});

test("a state store may be the artifact store itself", () => {
  expect(discoverArtifactStore(store)).toBe(store);
});

test("the attribute comes before the state store itself, unless it is no store", () => {
  expect(discoverArtifactStore(both(store))).toBe(store);
  const itself = both("a path");
  expect(discoverArtifactStore(itself)).toBe(itself);
});

test.each([undefined, null, 7, "store", {}, [], { artifactStore: {} }, { artifactStore: null }, () => store])(
  "nothing is found in %j",
  (stateStore) => {
    expect(discoverArtifactStore(stateStore)).toBeNull();
  },
);

test("a store that cannot do all that stores do is none", () => {
  const [putBytes, putText, get] = [store.putBytes.bind(store), store.putText.bind(store), store.get.bind(store)];
  expect(discoverArtifactStore({ artifactStore: { putBytes, putText, get } })).toBeNull();
});

test("the store that is named comes first, then the one that is found, then none", () => {
  expect(chosenStore(store, { artifactStore: other })).toBe(store);
  expect(chosenStore(undefined, { artifactStore: other })).toBe(other);
  expect(chosenStore(undefined, undefined)).toBeInstanceOf(NoOpArtifactStore);
});

test("a named store that is none is refused with what it lacks", () => {
  const half = { putBytes: () => undefined } as unknown as ArtifactStore;
  expect(() => chosenStore(half, { artifactStore: other })).toThrow(
    expect.objectContaining({
      code: "E_INVALID_ARGUMENT",
      path: "store",
      message: expect.stringContaining("openWriter") as unknown,
    }),
  );
});
