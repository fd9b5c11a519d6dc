/**
 * What `mcp-sluice/tools` is in Node: MCP servers that run as commands, UTCP tools that are commands, and variables of the
 * environment as well.
 *
 * @example
 * ```ts
 * const files = new ToolNode(getPreset("filesystem"), { store: new FileArtifactStore("./artifacts") });
 * await files.connect();
 * ```
 * @module mcp-sluice/tools in Node
 */
export * from "./tools.js";
import { Copies } from "./artifacts/private-folder.js";
import type { ArtifactStore } from "./artifacts/store.js";
import type { ArtifactCopies } from "./tools/running-source.js";
import type { Dialect } from "./core/types.js";
import { AnyToolNode } from "./tools/toolnode.js";
import type { ToolSource } from "./tools/source.js";
import { environmentVariables, nodeSource } from "./tools/sources/node-source.js";
import type { SourceParts } from "./tools/sources/web-source.js";
import type { ResolvedToolConfig } from "./tools/config/resolved-config.js";
import type { Variables } from "./tools/config/variables.js";

/** One source of tools. `${VAR}` stands for a variable of the environment, unless `variables` is given. */
export class ToolNode<D extends Dialect = Dialect> extends AnyToolNode<D> {
  /** @hidden */
  protected readonly variables: Variables = environmentVariables;

  /** @hidden */
  protected source(config: ResolvedToolConfig, parts: SourceParts): ToolSource {
    return nodeSource(config, parts);
  }

  /** @hidden */
  protected override copies(store: ArtifactStore): ArtifactCopies {
    return new Copies(store);
  }
}
