/**
 * Tools by name, for everybody who offers tools to one model.
 * @module
 */
import type { ToolContext } from "./context.js";
import type { ToolNodeError } from "./errors.js";
import { wrong } from "./problem.js";
import type { JsonSchema } from "./source.js";
import type { ToolResult } from "./tool-answer.js";

/** A tool as a planner takes it (ToolNode 2.1 `NodeSpec`). */
export interface ToolSpec {
  /** `{namespace}.{tool}`; unique in a registry. Models' APIs mostly take no dot: map it, and back by the registry. */
  readonly name: string;
  /** What it does, in the source's words; empty where the source says nothing. */
  readonly description: string;
  /** What its arguments must be. */
  readonly input_schema: JsonSchema;
  /** What the source says of its results; left out where it says nothing. */
  readonly output_schema?: JsonSchema;
  /** What calling it may do: `read` only looks, `external` may change something elsewhere. */
  readonly side_effects: "read" | "external";
  /** The transport and the namespace, then `resources` or `artifacts` for a tool that reads those of the source. */
  readonly tags: readonly string[];
  /** Where it comes from. */
  readonly extra: {
    /** The transport, such as `mcp`. */
    readonly source: string;
    /** The source's name, which is the prefix of the tool's. */
    readonly namespace: string;
  };
  /** Calls it, as `call` of a ToolNode does. The observation is `text`. */
  readonly call: (args: Readonly<Record<string, unknown>>, context?: ToolContext) => Promise<ToolResult>;
}

/** Tools that share one space of names. */
export class ToolRegistry {
  readonly #tools = new Map<string, ToolSpec>();

  /** Throws a ToolNodeError when one of the names is taken; then none of them is registered. */
  register(tools: readonly ToolSpec[]): void {
    const names = new Set<string>();
    for (const { name } of tools) {
      if (this.#tools.has(name) || names.has(name)) throw taken(name);
      names.add(name);
    }
    for (const tool of tools) this.#tools.set(tool.name, tool);
  }

  /** Forgets tools; those that are not there are none of its business. */
  remove(names: Iterable<string>): void {
    for (const name of names) this.#tools.delete(name);
  }

  /** The tool of a name; undefined where there is none. */
  find(name: string): ToolSpec | undefined {
    return this.#tools.get(name);
  }

  /** In the order in which they were registered. */
  list(): readonly ToolSpec[] {
    return [...this.#tools.values()];
  }
}

function taken(name: string): ToolNodeError {
  return wrong(`The tool name ${JSON.stringify(name)} is taken by another tool: give one of the sources another name.`);
}
