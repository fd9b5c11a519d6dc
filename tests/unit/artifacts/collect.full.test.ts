/** Collectors and writers in several processes, killed in a loop. */
import { readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { RetainingArtifactStore } from "../../../web/src/artifacts/retention/retaining-store.js";
import { amount } from "../../support/full.js";
import { dated, listed } from "./bytes.js";
import { emptyFolder } from "../../support/folder.js";
import { killed, programOf } from "../../support/program.js";

// On a busy machine a round may end before anything was old enough to be taken.
const ROUNDS = amount(2, 6);
const MOST_ROUNDS = 120;
const AT_ONCE = 3;
const program = programOf(new URL("store-program.ts", import.meta.url), "claim");

test("a collector never takes what a writer has just claimed, and dying does not stop the next", async () => {
  const folder = join(await emptyFolder(), "store");
  const lines: string[] = [];
  const evictions = (): number => lines.filter((line) => /^took [1-9]/.test(line)).length;
  for (let round = 0; round < ROUNDS || (evictions() < ROUNDS && round < MOST_ROUNDS); round++) {
    const seeds = Array.from({ length: AT_ONCE }, (_, at) => round * AT_ONCE + at);
    const dying = seeds.map((seed) => killed(program, [folder, String(seed)], 300 + ((seed * 37) % 120)));
    lines.push(...(await Promise.all(dying)).flat());
  }
  expect(lines.filter((line) => line.startsWith("lost"))).toEqual([]);
  expect(lines.filter((line) => line === "kept").length).toBeGreaterThan(ROUNDS * AT_ONCE);
  expect(evictions()).toBeGreaterThanOrEqual(ROUNDS);

  const store = new FileArtifactStore(folder, { sweepAfter: 0 });
  for (const { id, scope, size_bytes } of await listed(store.list())) {
    expect((await store.get(id, scope))?.byteLength).toBe(size_bytes);
  }
  const strict = new RetainingArtifactStore(store, { ttl_seconds: null, max_total_bytes: 1 });
  const before = (await listed(store.list())).length;
  // Who died before its name was in the lock is taken for one that is about to write it, for a minute.
  await utimes(join(folder, "collector.lock"), 0, 0).catch(() => undefined);
  expect((await strict.collect())?.artifacts).toBe(before);
  await store.gc();
  expect(await listed(store.list())).toEqual([]);
  expect((await readdir(folder)).toSorted()).toEqual(["blobs", "names", "refs", "sluice-store.json", "tmp"]);
}, 120_000);

test("while one process collects, another lets it", async () => {
  const folder = join(await emptyFolder(), "store");
  const [one, two] = [new FileArtifactStore(folder), new FileArtifactStore(folder)];
  await one.putText("x");
  const limits = { ttl_seconds: null, max_total_bytes: 4 };
  await one.putText("more");
  const outcome = await one.exclusively(() => new RetainingArtifactStore(two, limits).collect());
  expect(outcome).toBeNull();
  expect(await dated(two.list())).toHaveLength(2);
  expect((await new RetainingArtifactStore(two, limits).collect())?.artifacts).toBe(1);
});

test("limits hold over what other processes stored before", async () => {
  const folder = join(await emptyFolder(), "store");
  const plain = new FileArtifactStore(folder);
  const old = await plain.putText("12345", { namespace: "mine" });
  await plain.putText("12345", { namespace: "theirs" });
  const store = new RetainingArtifactStore(new FileArtifactStore(folder), {
    ttl_seconds: null,
    max_namespace_bytes: 9,
  });
  const { id } = await store.putText("67890", { namespace: "mine" });
  expect((await listed(plain.list())).map((ref) => ref.id)).not.toContain(old.id);
  expect(await plain.exists(id)).toBe(true);
  expect(await listed(plain.list())).toHaveLength(2);
});
