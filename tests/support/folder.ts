/** Folders of tests. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** An empty folder that goes with the test. */
export async function emptyFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "sluice-test-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
