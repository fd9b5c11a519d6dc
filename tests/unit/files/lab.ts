/**
 * A source whose tools take and make users' files, in front of a real server.
 * @module
 */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactScope } from "../../../web/src/artifacts/store.js";
import { UserFiles } from "../../../web/src/files/user-files.js";
import type { UserFilesOptions } from "../../../web/src/files/options.js";
import { Workspace } from "../../../web/src/files/workspace/workspace.js";
import {
  ToolNode,
  type ExternalToolConfig,
  type ToolNodeEvent,
  type ToolNodeOptions,
  type ToolResult,
} from "../../../web/src/tools-node.js";

const SERVER = fileURLToPath(new URL("lab-server.mjs", import.meta.url));

export const ADA: ArtifactScope = { user_id: "ada", session_id: "s1", trace_id: "t1" };
export const BOB: ArtifactScope = { user_id: "bob", session_id: "s2", trace_id: "t2" };

/** What tests ask of it. */
export interface Lab {
  readonly node: ToolNode;
  readonly userFiles: UserFiles;
  readonly store: MemoryArtifactStore;
  /** What stands for `/tmp`. */
  readonly root: string;
  readonly events: readonly ToolNodeEvent[];
  /** Calls as ada, unless the scope says otherwise. */
  readonly call: (tool: string, args?: Readonly<Record<string, unknown>>, scope?: ArtifactScope) => Promise<ToolResult>;
}

/** How it differs from the usual. */
export interface LabOptions {
  readonly config?: Partial<ExternalToolConfig>;
  readonly options?: Partial<ToolNodeOptions>;
  readonly files?: Partial<UserFilesOptions>;
  /** Whether tools are given data URIs in place of paths. */
  readonly withoutFolders?: boolean;
}

/** Connects one named `lab`, closed when the test ends. */
export async function lab(given: LabOptions = {}): Promise<Lab> {
  const opened = await openLab(given);
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

/** The same for more than one test. */
export async function openLab(given: LabOptions = {}): Promise<Lab & AsyncDisposable> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "sluice-lab-")));
  const store = new MemoryArtifactStore();
  const openWorkspace = (name: string): Promise<Workspace> => Workspace.open({ root, shownRoot: root, name });
  const userFiles = new UserFiles({ store, ...(given.withoutFolders !== true && { openWorkspace }), ...given.files });
  const events: ToolNodeEvent[] = [];
  const node = new ToolNode(
    {
      name: "lab",
      transport: "mcp",
      connection: `"${process.execPath}" "${SERVER}"`,
      env: { LAB_ROOT: root },
      user_files: true,
      ...given.config,
    },
    { onEvent: (event) => void events.push(event), store, userFiles, ...given.options },
  );
  const close = async (): Promise<void> => {
    await node.close();
    await userFiles[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  };
  await node.connect({ scope: ADA });
  const call: Lab["call"] = (tool, args = {}, scope = ADA) => node.call(tool, args, { scope });
  return { node, userFiles, store, root, events, call, [Symbol.asyncDispose]: close };
}

/** What the model sees. */
export function seen(result: ToolResult): Record<string, unknown> {
  return result.value as Record<string, unknown>;
}
