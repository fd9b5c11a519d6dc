/**
 * Which source a configuration names, in Node.
 * @module
 */
import type { SourceParts } from "../options.js";
import type { ToolSource } from "../source.js";
import type { ResolvedToolConfig } from "../variables.js";
import { commandSource } from "./command.js";
import { mcpStdioSource } from "./mcp-stdio.js";
import { credentialed } from "./program-credentials.js";
import { webSource } from "./web-source.js";

/** The source of a configuration. */
export function nodeSource(config: ResolvedToolConfig, parts: SourceParts): ToolSource {
  const { name, endpoint, transport } = config;
  const { sluice, store, command, onErrorOutput } = parts;
  if (transport === "cli") return commandSource({ ...config, ...parts });
  if (endpoint?.kind === "stdio") {
    const { argv } = endpoint;
    return credentialed(config, (env) =>
      mcpStdioSource({
        name,
        sluice,
        store,
        argv,
        env,
        ...(command !== undefined && { command }),
        ...(onErrorOutput !== undefined && { onErrorOutput }),
      }),
    );
  }
  return webSource(config, parts);
}
