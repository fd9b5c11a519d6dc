/**
 * dist/config.schema.json: what a configuration may hold, from what it is read by: the tables of the core and of
 * retention, and what doors say of their section. Beside it what else of the core's tables JavaScript needs.
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

/** The schema as it is published. */
export const SCHEMA = join(root, "dist/config.schema.json");

/** Writes the schema; `core` is what the core says of its keys. The library has to be compiled. */
export async function writeSchema(core) {
  const { RETENTION_KEYS } = await import("../dist/artifacts/retention/policy.js");
  const { DOOR_SCHEMA } = await import("../dist/mcp/door-config.js");
  const { properties, ...rest } = JSON.parse(readFileSync(core, "utf8"));
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of Sluice",
    ...rest,
    properties: { ...properties, retention: retention(RETENTION_KEYS), door: DOOR_SCHEMA },
  };
  writeChanged(SCHEMA, `${JSON.stringify(schema, null, 2)}\n`);
}

/** Writes the rules alone as a module, for what is checked where there is no core: `core` as above. */
export function writeCoreSchema(core, folder) {
  const text = JSON.stringify(rulesOf(JSON.parse(readFileSync(core, "utf8"))));
  writeModule(folder, "config-schema", `export const CORE_SCHEMA = ${text};\n`);
}

/** Writes the MIME types that are known by name as a module; `types` is what the core says of them. */
export function writeMediaTypes(types, folder) {
  writeModule(folder, "media-types", `export const MEDIA_TYPES = ${readFileSync(types, "utf8").trim()};\n`);
}

// The declarations are written by hand.
function writeModule(folder, name, text) {
  writeChanged(join(folder, `${name}.mjs`), text);
  const declarations = `${name}.d.mts`;
  writeChanged(join(folder, declarations), readFileSync(join(root, "web/src/core", declarations), "utf8"));
}

/** A schema without what is for people. */
function rulesOf(schema) {
  const { description: _, default: __, title: ___, ...rules } = schema;
  for (const inner of ["items", "additionalProperties", "propertyNames"]) {
    if (typeof rules[inner] === "object") rules[inner] = rulesOf(rules[inner]);
  }
  for (const inner of ["anyOf", "prefixItems"]) if (rules[inner]) rules[inner] = rules[inner].map(rulesOf);
  if (rules.properties) {
    const named = Object.entries(rules.properties).map(([name, value]) => [name, rulesOf(value)]);
    rules.properties = Object.fromEntries(named);
  }
  return rules;
}

// Unchanged files keep their time stamps: watchers and caches look at them.
function writeChanged(path, text) {
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}

/** @param {readonly import("../web/src/artifacts/retention/policy.ts").RetentionKey[]} keys */
function retention(keys) {
  return {
    description: "How long artifacts are kept, and how many of them.",
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(keys.map((row) => [row.key.replace("retention.", ""), shape(row)])),
  };
}

function shape({ description, default: standard, type, minimum, maximum, values }) {
  if (values !== undefined) return { description, default: standard, enum: values };
  const [first, ...others] = type.split(" or ");
  const types = others.length > 0 ? [first, ...others] : first;
  return { description, default: standard, type: types, minimum, maximum: maximum ?? Number.MAX_SAFE_INTEGER };
}
