/**
 * Fields of results that are for the host and not for the model: those whose schema says `artifact: true` (RFC 0.3 §5.1).
 * @module
 */
import { isByteSource } from "../core/value.js";
import type { JsonSchema } from "../tools/source.js";

/** What stands in their place. */
const KEPT = "(kept by the planner, not shown)";
const MAX_DEPTH = 16;

/** A result in two parts. */
export interface Parted {
  /** For the model. */
  readonly shown: unknown;
  /** By the path of the field: `totals`, `report.pages`. */
  readonly kept: Readonly<Record<string, unknown>>;
}

/** Takes marked fields out of a result. What does not look as its schema says stays as it is. */
export function parted(value: unknown, schema: JsonSchema | undefined): Parted {
  const kept: Record<string, unknown> = {};
  const shown = schema === undefined ? value : part(value, schema, [], kept);
  return { shown, kept };
}

/** Whether a schema marks any field. */
export function hasMarks(schema: JsonSchema | undefined, depth = 0): boolean {
  if (schema === undefined || depth > MAX_DEPTH) return false;
  return schema["artifact"] === true || Object.values(propertiesOf(schema)).some((each) => hasMarks(each, depth + 1));
}

function part(value: unknown, schema: JsonSchema, path: readonly string[], kept: Record<string, unknown>): unknown {
  if (schema["artifact"] === true && path.length > 0) {
    kept[path.join(".")] = value;
    return KEPT;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value) || path.length > MAX_DEPTH) return value;
  const properties = propertiesOf(schema);
  if (Object.keys(properties).length === 0 || isByteSource(value)) return value;
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => {
    const its = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, its === undefined ? each : part(each, its, [...path, name], kept)];
  });
  return Object.fromEntries(entries);
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  const { properties } = schema;
  if (typeof properties !== "object" || properties === null) return {};
  return Object.fromEntries(Object.entries(properties).filter(([, each]) => typeof each === "object" && each !== null));
}
