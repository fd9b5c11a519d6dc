/**
 * A folder with files for a server, for the length of a test file.
 * @module
 */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { makePdf } from "../../../scripts/demo/pdf.mjs";
import { makePng } from "../../../scripts/demo/png.mjs";
import { noise } from "../../unit/artifacts/bytes.js";
import { WAV } from "../../unit/core/samples.js";

/** What lies in the folder. */
export const FILES = {
  "report.pdf": makePdf({ pages: 1, title: "Report" }),
  "photo.png": makePng({ width: 160, height: 120 }),
  "sound.wav": WAV,
  "noise.bin": Buffer.from(noise(40_000)),
} as const;

/** Makes it before the tests, and removes it after them. */
export function useFolder(): { path(name?: string): string } {
  let folder = "";
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "sluice-servers-")));
    await Promise.all(Object.entries(FILES).map(([name, bytes]) => writeFile(join(folder, name), bytes)));
  });
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return { path: (name = "") => join(folder, name) };
}
