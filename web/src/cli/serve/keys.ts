/**
 * `sluice serve --keys`: every key of its configuration with its type, default and effect.
 * @module
 */
import { z } from "zod";
import { configKeys, type ConfigKey, type SchemaNode } from "../config-keys.js";
import { SCHEMA } from "./schema.js";

/** The keys, in the order of the schema. What may be left out and has no default stands for nothing. */
export function serveKeys(): readonly ConfigKey[] {
  const schema = z.toJSONSchema(SCHEMA, { io: "input" }) as SchemaNode;
  const needed = new Set(neededKeys(schema, ""));
  return configKeys(schema).map((key) => ({
    ...key,
    default: key.default ?? (needed.has(key.key) ? undefined : "nothing"),
  }));
}

function neededKeys(node: SchemaNode, path: string): readonly string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, each]) => {
    const key = path === "" ? name : `${path}.${name}`;
    const below = [...neededKeys(each, key), ...neededKeys(each.items ?? {}, `${key}[]`)];
    return node.required?.includes(name) === true ? [key, ...below] : below;
  });
}
