/**
 * A workspace of a test's own, and what is put into it.
 * @module
 */
import { Workspace, type WorkspaceOptions } from "../../../../web/src/files/workspace/workspace.js";
import { emptyFolder } from "../../../support/folder.js";

/** A workspace of Ada's in a folder of its own. */
export async function adas(options: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  return Workspace.open({ root: await emptyFolder(), name: "ada", ...options });
}

/** A file's bytes as a stream, once. */
export function bytes(text: string): () => Promise<ReadableStream<Uint8Array>> {
  return async () => new Blob([text]).stream();
}
