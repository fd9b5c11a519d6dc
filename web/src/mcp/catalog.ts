/**
 * What a server's lists told of its tools.
 * @module
 */
import { objectOr, stringOr } from "./rpc.js";

/** What matters of a tool. */
export interface ListedTool {
  readonly name: string;
  readonly inputSchema: unknown;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** Tools that are remembered. */
const MAX_TOOLS = 4096;

/** Tools by name, as they were listed last. */
export class Catalog {
  readonly #tools = new Map<string, ListedTool>();

  /** Notes the tools of a `tools/list` result. */
  note(tools: unknown): void {
    if (!Array.isArray(tools)) return;
    for (const tool of tools as unknown[]) {
      const { name, inputSchema, _meta } = objectOr(tool);
      if (typeof name !== "string" || this.#tools.size >= MAX_TOOLS) continue;
      this.#tools.set(name, { name, inputSchema, meta: objectOr(_meta) });
    }
  }

  find(name: string | undefined): ListedTool | undefined {
    return name === undefined ? undefined : this.#tools.get(name);
  }

  /** Whether a tool answers the app of a host, and never its model (MCP Apps, `visibility: ["app"]`). */
  isAppOnly(name: string | undefined): boolean {
    const { visibility } = objectOr(this.find(name)?.meta["ui"]);
    return Array.isArray(visibility) && visibility.length > 0 && visibility.every((who) => stringOr(who) === "app");
  }
}
