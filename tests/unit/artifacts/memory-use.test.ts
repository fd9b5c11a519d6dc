import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bundled, printed } from "./child.js";

const MIB = 1024 * 1024;

test("storing 256 MiB in chunks grows the process by less than 40 MiB", async () => {
  const root = await mkdtemp(join(tmpdir(), "sluice-memory-"));
  const program = await bundled("memory-program");
  try {
    const { sha256, growth } = JSON.parse(await printed(program.start(join(root, "store"), String(256 * MIB)))) as {
      sha256: string;
      growth: number;
    };
    const hash = createHash("sha256");
    const chunk = new Uint8Array(48 * 1024);
    for (let at = 0, turn = 0; at < 256 * MIB; at += chunk.byteLength, turn++) {
      hash.update(chunk.fill(turn).subarray(0, Math.min(chunk.byteLength, 256 * MIB - at)));
    }
    expect(sha256).toBe(hash.digest("hex"));
    expect(growth).toBeLessThan(40 * MIB);
  } finally {
    await program.dispose();
    await rm(root, { recursive: true });
  }
});
