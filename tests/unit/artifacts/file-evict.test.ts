/** What happens between the looks that an eviction takes. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { Folder } from "../../../web/src/artifacts/file/folder.js";
import { evictRef } from "../../../web/src/artifacts/file/refs.js";
import type { StoredArtifact } from "../../../web/src/artifacts/store.js";

let root: string;
let store: FileArtifactStore;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "sluice-evict-"));
  store = new FileArtifactStore(root);
});
afterEach(() => rm(root, { recursive: true }));

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
