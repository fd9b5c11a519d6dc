import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { folderStore as folderInBrowsers } from "../../../web/src/artifacts/folder-web.js";
import { expect, test } from "vitest";
import { chosenStore } from "../../../web/src/artifacts/chosen-store.js";
import { BasicStoreAdapter, discoverArtifactStore } from "../../../web/src/artifacts/host-store.js";
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

test.each([
  undefined,
  null,
  7,
  "store",
  {},
  [],
  { artifactStore: null },
  () => store,
  { get: store.get.bind(store), delete: store.delete.bind(store), exists: store.exists.bind(store) },
])("nothing is found in %j", (stateStore) => {
  expect(discoverArtifactStore(stateStore)).toBeNull();
});

const [putBytes, putText, get] = [store.putBytes.bind(store), store.putText.bind(store), store.get.bind(store)];
const [remove, exists] = [store.delete.bind(store), store.exists.bind(store)];

test("a store with the five methods of the RFC is used through one adapter, the same each time", () => {
  const five = { putBytes, putText, get, delete: remove, exists };
  const found = discoverArtifactStore({ artifactStore: five });
  expect(found).toBeInstanceOf(BasicStoreAdapter);
  expect([discoverArtifactStore(five), chosenStore(five as never, null)]).toEqual([found, found]);
  expect(discoverArtifactStore({ artifact_store: five })).toBe(found);
});

test.each([
  ["stateStore.artifactStore", { artifactStore: { putBytes, putText, get } }, ["delete", "exists"]],
  ["stateStore.artifact_store", { artifact_store: { putBytes, putText, get, delete: remove } }, ["exists"]],
  ["stateStore.artifactStore", { artifactStore: {} }, ["putBytes", "putText", "get", "delete", "exists"]],
  ["stateStore.artifactStore", { artifactStore: "a path" }, ["putBytes", "putText", "get", "delete", "exists"]],
  ["stateStore", { putBytes, putText, delete: remove, get }, ["exists"]],
])("%s that lacks one of the five is an error that names it", (path, stateStore, missing) => {
  for (const find of [discoverArtifactStore, (given: unknown) => chosenStore(undefined, given)]) {
    expect(() => find(stateStore)).toThrow(
      expect.objectContaining({
        code: "E_INVALID_ARGUMENT",
        path,
        message: expect.stringContaining(`it has no ${missing.join(", ")};`) as unknown,
      }),
    );
  }
});

test("the store that is named comes first, then the one that is found, then none", () => {
  expect(chosenStore(store, { artifactStore: other })).toBe(store);
  expect(chosenStore(undefined, { artifactStore: other })).toBe(other);
  expect(chosenStore(undefined, undefined)).toBeInstanceOf(NoOpArtifactStore);
});

test("memory, and a folder by its path, are named by a word", async () => {
  expect(chosenStore("memory", { artifactStore: other })).toBeInstanceOf(MemoryArtifactStore);
  const folder = await mkdtemp(join(tmpdir(), "sluice-named-"));
  const named = chosenStore(join(folder, "store"), undefined);
  expect(named).toBeInstanceOf(FileArtifactStore);
  const { id } = await named.putText("kept");
  expect(await new FileArtifactStore(join(folder, "store")).exists(id)).toBe(true);
  await rm(folder, { recursive: true });
});

test("where there are no folders, a path is refused", () => {
  expect(() => folderInBrowsers("./artifacts")).toThrow(
    expect.objectContaining({
      code: "E_INVALID_ARGUMENT",
      path: "store",
      message: expect.stringContaining("in Node only"),
    }),
  );
});

test.each([
  ["", "no artifact store"],
  [7, "no artifact store"],
])("%j names no store", (named, sentence) => {
  expect(() => chosenStore(named as never, undefined)).toThrow(sentence);
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
