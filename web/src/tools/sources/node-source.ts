/**
 * Chooses the source for a configuration, in Node.
 * @module
 */
import type { SourceParts } from "../options.js";
import type { ToolSource } from "../source.js";
import type { ResolvedToolConfig } from "../variables.js";
import { commandSource } from "./command/source.js";
import { mcpStdioSource } from "./mcp/stdio.js";
import { withCredentials } from "../auth/credentials.js";
import { webSource } from "./web-source.js";

/** Creates the source of a configuration. */
export function nodeSource(config: ResolvedToolConfig, parts: SourceParts): ToolSource {
  const { name, endpoint, transport } = config;
  const { sluice, store, command, onErrorOutput, secrets } = parts;
  if (transport === "cli") return commandSource({ ...config, ...parts });
  if (endpoint?.kind === "stdio") {
    const { argv } = endpoint;
    return withCredentials(config, (env) =>
      mcpStdioSource({
        name,
        sluice,
        store,
        argv,
        env,
        secrets: [...secrets, ...Object.values(env)],
        ...(command !== undefined && { command }),
        ...(onErrorOutput !== undefined && { onErrorOutput }),
      }),
    );
  }
  return webSource(config, parts, async () => (await import("./node-platform.js")).nodePlatform(config, parts));
}
