/**
 * ToolNodes in front of a server that gives files and takes them.
 * @module
 */
import { fileURLToPath } from "node:url";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import {
  ToolNode,
  type ExternalToolConfig,
  type ToolNodeEvent,
  type ToolNodeOptions,
} from "../../../../web/src/tools-node.js";

const SERVER = fileURLToPath(new URL("file-server.mjs", import.meta.url));

/** A connected source, and what it tells of. */
export interface Connected extends AsyncDisposable {
  readonly node: ToolNode;
  readonly store: MemoryArtifactStore;
  readonly events: readonly ToolNodeEvent[];
  /** The id of the artifact that a call gives. */
  id(tool: string, context?: Parameters<ToolNode["call"]>[2]): Promise<string>;
}

/** Connects one named `files`, unless the configuration says otherwise. */
export async function connected(
  config: Partial<ExternalToolConfig> = {},
  options: Omit<ToolNodeOptions, "store"> & { readonly store?: MemoryArtifactStore } = {},
): Promise<Connected> {
  const store = options.store ?? new MemoryArtifactStore();
  const events: ToolNodeEvent[] = [];
  const node = new ToolNode(
    { name: "files", transport: "mcp", connection: `"${process.execPath}" "${SERVER}"`, ...config },
    { onEvent: (event) => void events.push(event), ...options, store },
  );
  await node.connect();
  return {
    node,
    store,
    events,
    id: async (tool, context) => (await node.call(tool, {}, context)).artifacts[0]?.id ?? "",
    [Symbol.asyncDispose]: () => node.close(),
  };
}
