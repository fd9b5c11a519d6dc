/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Sluice as a source of tools for planners: MCP servers over HTTP, HTTP APIs and UTCP manuals. In Node,
 * which may start programs and read the environment, it is `tools-node.ts`.
 *
 * @example
 * ```ts
 * const weather = new ToolNode({ name: "weather", transport: "mcp", connection: "https://mcp.example.com/mcp" }, { store });
 * await weather.connect();
 * const { text } = await weather.call("weather.map", { city: "Oslo" });
 * ```
 * @module mcp-sluice/tools
 */
import type { Dialect } from "./core/types.js";
import { AnyToolNode } from "./tools/toolnode.js";
import type { ToolSource } from "./tools/source.js";
import { type SourceParts, webSource } from "./tools/sources/web-source.js";
import type { ResolvedToolConfig } from "./tools/config/resolved-config.js";
import { toVariables, type Variables } from "./tools/config/variables.js";

/** One source of tools. In browsers `${VAR}` stands for what `variables` gives. */
export class ToolNode<D extends Dialect = Dialect> extends AnyToolNode<D> {
  /** @hidden */
  protected readonly variables: Variables = toVariables({});

  /** @hidden */
  protected source(config: ResolvedToolConfig, parts: SourceParts): ToolSource {
    return webSource(config, parts);
  }
}

export { OAuthManager } from "./tools/auth/oauth-manager.js";
export type { AuthRequest, CallbackError, OAuthManagerOptions } from "./tools/auth/oauth-manager.js";
export type { OAuthProviderConfig } from "./tools/auth/oauth-client.js";
export type { OAuthStateStore } from "./tools/auth/pending-requests.js";
export { MemoryTokenStore } from "./tools/auth/token-store.js";
export type { StoredToken, TokenStore } from "./tools/auth/token-store.js";
export { readToolConfig } from "./tools/config/config.js";
export { readSourcesFile } from "./tools/config/sources-file.js";
export type { ExternalToolConfig, OutputTransformer, ToolConfig } from "./tools/config/config.js";
export { getPreset, PresetRegistry, presetNames, registerPreset } from "./tools/config/presets.js";
export {
  ToolAuthError,
  ToolClientError,
  ToolConfigError,
  ToolConnectionError,
  ToolNodeError,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
} from "./tools/errors.js";
export type { ToolNodeOptions } from "./tools/options.js";
export type { ResourceEvent, ToolNodeEvent } from "./tools/event.js";
export type { ToolResult } from "./tools/result.js";
export type { ToolContext, ToolProgress, ToolWait, TransformerContext } from "./tools/context.js";
export type { PromptReading } from "./tools/prompts.js";
export { ToolRegistry } from "./tools/registry.js";
export type { ToolSpec } from "./tools/registry.js";
export type { ResourceReading } from "./tools/resources/cache.js";
export type { ListedPrompt, ListedResource, ListedTemplate } from "./tools/source-features.js";
export { fillTemplate, templateVariables } from "./tools/resources/templates.js";
export type { TemplateVariable } from "./tools/resources/templates.js";
export type { FileRefusal, ResultDisplay } from "./tools/user-files.js";
