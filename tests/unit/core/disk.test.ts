/** A disk that is full: answers come while it is, and artifacts again when there is room. */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { createSluice } from "../../../web/src/index.js";
import { noise } from "../artifacts/noise.js";
import { mounted, unmounted } from "../artifacts/small-disk.js";
import { base64, refsIn, sha256 } from "./samples.js";

const MIB = 1024 * 1024;
const pdf = (mebibytes: number, seed: number): Buffer =>
  Buffer.concat([Buffer.from("%PDF-1.7\n"), noise(mebibytes * MIB, seed)]);

/** Files above a limit are what the command's tests fail at where nothing can be mounted. */
const folder = mounted(4);

describe.skipIf(folder === undefined)("a disk of 4 MiB", () => {
  const disk = folder ?? "";
  afterAll(() => {
    unmounted(disk);
  });

  test.each(["observation", "mcp"] as const)(
    "keeps what fits, says of the rest that it does not (%s)",
    async (dialect) => {
      const root = await mkdtemp(join(disk, "store-"));
      const store = new FileArtifactStore(root);
      const sluice = await createSluice({ store });
      const files = [pdf(1, 1), pdf(2, 2), pdf(3, 3), pdf(1, 4).subarray(0, 3_000)];
      const { text, artifacts, failures } = await sluice.transform(
        { files: files.map(base64), note: "kept" },
        { dialect },
      );
      expect(failures).toMatchObject([
        { code: "E_STORE_FULL", message: expect.stringContaining("free some disk space") },
      ]);
      expect(artifacts.map(({ source }) => source["truncated"] ?? false)).toEqual([false, false, true, false]);
      expect(artifacts.map(({ size_bytes }) => size_bytes)).toEqual(files.map(({ length }) => length));
      expect(text).toContain("kept");
      expect(text).toContain(artifacts[2]?.id);
      expect(await readdir(join(root, "tmp"))).toEqual([]);
      const kept = await refsIn(store);
      expect(kept).toHaveLength(3);
      for (const { id, sha256: hash } of kept) expect(sha256((await store.get(id)) ?? Buffer.of())).toBe(hash);
      await store.purge();
    },
  );

  test("answers when not one byte more fits, and stores again when there is room", async () => {
    const store = new FileArtifactStore(join(disk, "store"));
    const sluice = await createSluice({ store });
    const ballast = join(disk, "ballast");
    await writeFile(ballast, noise(8 * MIB)).catch(() => undefined);
    const input = { small: base64(pdf(0, 7)), text: "word ".repeat(4_000), large: base64(pdf(1, 8)) };
    const full = await sluice.transform({ ...input, small: base64(noise(3_000, 9)) });
    expect(full.failures).toMatchObject([{ code: "E_STORE_FULL" }]);
    expect(full.artifacts.every(({ source }) => source["truncated"] === true)).toBe(true);
    await rm(ballast);
    const again = await sluice.transform(input);
    expect(again.failures).toEqual([]);
    expect(again.artifacts.some(({ source }) => source["truncated"] === true)).toBe(false);
  });
});
