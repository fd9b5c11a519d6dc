/**
 * What the build makes of the configuration's schema: the schema as it is published, its rules for the library, and its types.
 *
 * The core says what it reads itself. `web/src/config/retention.json` and `interceptor.json` say the two sections that the
 * library reads.
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

/** @typedef {import("../web/src/config/schema.mjs").ConfigSchema & { description?: string }} Schema */

/** The whole schema, from the file that the core's program wrote. */
export function readSchema(core) {
  const { properties, ...rest } = JSON.parse(readFileSync(core, "utf8"));
  const { properties: keys, ...retention } = readSection("retention");
  const published = Object.entries(keys).map(([key, { limit: _, ...schema }]) => [key, schema]);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of Sluice",
    ...rest,
    properties: {
      ...properties,
      retention: { ...retention, properties: Object.fromEntries(published) },
      interceptor: readSection("interceptor"),
    },
  };
}

const readSection = (name) => JSON.parse(readFileSync(join(root, `web/src/config/${name}.json`), "utf8"));

/** What the keys of `retention` that are limits count. The keyword is our own, so it is not published. */
function retentionLimits() {
  return Object.entries(readSection("retention").properties).flatMap(([key, { limit }]) =>
    limit === undefined ? [] : [{ key, once: false, ...limit }],
  );
}

/** The module `web/src/config/schema.mjs`: the rules of each section, and the defaults of those that the library reads. */
export function schemaModule({ properties: { retention, interceptor, ...core } }) {
  const sections = Object.keys({ ...core, retention, interceptor });
  const constants = {
    SECTIONS: sections,
    CORE_SCHEMA: rulesOf({ properties: core }, ["default"]),
    RESOURCES_SCHEMA: rulesOf(core.resources, []),
    MAX_INLINE_SIZE: core.max_inline_size.default,
    MIN_SIZE_FOR_DETECTION: core.binary_detection.properties.min_size_for_detection.default,
    MAX_OBSERVATION_CHARS: core.guardrail.properties.max_observation_chars.default,
    RETENTION_SCHEMA: rulesOf(retention, []),
    RETENTION_LIMITS: retentionLimits(),
    INTERCEPTOR_SCHEMA: rulesOf(interceptor, []),
  };
  const lines = Object.entries(constants).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`);
  return lines.join("");
}

/** A schema without what is for people, and without the keywords that are left out. */
function rulesOf(schema, without) {
  const dropped = ["description", "title", ...without];
  const rules = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !dropped.includes(keyword)));
  for (const inner of ["items", "additionalProperties", "propertyNames"]) {
    if (typeof rules[inner] === "object") rules[inner] = rulesOf(rules[inner], without);
  }
  for (const inner of ["anyOf", "prefixItems"]) {
    if (rules[inner]) rules[inner] = rules[inner].map((each) => rulesOf(each, without));
  }
  if (rules.properties) {
    const named = Object.entries(rules.properties).map(([name, value]) => [name, rulesOf(value, without)]);
    rules.properties = Object.fromEntries(named);
  }
  return rules;
}

/** Names of the types that are not called after their key. */
const NAMES = { "": "SluiceConfig", "tool_fields[]": "ToolFieldConfig", "interceptor.share[]": "ShareRule" };

const SUMMARIES = {
  "": "What can be configured. Every key may be left out; unknown keys and wrong values are refused with their path.",
  "tool_fields[]": "A place in the results of one tool that holds an artifact.",
  inline_media: "Which images stay in place.",
  "interceptor.share[]": "A tool may be given artifacts that came from another server.",
};

/** The file `web/src/config/types.ts`: an interface for each object of the schema. */
export function typesFile(schema) {
  const interfaces = [];
  addInterface(schema, "", interfaces);
  const head = "/**\n * The types of the configuration, written by the build from its schema.\n * @module\n */\n";
  return head + interfaces.join("");
}

function addInterface(schema, path, interfaces) {
  const at = interfaces.push("") - 1;
  const members = Object.entries(schema.properties).map(([key, value]) => {
    const place = path === "" ? key : `${path}.${key}`;
    const mark = schema.required?.includes(key) === true ? "" : "?";
    const standard = value.default === undefined ? [] : [`@defaultValue \`${JSON.stringify(value.default)}\``];
    const type = typeOf(value, place, interfaces);
    return `${comment([...wrapped(value.description, 114), ...standard], "  ")}  readonly ${key}${mark}: ${type};\n`;
  });
  const text = comment(wrapped(SUMMARIES[path] ?? schema.description, 116), "");
  interfaces[at] = `\n${text}export interface ${nameOf(path)} {\n${members.join("")}}\n`;
  return nameOf(path);
}

const nameOf = (path) => NAMES[path] ?? `${path.replace(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase())}Config`;

function typeOf(schema, path, interfaces) {
  const { anyOf, enum: values, type, items, prefixItems, properties, additionalProperties } = schema;
  const inner = (each, place = path) => typeOf(each, place, interfaces);
  if (anyOf) return anyOf.map((each) => inner(each)).join(" | ");
  if (values) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(type)) return type.map((each) => inner({ ...schema, type: each })).join(" | ");
  if (properties) return addInterface(schema, path, interfaces);
  if (prefixItems) return `readonly [${prefixItems.map((each) => inner(each)).join(", ")}]`;
  if (type === "object") return `Readonly<Record<string, ${inner(additionalProperties)}>>`;
  if (type === "array") return `readonly ${inner(items, `${path}[]`)}[]`;
  return type === "integer" ? "number" : type;
}

function comment(text, indent) {
  if (text.length === 1) return `${indent}/** ${text[0]} */\n`;
  return `${indent}/**\n${text.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

/** A text in lines of at most so many characters. */
function wrapped(text, width) {
  const all = [""];
  for (const word of text.replaceAll("*/", "*\\/").split(" ")) {
    const line = all.at(-1);
    if (line === "") all[all.length - 1] = word;
    else if (line.length + 1 + word.length > width) all.push(word);
    else all[all.length - 1] = `${line} ${word}`;
  }
  return all;
}
