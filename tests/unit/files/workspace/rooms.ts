/**
 * Folders for tests of workspaces.
 * @module
 */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Workspace, type WorkspaceOptions } from "../../../../web/src/files/workspace/workspace.js";

/** An empty folder that goes with the test. */
export async function emptyFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "sluice-workspace-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A workspace of Ada's in a folder of its own. */
export async function adas(options: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  return Workspace.open({ root: await emptyFolder(), name: "ada", ...options });
}

/** A file's bytes as a stream, once. */
export function bytes(text: string): () => Promise<ReadableStream<Uint8Array>> {
  return async () => new Blob([text]).stream();
}
