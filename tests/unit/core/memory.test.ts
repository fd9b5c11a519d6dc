import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import type { ArtifactRef } from "../../../web/src/index.js";
import { printed } from "../artifacts/child.js";
import { ROOT } from "../cli/command.js";
import { emptyFolder } from "../../support/folder.js";

const PIECE = 48 * 1024;
const PIECES = Math.ceil((256 * 1024 * 1024) / PIECE);

test("256 MiB stream into a file store while the process grows by less than 40 MB", async () => {
  const folder = await emptyFolder();
  const program = fileURLToPath(new URL("memory-program.mjs", import.meta.url));
  const library = pathToFileURL(join(ROOT, "dist", "node.js")).href;
  const args = [program, library, join(folder, "store"), String(PIECES)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const { text, artifacts, growth } = JSON.parse(await printed(child)) as {
    text: string;
    artifacts: ArtifactRef[];
    growth: number;
  };
  expect(artifacts).toMatchObject([{ size_bytes: PIECES * PIECE, sha256: expectedHash() }]);
  expect(text.length).toBeLessThan(1_000);
  expect(growth).toBeLessThan(40_000_000);
});

function expectedHash(): string {
  const hash = createHash("sha256");
  const piece = Buffer.alloc(PIECE);
  for (let n = 0; n < PIECES; n += 1) {
    for (let at = 0; at < piece.length; at += 1) piece[at] = (at * 31 + (at >> 8) + n) & 0xff;
    hash.update(piece);
  }
  return hash.digest("hex");
}
