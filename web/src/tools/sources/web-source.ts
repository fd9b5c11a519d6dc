/**
 * Which source a configuration names, of those that run anywhere.
 * @module
 */
import type { ToolNodeError } from "../errors.js";
import type { SourceParts } from "../options.js";
import { unsupported } from "../problem.js";
import type { ToolSource } from "../source.js";
import type { ResolvedToolConfig } from "../variables.js";
import { mcpSource } from "./mcp.js";

/** The source of a configuration. Throws E_TOOL_UNSUPPORTED for what starts a program. */
export function webSource(config: ResolvedToolConfig, parts: SourceParts): ToolSource {
  const { name, endpoint, transport } = config;
  const terms = { ...config, ...parts };
  if (transport === "http" || transport === "utcp") {
    return loadedSource(async () => (await import("./http.js")).httpSource(terms));
  }
  if (endpoint === null || endpoint.kind === "stdio") throw needsNode(name);
  const { url, kind } = endpoint;
  const { sluice, store, fetch } = parts;
  return mcpSource({ name, sluice, store, url, transport: kind, ...(fetch !== undefined && { fetch }) });
}

function needsNode(name: string): ToolNodeError {
  return unsupported(
    `The source ${name} is a program, and programs are started in Node only: import ToolNode from mcp-sluice/tools/node, or give a URL.`,
  );
}

/** A source that is made when it is first opened; what fails to load is tried again with the next opening. */
function loadedSource(load: () => Promise<ToolSource>): ToolSource {
  let source: Promise<ToolSource> | undefined;
  return {
    open: async (options) => {
      const made = (source ??= load());
      try {
        return await (await made).open(options);
      } catch (error) {
        await made.catch(() => (source = undefined));
        throw error;
      }
    },
  };
}
