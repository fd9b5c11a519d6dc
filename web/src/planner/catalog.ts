/**
 * All tools of a planner, wherever they come from, under the names that a model may call them by.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { ToolNodeEvent } from "../tools/event.js";
import { ToolRegistry, type ToolSpec } from "../tools/registry.js";
import type { JsonSchema } from "../tools/source.js";
import type { LlmTool } from "./llm/client.js";
import type { NativeTool } from "./tool.js";
import { wireNames } from "./wire-names.js";

/** Where tools come from. Those of a ToolNode or a registry are the ones that it has at the moment of each step. */
export type CatalogSource = NativeTool | ToolSpec | ToolRegistry | OffersTools;

/** What offers tools, as a ToolNode does. */
export interface OffersTools {
  /** Those that it offers at the moment. */
  getTools(): readonly ToolSpec[];
  /** Has somebody told of what happens at the source; gives back what ends it. Left out where nothing is told. */
  listen?(listener: (event: ToolNodeEvent) => void): () => void;
}

/** One tool. */
export type CatalogTool = NativeTool | (ToolSpec & { readonly kind?: undefined });

/** The tools at one moment. */
export interface Listed {
  /** As the model is told of them. */
  readonly tools: readonly LlmTool[];
  /** By the name that the model wrote, which may be the catalog's own; undefined where there is none. */
  find(name: string): CatalogTool | undefined;
  /** The names in the catalog, for those who look for one that there is not. */
  readonly names: readonly string[];
}

/** Tools of several sources. */
export class Catalog {
  readonly #sources: readonly CatalogSource[];

  constructor(sources: readonly CatalogSource[]) {
    this.#sources = sources;
  }

  /**
   * What there is now.
   *
   * @throws SluiceError E_INVALID_ARGUMENT where two tools have one name.
   */
  list(): Listed {
    const byName = new Map<string, CatalogTool>();
    for (const tool of this.#sources.flatMap(toolsOf)) {
      if (byName.has(tool.name)) throw twice(tool.name);
      byName.set(tool.name, tool);
    }
    const wire = wireNames([...byName.keys()]);
    const byWire = new Map(Array.from(wire, ([name, wired]) => [wired, byName.get(name)]));
    const tools = Array.from(byName.values(), (tool) => ({
      name: wire.get(tool.name) as string,
      description: tool.description,
      inputSchema: inputOf(tool),
    }));
    return { tools, names: [...byName.keys()], find: (name) => byWire.get(name) ?? byName.get(name) };
  }
}

/** What a tool's results are said to be; undefined where nothing is said. */
export function outputOf(tool: CatalogTool): JsonSchema | undefined {
  return tool.kind === "native" ? tool.outputSchema : tool.output_schema;
}

function inputOf(tool: CatalogTool): JsonSchema {
  return tool.kind === "native" ? tool.inputSchema : tool.input_schema;
}

function toolsOf(source: CatalogSource): readonly CatalogTool[] {
  if (source instanceof ToolRegistry) return source.list();
  if ("getTools" in source) return source.getTools();
  return [source];
}

function twice(name: string): SluiceError {
  const remedy = "rename one of them, or give one of the sources another name";
  return new SluiceError("E_INVALID_ARGUMENT", `The catalog has two tools named ${JSON.stringify(name)}: ${remedy}.`, {
    path: "catalog",
  });
}
