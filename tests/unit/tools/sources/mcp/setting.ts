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
import { mcpSource, type McpHttpDeps } from "../../../../../web/src/tools/sources/mcp/http.js";
import { mcpStdioSource, type McpStdioDeps } from "../../../../../web/src/tools/sources/mcp/stdio.js";
import { serverScript, type ScriptDeps } from "./server-script.js";

/** A gate, its store, and what was said unasked. */
export interface Setting {
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
  readonly notices: SourceNotice[];
}

export async function setting(store: ArtifactStore = new MemoryArtifactStore({ retention: null })): Promise<Setting> {
  return { store, sluice: await createSluice({ store }), notices: [] };
}

export function over(at: Setting, deps: Omit<McpHttpDeps, "name" | "sluice" | "store">): ToolSource {
  return mcpSource({ name: "fix", ...at, ...deps });
}

export function processSource(at: Setting, deps: Omit<McpStdioDeps, "name" | "sluice" | "store">): ToolSource {
  return mcpStdioSource({ name: "fix", ...at, ...deps });
}

/** A server whose program is given as text. */
export function scripted(at: Setting, script: string, deps: Partial<McpStdioDeps> = {}): ToolSource {
  const argv = [process.execPath, "--input-type=module", "-e", script] as const;
  return processSource(at, { argv, ...deps });
}

/** A connection to a server of a few lines. */
export async function serving(deps: ScriptDeps, at?: Setting): Promise<SourceConnection> {
  const own = at ?? (await setting());
  return opened(scripted(own, serverScript(deps)), own);
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
