/**
 * Chooses the source for a configuration, on any platform.
 * @module
 */
import type { ArtifactStore } from "../../artifacts/store.js";
import type { Sluice } from "../../core/types.js";
import { type ToolNodeError, toUnsupportedError } from "../errors.js";
import type { ToolSource } from "../source.js";
import type { UserFileHandling } from "../user-files.js";
import type { ResolvedToolConfig } from "../config/resolved-config.js";
import type { Variables } from "../config/variables.js";
import { mcpSource } from "./mcp/http.js";
import type { Platform } from "./document-source.js";

/** What a source is created with. */
export interface SourceParts {
  /** Returns the command that starts a program for a single user. Left out where users share programs. */
  readonly command?: UserFileHandling["command"];
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
  readonly variables: Variables;
  /** Values that errors must not contain. */
  readonly secrets: readonly string[];
  /** Whether calls can ask for the answer of a model. Defaults to false. */
  readonly sampling?: boolean;
  /** Called with what an MCP server process writes to standard error, which is untrusted. */
  readonly onErrorOutput?: (chunk: Uint8Array) => void;
  /** Defaults to the platform's. */
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * Creates the source of a configuration.
 *
 * @param platform loads what the platform can do beyond browsers.
 * @throws ToolNodeError E_TOOL_UNSUPPORTED if it would start a program.
 */
export function webSource(
  config: ResolvedToolConfig,
  parts: SourceParts,
  platform?: () => Promise<Platform>,
): ToolSource {
  const { name, endpoint, transport } = config;
  if (transport === "http" || transport === "utcp") {
    return createLoadedSource(async () => {
      const [{ httpSource }, own] = await Promise.all([import("./http/source.js"), platform?.()]);
      return httpSource({ ...config, ...parts, ...(own !== undefined && { platform: own }) });
    });
  }
  if (endpoint === null || endpoint.kind === "stdio") throw needsNode(name);
  const { url, kind } = endpoint;
  const { sluice, store, fetch, secrets, sampling = false } = parts;
  const more = { secrets, sampling, ...(fetch !== undefined && { fetch }) };
  return mcpSource({ name, sluice, store, url, transport: kind, ...more });
}

function needsNode(name: string): ToolNodeError {
  return toUnsupportedError(
    `The source ${name} is a program, which can only be started in Node: use a URL, or connect to it in Node.`,
  );
}

/** A source that is loaded when it is first opened. If loading fails, it is tried again next time. */
function createLoadedSource(load: () => Promise<ToolSource>): ToolSource {
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
