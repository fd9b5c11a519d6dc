/**
 * The keys of the configuration with their types, defaults and effects, from its JSON Schema: what `sluice config` prints
 * and what the documentation shows.
 * @module
 */
import { readFile } from "node:fs/promises";
import type { Invocation } from "./commands.js";
import { CommandError, Exit } from "./exit.js";
import { textWidth, wrap } from "./help.js";
import { tabbedRow } from "./table.js";
import type { Output, Terminal } from "./terminal.js";

/** Written by the build from the tables that the configuration is read by. */
const SCHEMA = new URL("../config.schema.json", import.meta.url);

export async function run(invocation: Invocation, { output }: Terminal): Promise<number> {
  const schema = await readSchema();
  if (invocation.has("json")) await output.write(schema);
  else await printKeys(configKeys(JSON.parse(schema) as SchemaNode), output);
  return Exit.ok;
}

async function readSchema(): Promise<string> {
  try {
    return await readFile(SCHEMA, "utf8");
  } catch (error) {
    throw new CommandError(Exit.input, "the schema is missing from this installation: install mcp-sluice again", {
      cause: error,
    });
  }
}

/** Paragraphs for a person, tab-separated lines for a pipe. */
export async function printKeys(keys: readonly ConfigKey[], output: Output): Promise<void> {
  for (const key of keys) {
    const lines = output.isTerminal ? paragraph(key, output) : [tabbedRow(rowOf(key))];
    await output.write(`${lines.join("\n")}\n`);
  }
}

function rowOf({ key, type, default: standard, effect }: ConfigKey): string[] {
  return [key, type, standard ?? "", effect];
}

function paragraph({ key, type, default: standard, effect }: ConfigKey, output: Output): string[] {
  const kind = standard === undefined ? `${type}; required` : `${type}; default ${standard}`;
  const indented = (text: string): string[] => wrap(text, textWidth(output) - 2).map((line) => `  ${line}`);
  return [output.bold(key), ...indented(kind).map((line) => output.dim(line)), ...indented(effect), ""];
}

/** What of JSON Schema the configuration's schema uses. */
export interface SchemaNode {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly title?: string;
  readonly propertyNames?: SchemaNode;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
}

/** One key as a person reads of it. */
export interface ConfigKey {
  /** Whole path: `guardrail.max_field_chars`, `tool_fields.<tool>[].mime_type`. */
  readonly key: string;
  /** `integer, 256 to 10,000,000`, `"structured" or "content"`. */
  readonly type: string;
  /** The default as JSON text; nothing where the key has to be given. */
  readonly default: string | undefined;
  readonly effect: string;
}

/** Every key below a schema, in its order. Recursion is bounded by the schema, which is our own. */
export function configKeys(schema: SchemaNode, path = ""): ConfigKey[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, node]) => {
    const key = path === "" ? name : `${path}.${name}`;
    return [...(isSection(node) ? [] : [keyOf(key, node)]), ...nested(node, key)];
  });
}

/** A section holds keys and has no value of its own. */
function isSection(node: SchemaNode): boolean {
  return node.properties !== undefined;
}

function keyOf(key: string, node: SchemaNode): ConfigKey {
  const standard = node.default === undefined ? undefined : JSON.stringify(node.default);
  return { key, type: typeOf(node), default: standard, effect: node.description ?? "" };
}

/** Keys in the objects that a value may be or hold. */
function nested(node: SchemaNode, key: string): ConfigKey[] {
  const { additionalProperties, items, anyOf, propertyNames } = node;
  const name = `${key}.<${propertyNames?.title ?? "name"}>`;
  return [
    ...configKeys(node, key),
    ...(anyOf ?? []).flatMap((either) => nested(either, key)),
    ...(typeof additionalProperties === "object" ? nested(additionalProperties, name) : []),
    ...(items === undefined ? [] : nested(items, `${key}[]`)),
  ];
}

function typeOf(node: SchemaNode): string {
  if (node.anyOf !== undefined) return node.anyOf.map(typeOf).join(" or ");
  if (node.enum !== undefined) return node.enum.map((value) => JSON.stringify(value)).join(" or ");
  const types = [node.type ?? []].flat().map((type) => (type === "array" ? "list" : type));
  const bounds = boundsOf(node);
  return bounds === "" ? types.join(" or ") : `${types.join(" or ")}, ${bounds}`;
}

function boundsOf(node: SchemaNode): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, maxProperties } = node;
  return (
    range(minimum, maximum, "") ||
    range(minLength, maxLength, " characters") ||
    range(minItems, maxItems, " entries") ||
    range(undefined, maxProperties, " entries")
  );
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  const bounded = most === Number.MAX_SAFE_INTEGER ? undefined : most;
  const [from, to] = [least?.toLocaleString("en"), bounded?.toLocaleString("en")];
  if (from === undefined) return to === undefined ? "" : `at most ${to}${unit}`;
  return to === undefined ? `at least ${from}${unit}` : `${from} to ${to}${unit}`;
}
