/**
 * A UTCP manual: the tools in it, whatever they are called by.
 * @module
 */
import type { ToolNodeError } from "../../errors.js";
import type { JsonSchema } from "../../source.js";
import { subjectOf } from "../../adapting/place.js";
import { unsupported, wrong } from "../../problem.js";
import { isObject, MAX_TOOLS, type Document } from "./document.js";

/** A tool in a manual, its call template not yet looked at. */
export interface ManualTool {
  /** Without the manual's name in front. */
  readonly name: string;
  readonly description: string;
  readonly inputs: JsonSchema;
  /** Null where the manual says nothing of it. */
  readonly outputs: JsonSchema | null;
  readonly template: Document;
  /** Where it stands in the manual. */
  readonly at: string;
  /** Begins the sentences of what is wrong with it. */
  readonly subject: string;
}

/** Schemas of the UTCP library, whose zod is another than ours. */
export interface Parser {
  safeParse(value: unknown): { success: true; data: unknown } | { success: false; error: { issues: readonly Issue[] } };
}

interface Issue {
  readonly path: readonly (string | number)[];
}

const MAX_NAME = 128;

/**
 * The tools that call templates of the given types call; others are of no use here, and a manual from elsewhere must not
 * start commands.
 *
 * @throws ToolNodeError E_TOOL_CONFIG that names the place where the manual is none, E_TOOL_UNSUPPORTED where it has only
 * tools of other types.
 */
export function manualTools(
  { tools }: Document,
  types: readonly string[],
  source: string,
  subject: string,
): readonly ManualTool[] {
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [];
  if (list.length > MAX_TOOLS)
    throw wrong(`${subject} has more than ${MAX_TOOLS} tools in its manual, which is too many.`);
  const others = new Set<string>();
  const names = new Set<string>();
  const found = list.flatMap((tool, index) => {
    const read = toolAt(tool, `tools[${index}]`, source, subject);
    const type = read.template["call_template_type"];
    if (typeof type !== "string") throw malformed(read.subject, `${read.at}.tool_call_template.call_template_type`);
    if (!types.includes(type)) {
      others.add(type.slice(0, 32).replace(/\W/g, "_"));
      return [];
    }
    if (names.has(read.name))
      throw wrong(`${read.subject} has the same name as another in its manual, at ${read.at}: rename one of them.`);
    names.add(read.name);
    return [read];
  });
  if (found.length === 0 && others.size > 0) throw noneOfUse(subject, [...others], types);
  return found;
}

/** Holds a value against a schema of the library. What is wrong is said by its place alone: values may be secrets. */
export function checked(schema: Parser, value: unknown, subject: string, at: string): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const path = result.error.issues[0]?.path ?? [];
  throw malformed(
    subject,
    path.reduce<string>((place, key) => `${place}.${String(key).slice(0, 64)}`, at),
  );
}

/** A manual that is none, or a tool of one, at the given place. */
function malformed(subject: string, at: string): ToolNodeError {
  return wrong(`${subject} is not what a UTCP manual says: ${at} is missing or not what it must be.`);
}

function toolAt(tool: unknown, at: string, source: string, subject: string): ManualTool {
  if (!isObject(tool)) throw malformed(subject, at);
  const { name, description, inputs, outputs, tool_call_template: template } = tool;
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME) throw malformed(subject, `${at}.name`);
  const own = name.startsWith(`${source}.`) ? name.slice(source.length + 1) : name;
  const named = subjectOf({ source, tool: own });
  if (!isObject(template)) throw malformed(named, `${at}.tool_call_template`);
  if (!isObject(inputs ?? {})) throw malformed(named, `${at}.inputs`);
  return {
    name: own,
    description: typeof description === "string" ? description : "",
    inputs: isObject(inputs) ? cleanSchema(inputs) : {},
    outputs: isObject(outputs) && Object.keys(outputs).length > 0 ? cleanSchema(outputs) : null,
    template,
    at,
    subject: named,
  };
}

/** Without the nulls that Python writes for keywords without a value. */
function cleanSchema(schema: JsonSchema): JsonSchema {
  const cleaned = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(cleaned);
    if (!isObject(node)) return node;
    const entries = Object.entries(node).filter(([key, value]) => value !== null || MAY_BE_NULL.has(key));
    return Object.fromEntries(entries.map(([key, value]) => [key, MAY_BE_NULL.has(key) ? value : cleaned(value)]));
  };
  return cleaned(schema) as JsonSchema;
}

const MAY_BE_NULL: ReadonlySet<string> = new Set(["default", "const", "enum", "examples", "example"]);

function noneOfUse(subject: string, others: readonly string[], types: readonly string[]): ToolNodeError {
  const told = others.slice(0, 5).join(", ");
  return unsupported(
    `${subject} has only tools of the type ${told} in its manual, which are not supported here: it takes ${types.join(" and ")}.`,
  );
}
