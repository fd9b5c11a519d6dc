/** Refs in a folder: between the looks that an eviction takes, and by their names. */
import { readdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { Folder } from "../../../web/src/artifacts/file/folder.js";
import { evictRef } from "../../../web/src/artifacts/file/refs.js";
import type { StoredArtifact } from "../../../web/src/artifacts/store.js";
import { listed } from "./bytes.js";
import { emptyFolder } from "../../support/folder.js";

let root: string;
let store: FileArtifactStore;
beforeEach(async () => {
  root = await emptyFolder();
  store = new FileArtifactStore(root);
});

/** A folder in which something happens after an eviction's first look and before its rename. */
class Racing extends Folder {
  readonly #meanwhile: () => Promise<unknown>;

  constructor(meanwhile: () => Promise<unknown>) {
    super(root, false);
    this.#meanwhile = meanwhile;
  }

  override async ready(): Promise<void> {
    await super.ready();
    await this.#meanwhile();
  }
}

async function seen(): Promise<StoredArtifact> {
  const { id } = await store.putText("wanted", { filename: "first.txt" });
  const artifact = await store.stat(id);
  if (artifact === null) throw new Error("nothing is there");
  return artifact;
}

test("a claim that comes while a collector reaches out gives the artifact back", async () => {
  const artifact = await seen();
  const claim = new Racing(() => store.putText("wanted", { filename: "second.txt" }));
  expect(await evictRef(claim, artifact)).toBe(false);
  expect(await store.get(artifact.id)).toEqual(new TextEncoder().encode("wanted"));
  expect(await store.stat(artifact.id)).toMatchObject({ filename: "second.txt" });
  expect(await readdir(join(root, "tmp"))).toEqual([]);
});

test("a reader that comes while a collector reaches out keeps it", async () => {
  const artifact = await seen();
  expect(await evictRef(new Racing(() => store.get(artifact.id)), artifact)).toBe(false);
  expect(await store.exists(artifact.id)).toBe(true);
});

test("what was deleted while a collector reached out is not its to count", async () => {
  const artifact = await seen();
  expect(await evictRef(new Racing(() => store.delete(artifact.id)), artifact)).toBe(false);
  expect(await readdir(join(root, "blobs"), { recursive: true })).not.toContain(artifact.sha256);
});

test("where nothing happens it goes, with its bytes", async () => {
  const artifact = await seen();
  expect(await evictRef(new Racing(() => Promise.resolve()), artifact)).toBe(true);
  expect(await store.exists(artifact.id)).toBe(false);
  expect((await readdir(join(root, "blobs"), { recursive: true })).join(" ")).not.toMatch(/[0-9a-f]{64}/);
});

const scope = { user_id: "ada" };
async function named(filename: string): Promise<readonly string[]> {
  return (await listed(new FileArtifactStore(root).list(scope, { filename }))).map(({ id }) => id);
}

/** Paths of the entries that there are. */
async function entries(): Promise<readonly string[]> {
  const paths = await readdir(join(root, "names"), { recursive: true });
  return paths.filter((path) => path.includes("@"));
}

test("a store that was written before there were names is found its way in all the same", async () => {
  const { id } = await store.putText("x", { scope, filename: "a.txt" });
  await rm(join(root, "names"), { recursive: true });
  expect(await named("a.txt")).toEqual([id]);
  expect(await entries()).toHaveLength(1);
  await store.update(id, { filename: "b.txt" }, scope);
  expect([await named("a.txt"), await named("b.txt")]).toEqual([[], [id]]);
});

test("an entry goes with its artifact, and with its name", async () => {
  const { id } = await store.putText("x", { scope, filename: "a.txt" });
  await store.update(id, { filename: "b.txt" }, scope);
  expect(await entries()).toHaveLength(1);
  await store.delete(id, scope);
  expect(await entries()).toEqual([]);
});

test("an entry without an artifact counts for nothing, and goes with gc once it is old", async () => {
  const { id } = await store.putText("x", { scope, filename: "a.txt" });
  const [entry = ""] = await entries();
  const left = [entry.replace(/@.*/, "@zzz"), entry.replace(/_[0-9a-f]{12}@/, "_ffffffffffff@")];
  for (const path of left) await writeFile(join(root, "names", path), "");
  expect(await named("a.txt")).toEqual([id]);
  await store.gc();
  expect(await entries()).toHaveLength(3);
  const old = new Date(Date.now() - 2 * 60 * 60 * 1000);
  for (const path of [...left, entry]) await utimes(join(root, "names", path), old, old);
  await store.gc();
  expect(await entries()).toEqual([entry]);
  expect(await named("a.txt")).toEqual([id]);
});
