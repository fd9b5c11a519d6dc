/**
 * Connections to MCP servers over either transport, with a gate and a store.
 * @module
 */
import { createHash } from "node:crypto";
import { MemoryArtifactStore } from "../../../../../web/src/artifacts/memory.js";
import type { ArtifactStore } from "../../../../../web/src/artifacts/store.js";
import { createSluice } from "../../../../../web/src/index.js";
import type { Sluice, Transformed } from "../../../../../web/src/core/sluice.js";
import type {
  Authorize,
  OpenOptions,
  SourceConnection,
  SourceNotice,
  ToolSource,
} from "../../../../../web/src/tools/source.js";
import { mcpSource, type McpHttpTerms } from "../../../../../web/src/tools/sources/mcp.js";
import { mcpStdioSource, type McpStdioTerms } from "../../../../../web/src/tools/sources/mcp-stdio.js";
import { serverScript, type ScriptTerms } from "./server-script.js";

/** A gate, its store, and what was said unasked. */
export interface Setting {
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
  readonly notices: SourceNotice[];
}

export async function setting(store: ArtifactStore = new MemoryArtifactStore({ retention: null })): Promise<Setting> {
  return { store, sluice: await createSluice({ store }), notices: [] };
}

export function over(at: Setting, terms: Omit<McpHttpTerms, "name" | "sluice" | "store">): ToolSource {
  return mcpSource({ name: "fix", ...at, ...terms });
}

export function process(at: Setting, terms: Omit<McpStdioTerms, "name" | "sluice" | "store">): ToolSource {
  return mcpStdioSource({ name: "fix", ...at, ...terms });
}

/** A server whose program is given as text. */
export function scripted(at: Setting, script: string, terms: Partial<McpStdioTerms> = {}): ToolSource {
  const argv = [globalThis.process.execPath, "--input-type=module", "-e", script] as const;
  return process(at, { argv, ...terms });
}

/** A connection to a server of a few lines. */
export async function serving(terms: ScriptTerms, at?: Setting): Promise<SourceConnection> {
  const own = at ?? (await setting());
  return opened(scripted(own, serverScript(terms)), own);
}

export async function opened(
  source: ToolSource,
  at: Setting,
  options: { readonly authorize?: Authorize; readonly signal?: AbortSignal } = {},
): Promise<SourceConnection> {
  const all: OpenOptions = {
    authorize: async () => ({}),
    signal: AbortSignal.timeout(20_000),
    onNotice: (notice) => at.notices.push(notice),
    ...options,
  };
  return source.open(all);
}

export { called as call } from "../api.js";

/** The SHA-256 of the only artifact of a result, read back from the store. */
export async function hashOf({ artifacts }: Transformed, { store }: Setting): Promise<string> {
  const ids = new Set(artifacts.map(({ id }) => id));
  const [ref] = artifacts;
  if (ref === undefined || ids.size !== 1) throw new Error(`${ids.size} artifacts, not one`);
  const bytes = await store.get(ref.id, ref.scope);
  return createHash("sha256")
    .update(bytes ?? "")
    .digest("hex");
}

/** Waits until something is there. */
export async function until<T>(look: () => T | undefined): Promise<T> {
  for (let waited = 0; waited < 10_000; waited += 5) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("waited in vain");
}
