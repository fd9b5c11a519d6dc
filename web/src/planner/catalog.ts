/**
 * All tools of a planner, wherever they come from, under the names that a model may call them by.
 * @module
 */
import { fullScope } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import type { ToolNodeEvent } from "../tools/options.js";
import { ToolRegistry, type ToolSpec } from "../tools/registry.js";
import { distinct } from "./call.js";
import type { PlannerEvent } from "./event.js";
import type { LlmTool } from "./llm/client.js";
import type { NativeTool } from "./tool.js";

/** Where tools come from. Those of a ToolNode or a registry are the ones that it has at the moment of each step. */
export type CatalogSource = NativeTool | ToolSpec | ToolRegistry | ToolProvider;

/** What offers tools, as a ToolNode does. */
export interface ToolProvider {
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

/**
 * The tools that there are now.
 *
 * @throws SluiceError E_INVALID_ARGUMENT where two tools have one name.
 */
export function listed(sources: readonly CatalogSource[]): Listed {
  const byName = new Map<string, CatalogTool>();
  for (const tool of sources.flatMap(toolsOf)) {
    if (byName.has(tool.name)) throw twice(tool.name);
    byName.set(tool.name, tool);
  }
  const wire = wireNames([...byName.keys()]);
  const byWire = new Map(Array.from(wire, ([name, wired]) => [wired, byName.get(name)]));
  const tools = Array.from(byName.values(), (tool) => ({
    name: wire.get(tool.name) as string,
    description: tool.description,
    inputSchema: tool.kind === "native" ? tool.inputSchema : tool.input_schema,
  }));
  return { tools, names: [...byName.keys()], find: (name) => byWire.get(name) ?? byName.get(name) };
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

const MOST = 64;
const DIGITS = 6;

/**
 * A name for each name, and none twice. It depends on all of the names, so that the same catalog gives the same names in every process;
 * one that would be another's, or is too long, ends in a few digits of its own.
 */
export function wireNames(names: readonly string[]): ReadonlyMap<string, string> {
  const plain = new Map(names.map((name) => [name, name.replaceAll(/[^\w-]/g, "_")]));
  const count = new Map<string, number>();
  for (const wire of plain.values()) count.set(wire, (count.get(wire) ?? 0) + 1);
  const taken = new Set<string>();
  const made = new Map<string, string>();
  for (const [name, wire] of plain) {
    const isOwn = wire.length <= MOST && (wire === name || count.get(wire) === 1);
    made.set(name, distinct(isOwn ? wire : marked(wire, name), MOST, taken));
  }
  return made;
}

function marked(wire: string, name: string): string {
  return `${wire.slice(0, MOST - DIGITS - 1)}_${digitsOf(name)}`;
}

/** FNV-1a: names are told apart by it, nothing is kept secret. */
function digitsOf(name: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0").slice(0, DIGITS);
}

/** Tells a run of resources that change, those of whoever it is for. Gives back what ends it. */
export function listening(
  catalog: readonly CatalogSource[],
  scope: ArtifactScope,
  tell: (event: PlannerEvent) => void,
): () => void {
  const hear = (event: ToolNodeEvent): void => {
    if (event.kind !== "resource" || event.event.kind !== "updated") return;
    const { namespace: source, uri, scope: told } = event.event;
    if (told === undefined || isSameUser(told, scope)) tell({ kind: "resource_updated", source, uri });
  };
  const ends = catalog.map((source) => ("getTools" in source ? source.listen?.(hear) : undefined));
  return () => ends.forEach((end) => end?.());
}

function isSameUser(one: ArtifactScope, other: ArtifactScope): boolean {
  const [left, right] = [fullScope(one), fullScope(other)];
  return left.tenant_id === right.tenant_id && left.user_id === right.user_id;
}
