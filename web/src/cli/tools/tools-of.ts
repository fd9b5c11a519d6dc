/**
 * The tools of several sources, where one that fails costs the others nothing.
 * @module
 */
import { MemoryArtifactStore } from "../../artifacts/memory.js";
import type { ExternalToolConfig } from "../../tools/config.js";
import type { ToolSpec } from "../../tools/registry.js";
import { ConcurrencyLimit } from "../../tools/resilience/resilience.js";
import type { Terminal } from "../terminal.js";
import { usingSource } from "./using-source.js";

/** Sources that are connected to at a time: each may be a process. */
const MOST = 8;

/** What one source offers: its tools, or why they are not known. */
export interface Look {
  readonly tools: readonly ToolSpec[];
  readonly error?: unknown;
}

/** Looks at each source, and gives what it saw in their order. Throws the signal's reason, and nothing else. */
export async function toolsOf(
  sources: readonly ExternalToolConfig[],
  { signal, errors }: Pick<Terminal, "signal" | "errors">,
): Promise<readonly Look[]> {
  const limit = new ConcurrencyLimit(MOST);
  const store = new MemoryArtifactStore();
  const looks = sources.map((source) =>
    limit
      .run(() => usingSource(source, { store, signal, errors }, async (node) => node.getTools()), signal, {
        source: source.name,
      })
      .then((tools): Look => ({ tools }))
      .catch((error: unknown): Look => ({ tools: [], error })),
  );
  const seen = await Promise.all(looks);
  signal.throwIfAborted();
  return seen;
}
