import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { listed } from "./bytes.js";
import { bundled, printed, type Program } from "./child.js";

const ROUNDS = 8;
let program: Program;
let root: string;
beforeAll(async () => {
  program = await bundled("churn-program");
  root = await mkdtemp(join(tmpdir(), "sluice-kill-"));
});
afterAll(async () => {
  await program.dispose();
  await rm(root, { recursive: true });
});

/** Starts a program and kills it some time after it stored something; gives the ids it had printed. */
async function killed(folder: string, seed: number): Promise<string[]> {
  const child = program.start(folder, String(seed));
  const output = printed(child);
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  await sleep((seed * 37) % 120);
  child.kill("SIGKILL");
  return (await output).split("\n").filter((line) => /_[0-9a-f]{12}$/.test(line));
}

async function blobNames(folder: string): Promise<string[]> {
  const entries = await readdir(join(folder, "blobs"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

test("two writers at once, killed over and over, never leave anything torn or lose what they stored", async () => {
  const folder = join(root, "store");
  const stored = new Set<string>();
  for (let round = 1; round <= ROUNDS; round++) {
    for (const ids of await Promise.all([killed(folder, round), killed(folder, round + ROUNDS)])) {
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

  const store = new FileArtifactStore(folder, { sweepAfter: 0 });
  const before = await listed(store.list());
  await store.gc();
  expect(await readdir(join(folder, "tmp"))).toEqual([]);
  expect(await listed(store.list())).toEqual(before);
  for (const { id, scope } of before) expect(await store.get(id, scope)).not.toBeNull();
  expect(await blobNames(folder)).toHaveLength(new Set(before.map((ref) => ref.sha256)).size);
  expect(await store.gc()).toEqual({ blobs: 0, bytes: 0, temporaries: 0 });
}, 120_000);
