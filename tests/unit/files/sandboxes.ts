/**
 * Whether sandboxes can be made here.
 * @module
 */
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { onTestFinished } from "vitest";
import { buildSandboxCommand } from "../../../web/src/files/local-workspaces.js";
import { Workspace } from "../../../web/src/files/workspace/workspace.js";

/** Why there are none: undefined where there are. Printed, since tests are skipped for it. */
export async function whyNoSandbox(): Promise<string | undefined> {
  const root = await mkdtemp(join(tmpdir(), "sluice-sandbox-"));
  try {
    await buildSandboxCommand(["true"], { workspace: await Workspace.open({ root, name: "ada" }) });
    return undefined;
  } catch (error) {
    console.log(`Tests in sandboxes are skipped. ${(error as Error).message}`);
    return (error as Error).message;
  } finally {
    await rm(root, { recursive: true });
  }
}

/** A file that a sandbox shows: the file itself, or a copy of it until the test is over, or `onEnd` is done. A checkout below /tmp is hidden. */
export async function showFile(
  path: string,
  onEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<string> {
  if (!path.startsWith("/tmp/")) return path;
  const folder = await mkdtemp("/var/tmp/sluice-shown-");
  onEnd(() => rm(folder, { recursive: true }));
  const copy = join(folder, basename(path));
  await copyFile(path, copy);
  return copy;
}
