/** A real disk, of which a part stays free; and what a file store tells of any disk. */
import { rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../../web/src/artifacts/file/file-store.js";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import type { ArtifactWriter } from "../../../../web/src/artifacts/store.js";
import { createSluice } from "../../../../web/src/index.js";
import { listed } from "../bytes.js";
import { noise } from "../noise.js";
import { mounted, unmounted } from "../small-disk.js";
import { emptyFolder } from "../../../support/folder.js";

const MIB = 1024 * 1024;
const FULL = { code: "E_STORE_FULL", path: "retention.min_free_disk" };
/** What folders and refs take beside the bytes of artifacts. */
const BLOCKS = 64 * 1024;

const folder = mounted(16);

async function freeOn(disk: string): Promise<number> {
  const { bsize, bavail } = await statfs(disk);
  return bsize * bavail;
}

describe.skipIf(folder === undefined)("a disk of 16 MiB, a quarter of which stays free", () => {
  const disk = folder ?? "";
  const config = { ttl_seconds: null, max_artifact_bytes: null, min_free_disk: 0.25 };
  afterAll(() => {
    unmounted(disk);
  });

  test("four who stream at once never use it, and who is refused leaves nothing", async () => {
    const bare = new FileArtifactStore(join(disk, "streams"));
    const store = new RetainingArtifactStore(bare, { ...config, cleanup_strategy: "none" });
    let least = Infinity;
    const stream = async (seed: number): Promise<unknown> => {
      const writer: ArtifactWriter = await store.openWriter();
      const piece = noise(64 * 1024, seed);
      for (let turn = 0; turn < 5 * 16; turn++) {
        piece.fill(turn, 0, 1);
        await writer.write(piece);
        least = Math.min(least, await freeOn(disk));
      }
      return writer.close();
    };
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(stream));
    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThanOrEqual(2);
    for (const outcome of refused) expect(outcome).toMatchObject({ reason: FULL });
    expect(await listed(store.list())).toHaveLength(4 - refused.length);
    expect(least).toBeGreaterThan(4 * MIB - BLOCKS);
    await bare.purge();
    expect(await freeOn(disk)).toBeGreaterThan(16 * MIB - BLOCKS);
  });

  test("the oldest make room", async () => {
    const bare = new FileArtifactStore(join(disk, "oldest"));
    const store = new RetainingArtifactStore(bare, config);
    const refs = [];
    for (let seed = 1; seed <= 9; seed++) {
      refs.push(await store.putBytes(noise(3 * MIB, seed)));
      expect(await freeOn(disk)).toBeGreaterThan(4 * MIB - BLOCKS);
    }
    expect((await listed(store.list())).map(({ id }) => id)).toEqual(refs.slice(-3).map(({ id }) => id));
    await bare.purge();
  });

  test("an answer comes all the same, and says what was not stored and why", async () => {
    const ballast = join(disk, "ballast");
    await writeFile(ballast, noise(13 * MIB));
    const store = new FileArtifactStore(join(disk, "answers"));
    const sluice = await createSluice({ store, config: { retention: config } });
    const { text, artifacts, failures } = await sluice.transform({ log: "many words ".repeat(2_000), kept: 42 });
    expect(failures).toMatchObject([FULL]);
    expect(artifacts).toMatchObject([{ source: { truncated: true } }]);
    expect(text).toContain("42");
    await rm(ballast);
    expect((await sluice.transform({ log: "many words ".repeat(2_000) })).failures).toEqual([]);
  });

  test("bytes that a writer still holds count as used", async () => {
    const store = new FileArtifactStore(join(disk, "held"));
    await store.putText("so that there are folders");
    const before = (await store.space()).free_bytes;
    const writers = [await store.openWriter(), await store.openWriter()];
    await writers[0]?.write(noise(40_000));
    await writers[1]?.write(noise(3 * MIB));
    const held = before - (await store.space()).free_bytes;
    expect(held).toBeGreaterThanOrEqual(3 * MIB + 40_000);
    // What is being written may count twice.
    expect(held).toBeLessThan(4 * MIB + 40_000 + BLOCKS);
    await writers[0]?.close();
    await writers[1]?.abort();
    expect(before - (await store.space()).free_bytes).toBeLessThan(BLOCKS);
  });
});

test("a folder that is not there yet lies on the disk that it will be made on", async () => {
  const parent = await emptyFolder();
  const store = new FileArtifactStore(join(parent, "not", "there"));
  const { free_bytes, total_bytes } = await store.space();
  const { bsize, blocks } = await statfs(parent);
  expect(total_bytes).toBe(bsize * blocks);
  expect(free_bytes).toBeGreaterThan(0);
  expect(free_bytes).toBeLessThanOrEqual(total_bytes);
  expect(await store.isThere()).toBe(false);
});
