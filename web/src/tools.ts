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
import type { SourceParts } from "./tools/options.js";
import { AnyToolNode } from "./tools/toolnode.js";
import type { ToolSource } from "./tools/source.js";
import { webSource } from "./tools/sources/web-source.js";
import { variablesOf, type ResolvedToolConfig, type Variables } from "./tools/config/variables.js";

/** One source of tools. In browsers `${VAR}` stands for what `variables` gives. */
export class ToolNode extends AnyToolNode {
  /** @hidden */
  protected readonly variables: Variables = variablesOf({});

  /** @hidden */
  protected source(config: ResolvedToolConfig, parts: SourceParts): ToolSource {
    return webSource(config, parts);
  }
}

export type { ArtifactRef, ArtifactScope, ArtifactStore } from "./artifacts/store.js";
export type { AnswerRef, Dialect, Transformed } from "./core/sluice.js";
export type { CallbackAnswer, CallbackError, OAuthCallback } from "./tools/auth/oauth-manager.js";
export { OAuthManager } from "./tools/auth/oauth-manager.js";
export type { AuthRequest, ConsentQuestion, OAuthManagerOptions } from "./tools/auth/oauth-manager.js";
export { discoverMcpProvider } from "./tools/auth/mcp-discovery.js";
export type { McpClientIdentity, McpDiscovery } from "./tools/auth/mcp-discovery.js";
export type { OAuthStateStore } from "./tools/auth/pending-requests.js";
export type { OAuthUser } from "./tools/auth/token-store.js";
export type { OAuthProviderConfig } from "./tools/auth/oauth-client.js";
export { MemoryTokenStore } from "./tools/auth/token-store.js";
export type { StoredToken, TokenStore } from "./tools/auth/token-store.js";
export { readSourcesFile } from "./tools/config/config.js";
export { readToolConfig } from "./tools/config/config.js";
export { ToolConfigError } from "./tools/errors.js";
export type {
  AuthType,
  ExternalToolConfig,
  OutputTransformer,
  RetryPolicy,
  ToolConfig,
  ToolFilter,
  TransportType,
  UtcpMode,
} from "./tools/config/config.js";
export type { PauseReason, ToolContext, ToolProgress, ToolWait } from "./tools/options.js";
export {
  ToolAuthError,
  ToolClientError,
  ToolConnectionError,
  ToolNodeError,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
} from "./tools/errors.js";
export type { ErrorCategory, ToolErrorCode, ToolErrorDetails, ToolErrorDict } from "./tools/errors.js";
export type { ToolNodeEvent } from "./tools/options.js";
export type { ToolNodeOptions } from "./tools/options.js";
export { getPreset, PresetRegistry, presetNames, registerPreset } from "./tools/config/presets.js";
export { ToolRegistry } from "./tools/registry.js";
export type { ToolSpec } from "./tools/registry.js";
export type {
  ArtifactContent,
  ListedResource,
  ListedTemplate,
  ReadContent,
  TextContent,
} from "./tools/resources/connection.js";
export type { ResourceContent, ResourceReading } from "./tools/resources/cache.js";
export type { ResourceEvent } from "./tools/options.js";
export type { Listing } from "./tools/resources/connection.js";
export { fillTemplate, templateVariables } from "./tools/resources/templates.js";
export type { TemplateVariable } from "./tools/resources/templates.js";
export type { JsonSchema, LeftOutTool } from "./tools/source.js";
export type { CallTemplateType } from "./tools/config/config.js";
export type { ToolResult } from "./tools/options.js";
export type { Segment, TransformerContext } from "./tools/options.js";
export type { DisplayedFile, FileRefusal, ResultDisplay, UserFileHandling } from "./tools/user-files.js";
export { variablesOf } from "./tools/config/variables.js";
export type { Variables } from "./tools/config/variables.js";
