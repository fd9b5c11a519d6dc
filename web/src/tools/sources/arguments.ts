/**
 * A call's arguments held against a tool's input schema, before anything is sent: which there are, not what they hold.
 * @module
 */
import { nearest } from "../../errors/nearest.js";
import { quoted } from "../adapting/place.js";
import { ToolClientError } from "../errors.js";
import type { JsonSchema } from "../source.js";
import { isObject } from "./utcp/document.js";

/** Names that one sentence tells. */
const MAX_TOLD = 10;
/** Characters of a name that may be meant by another. */
const MAX_NAME = 64;

/**
 * Checks that a tool takes what it is given, and is given what it needs. null is no value.
 *
 * @param subject begins the sentences of errors.
 * @param hasDefaults whether the schema's defaults stand for what is missing.
 * @throws ToolClientError that names the argument and what the tool takes.
 */
export function checkArguments(
  args: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  subject: string,
  hasDefaults: boolean = false,
): void {
  const unknown = isOpen(schema) ? undefined : Object.keys(args).find((name) => propertyOf(schema, name) === undefined);
  if (unknown !== undefined) throw unknownArgument(unknown, schema, subject);
  const { required } = schema;
  for (const name of Array.isArray(required) ? (required as unknown[]) : []) {
    if (typeof name !== "string" || (hasDefaults && propertyOf(schema, name)?.["default"] !== undefined)) continue;
    if (!Object.hasOwn(args, name) || args[name] === undefined || args[name] === null) {
      throw missingArgument(name, schema, subject);
    }
  }
}

/** What a schema says of one argument; undefined where it does not name it. */
export function propertyOf({ properties }: JsonSchema, name: string): JsonSchema | undefined {
  if (!isObject(properties) || !Object.hasOwn(properties, name)) return undefined;
  const property = properties[name];
  return isObject(property) ? property : {};
}

/** An argument that a tool needs and was not given, said. */
export function missingArgument(name: string, schema: JsonSchema, subject: string): ToolClientError {
  return new ToolClientError(`${subject} needs the argument ${quoted(name)}, which was not given: ${taken(schema)}.`);
}

/** An argument that a tool does not know, said. */
export function unknownArgument(name: string, schema: JsonSchema, subject: string): ToolClientError {
  const likely = namesIn(schema).slice(0, 1000);
  const meant = nearest(
    name.slice(0, MAX_NAME),
    likely.filter((one) => one.length <= MAX_NAME),
  );
  const remedy = meant === undefined ? `${taken(schema)}.` : `did you mean ${quoted(meant)}?`;
  return new ToolClientError(`${subject} takes no argument ${quoted(name)}: ${remedy}`);
}

/** Whether arguments that the schema does not name are anybody's business. Patterns of others are not run. */
function isOpen({ additionalProperties, patternProperties }: JsonSchema): boolean {
  return additionalProperties !== false || (isObject(patternProperties) && Object.keys(patternProperties).length > 0);
}

function taken(schema: JsonSchema): string {
  const names = namesIn(schema);
  const told = names.slice(0, MAX_TOLD).map((name) => quoted(name));
  if (told.length === 0) return isOpen(schema) ? "give it" : "it takes none";
  return `it takes ${told.join(", ")}${names.length > MAX_TOLD ? ", …" : ""}`;
}

function namesIn({ properties }: JsonSchema): readonly string[] {
  return isObject(properties) ? Object.keys(properties) : [];
}

/** A value as it is written into an address, a header or a word: strings as they are, all else as JSON. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
