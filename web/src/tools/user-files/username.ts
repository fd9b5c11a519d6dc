/**
 * The argument `username`: who asks is not for a model to say (user storage §3.1, §9.2).
 * @module
 */
import type { JsonSchema } from "../source.js";

/** What the argument is called; no other name is looked for. */
export const USERNAME: string = "username";

/** Whether a tool takes it. */
export function takesUsername(schema: JsonSchema): boolean {
  const { properties } = schema;
  return isObject(properties) && Object.hasOwn(properties, USERNAME);
}

/** The schema as a model sees it: an argument that is always overwritten is none to fill in. */
export function withoutUsername(schema: JsonSchema): JsonSchema {
  const { properties, required } = schema;
  if (!isObject(properties) || !takesUsername(schema)) return schema;
  const { [USERNAME]: _, ...others } = properties;
  if (!Array.isArray(required)) return { ...schema, properties: others };
  return { ...schema, properties: others, required: required.filter((name) => name !== USERNAME) };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
