/**
 * The page that shows stored artifacts to a person, for hosts with MCP Apps (SEP-1865, revision 2026-01-26). Clients that do not
 * announce the extension never hear of it.
 * @module
 */
import { readPage } from "#app";
import { plainType } from "../../core/media-type.js";
import type { ArtifactRef } from "../../artifacts/store.js";
import { objectOr } from "../../jsonrpc/rpc.js";
import type { ToolDefinition } from "../artifact-reader/definition.js";
import type { ClientRequest } from "../client-request.js";

/** The extension in a client's capabilities. */
const EXTENSION = "io.modelcontextprotocol/ui";

/** The media type of apps, which clients announce. */
const APP_TYPE = "text/html;profile=mcp-app";

/** Where requests since 2026-07-28 carry the client's capabilities. */
const CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/** The name under which parts of artifacts carry what the page says of them. */
const ARTIFACT_META = "sluice/artifact";

/** A tool with the page that shows its results. */
interface ShownToolDefinition extends ToolDefinition {
  readonly _meta: { readonly ui: { readonly resourceUri: string }; readonly "ui/resourceUri": string };
}

/** The result of `resources/read` for the page. */
interface AppContents {
  readonly contents: readonly [
    { readonly uri: string; readonly mimeType: string; readonly text: string; readonly _meta: object },
  ];
}

/**
 * Whether the client of a request shows apps: capabilities are in `initialize`, and since 2026-07-28 in each request. Undefined if the
 * request does not tell.
 */
export function showsApps({ method, params }: ClientRequest): boolean | undefined {
  const told = method === "initialize" ? params["capabilities"] : objectOr(params["_meta"])[CLIENT_CAPABILITIES];
  if (told === undefined && method !== "initialize") return undefined;
  const { mimeTypes } = objectOr(objectOr(objectOr(told)["extensions"])[EXTENSION]);
  return Array.isArray(mimeTypes) && mimeTypes.includes(APP_TYPE);
}

/** The URI of the page. It has the namespace in it, so that a gateway tells several servers' pages apart. */
export function appUri(namespace: string): string {
  return `ui://sluice/${namespace}/artifact.html`;
}

/** Tools as hosts with apps list them. Older hosts read the second name. Unchanged if this build has no page. */
export async function withApp(tools: readonly ToolDefinition[], namespace: string): Promise<readonly ToolDefinition[]> {
  if ((await readPage()) === undefined) return tools;
  const uri = appUri(namespace);
  const meta = { ui: { resourceUri: uri }, "ui/resourceUri": uri };
  return tools.map(({ _meta: own, ...tool }): ShownToolDefinition => ({ ...tool, _meta: { ...own, ...meta } }));
}

/** The page. It declares no domains, so hosts let it load nothing. Undefined if this build has no page. */
export async function appContents(uri: string): Promise<AppContents | undefined> {
  const text = await readPage();
  if (text === undefined) return undefined;
  const ui = { csp: {}, permissions: { clipboardWrite: {} }, prefersBorder: false };
  return { contents: [{ uri, mimeType: APP_TYPE, text, _meta: { ui } }] };
}

/** What the page says of an artifact. Never its scope. */
export function artifactMeta(ref: ArtifactRef): object {
  const { id, mime_type, size_bytes, filename, sha256, namespace, source } = ref;
  const { tool, description } = source;
  return {
    [ARTIFACT_META]: {
      id,
      mime_type: plainType(mime_type) ?? null,
      size_bytes,
      filename,
      sha256,
      namespace,
      source: { ...(tool !== undefined && { tool }), ...(description !== undefined && { description }) },
    },
  };
}
