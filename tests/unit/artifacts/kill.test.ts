import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { listed } from "./bytes.js";
import { programOf, killed } from "./child.js";
import { amount } from "../../support/full.js";
import { emptyFolder } from "../../support/folder.js";

const ROUNDS = amount(4, 8);
const program = programOf("churn-program");

async function blobNames(folder: string): Promise<string[]> {
  const entries = await readdir(join(folder, "blobs"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

test("two writers at once, killed over and over, never leave anything torn or lose what they stored", async () => {
  const folder = join(await emptyFolder(), "store");
  const stored = new Set<string>();
  for (let round = 1; round <= ROUNDS; round++) {
    const seeds = [round, round + ROUNDS];
    const dying = seeds.map((seed) => killed(program, [folder, String(seed)], (seed * 37) % 120));
    for (const lines of await Promise.all(dying)) {
      // The last line may have been cut by the kill.
      const ids = lines.filter((line) => /_[0-9a-f]{12}$/.test(line));
      for (const id of ids) stored.add(id);
    }
    const store = new FileArtifactStore(folder);
    const refs = await listed(store.list());
    for (const { id, scope, size_bytes } of refs) expect((await store.get(id, scope))?.byteLength).toBe(size_bytes);
    const kept = await listed(store.list({ session_id: "kept" }));
    expect(kept.map((ref) => ref.id)).toEqual(expect.arrayContaining([...stored]));
    for (const path of await blobNames(folder)) {
      const hash = createHash("sha256").update(await readFile(path));
      expect(basename(path)).toBe(hash.digest("hex"));
    }
  }
  expect(stored.size).toBeGreaterThan(3);

  const store = new FileArtifactStore(folder);
  const before = await listed(store.list());
  await store.gc();
  expect(await readdir(join(folder, "tmp"))).toEqual([]);
  expect(await listed(store.list())).toEqual(before);
  for (const { id, scope } of before) expect(await store.get(id, scope)).not.toBeNull();
  expect(await blobNames(folder)).toHaveLength(new Set(before.map((ref) => ref.sha256)).size);
  expect(await store.gc()).toEqual({ blobs: 0, bytes: 0, temporaries: 0 });
}, 120_000);
