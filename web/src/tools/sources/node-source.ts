/**
 * Chooses the source for a configuration, in Node, and takes variables from the environment.
 * @module
 */
import { childEnvironment } from "../../mcp/stdio/server-process.js";
import type { ToolSource } from "../source.js";
import type { ResolvedToolConfig } from "../config/resolved-config.js";
import type { Variables } from "../config/variables.js";
import { commandSource } from "./command/source.js";
import { mcpStdioSource } from "./mcp/stdio.js";
import { withCredentials } from "../auth/credentials.js";
import { type SourceParts, webSource } from "./web-source.js";

/** The environment, as it is when it is asked. What a child process may not have has no value here either. */
export const environmentVariables: Variables = (name) => childEnvironment()[name];

/** Creates the source of a configuration. */
export function nodeSource(config: ResolvedToolConfig, parts: SourceParts): ToolSource {
  const { name, endpoint, transport } = config;
  const { sluice, store, command, onErrorOutput, secrets, sampling = false } = parts;
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
        sampling,
        secrets: [...secrets, ...Object.values(env)],
        ...(command !== undefined && { command }),
        ...(onErrorOutput !== undefined && { onErrorOutput }),
      }),
    );
  }
  return webSource(config, parts, async () => (await import("./node-platform.js")).nodePlatform(config, parts));
}
