/**
 * A configuration held against its schema. What the core reads is checked here too, since the core is loaded
 * asynchronously and a mistake should be told where it was made.
 * @module
 */
import { alternatives, nearest } from "../errors/arguments.js";
import { SluiceError } from "../errors/error.js";
import { type ConfigSchema, CORE_SCHEMA, SECTIONS } from "./schema.mjs";

/** Characters of a key that an error repeats. */
const MAX_SHOWN = 64;

/**
 * Checks the names of a configuration's sections. The reader of a section checks what is in it.
 *
 * @throws SluiceError E_CONFIG_KEY that names the section which was probably meant, or else all there are.
 */
export function checkSections(config: object): void {
  // A member without a value is absent, as in JSON.
  const other = Object.entries(config).find(([name, value]) => value !== undefined && !SECTIONS.includes(name));
  if (other === undefined) return;
  const path = Array.from(other[0].slice(0, 2 * MAX_SHOWN))
    .slice(0, MAX_SHOWN)
    .join("");
  const meant = nearest(path.toLowerCase().replaceAll("-", "_"), SECTIONS);
  const remedy =
    meant === undefined
      ? `the keys are ${SECTIONS.slice(0, -1).join(", ")} and ${SECTIONS.at(-1)}`
      : `did you mean ${meant}?`;
  throw new SluiceError("E_CONFIG_KEY", `${path} is not a configuration key; ${remedy}`, { path });
}

/**
 * Checks a section that the library reads, and fills in its defaults.
 *
 * @throws SluiceError E_CONFIG_KEY or E_CONFIG_VALUE with the path of the key, such as `retention.ttl_seconds`.
 */
export function readSettings(section: unknown, schema: ConfigSchema, path: string): object {
  check(section, schema, path);
  const settings = Object.entries(schema.properties ?? {}).map(([name, { default: standard }]) => {
    const given: unknown = Reflect.get(section as object, name);
    return [name, given === undefined ? standard : given];
  });
  return Object.fromEntries(settings) as object;
}

/**
 * Checks the sections that the core reads; others are left alone. The core does the same once it is loaded.
 *
 * @throws SluiceError E_CONFIG_KEY or E_CONFIG_VALUE with the path that the core would name.
 */
export function checkCoreConfig(config: object): void {
  for (const [name, schema] of Object.entries(CORE_SCHEMA.properties ?? {})) {
    const value: unknown = Reflect.get(config, name);
    if (value !== undefined) check(value, schema, name);
  }
}

function check(value: unknown, schema: ConfigSchema, path: string): void {
  if (schema.anyOf !== undefined) {
    const fits = schema.anyOf.find(
      (each) => listTypes(each).includes(nameType(value)) || each.enum?.includes(value) === true,
    );
    if (fits === undefined) throw wrong(path, schema);
    check(value, fits, path);
    return;
  }
  if (schema.enum === undefined && !isOfType(value, listTypes(schema))) throw wrong(path, schema);
  if (!isWithin(value, schema)) throw wrong(path, schema);
  if (Array.isArray(value)) checkItems(value, schema, path);
  else if (typeof value === "object" && value !== null) checkMembers(value, schema, path);
}

/** Names the list where its items are plain values, as the core does. */
function checkItems(list: readonly unknown[], schema: ConfigSchema, path: string): void {
  for (const [at, item] of list.entries()) {
    const its = schema.prefixItems?.[at] ?? schema.items;
    if (its !== undefined) check(item, its, listTypes(its).includes("object") ? `${path}[${at}]` : path);
  }
}

function checkMembers(members: object, schema: ConfigSchema, path: string): void {
  const { properties = {}, additionalProperties, propertyNames, required = [] } = schema;
  for (const [name, value] of Object.entries(members) as [string, unknown][]) {
    if (value === undefined) continue;
    const at = `${path}.${name.slice(0, MAX_SHOWN)}`;
    const its = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (its === false || its === undefined) throw unknown(at, path, Object.keys(properties));
    if (propertyNames !== undefined && !isWithin(name, propertyNames)) throw wrongName(path, schema, propertyNames);
    check(value, its, at);
  }
  for (const name of required) {
    if (Reflect.get(members, name) === undefined) throw wrong(`${path}.${name}`, properties[name] ?? {});
  }
}

function isWithin(value: unknown, schema: ConfigSchema): boolean {
  if (schema.enum?.includes(value) === false) return false;
  const { minimum = -Infinity, maximum = Infinity, minLength = 0, maxLength = Infinity, pattern } = schema;
  if (typeof value === "number") return value >= minimum && value <= maximum;
  if (typeof value === "string") {
    const chars = Array.from(value).length;
    return chars >= minLength && chars <= maxLength && (pattern === undefined || new RegExp(pattern, "u").test(value));
  }
  const { minItems = 0, maxItems = Infinity, maxProperties = Infinity } = schema;
  if (Array.isArray(value)) return value.length >= minItems && value.length <= maxItems;
  return typeof value !== "object" || value === null || Object.keys(value).length <= maxProperties;
}

function listTypes({ type = [] }: ConfigSchema): readonly string[] {
  return typeof type === "string" ? [type] : type;
}

function isOfType(value: unknown, types: readonly string[]): boolean {
  return types.includes(nameType(value)) || (types.includes("number") && nameType(value) === "integer");
}

function nameType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && Number.isSafeInteger(value) ? "integer" : typeof value;
}

function unknown(path: string, parent: string, known: readonly string[]): SluiceError {
  const meant = nearest(path.slice(parent.length + 1).toLowerCase(), known);
  const remedy =
    meant === undefined ? `the keys of ${parent} are ${known.join(", ")}` : `did you mean ${parent}.${meant}?`;
  return new SluiceError("E_CONFIG_KEY", `${path} is not a configuration key; ${remedy}`, { path });
}

function wrong(path: string, schema: ConfigSchema): SluiceError {
  return new SluiceError("E_CONFIG_VALUE", `${path} must be ${describeExpected(schema)}.`, { path });
}

function wrongName(path: string, schema: ConfigSchema, names: ConfigSchema): SluiceError {
  const sentence = `${path} must be ${describeExpected(schema)}, each named by ${describeExpected({ type: "string", ...names })}.`;
  return new SluiceError("E_CONFIG_VALUE", sentence, { path });
}

/** What a value must be, in words that go on behind "must be". */
function describeExpected(schema: ConfigSchema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(describeExpected).join(" or ");
  if (schema.enum !== undefined) return alternatives(schema.enum.map((each) => JSON.stringify(each)));
  return listTypes(schema)
    .map((type) => describeExpectedType(type, schema))
    .join(" or ");
}

function describeExpectedType(
  type: string,
  { minimum, maximum, maxLength, maxItems, maxProperties, pattern, examples }: ConfigSchema,
): string {
  const [example] = examples ?? [];
  const form = example === undefined ? ` that matches ${pattern}` : ` such as ${JSON.stringify(example)}`;
  switch (type) {
    case "boolean":
      return "true or false";
    case "integer":
    case "number":
      return `${type === "integer" ? "an integer" : "a number"} ${range(minimum, maximum)}`;
    case "string":
      return `a string${atMost(maxLength, "characters")}${pattern === undefined ? "" : form}`;
    case "array":
      return `a list${atMost(maxItems, "entries")}`;
    case "object":
      return `an object${atMost(maxProperties, "members")}`;
    default:
      return type;
  }
}

function atMost(number: number | undefined, of: string): string {
  return number === undefined ? "" : ` of at most ${groupDigits(number)} ${of}`;
}

/** The largest safe integer is no limit that anybody set. */
function range(minimum: number | undefined, maximum: number | undefined): string {
  const least = groupDigits(minimum);
  return maximum === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${groupDigits(maximum)}`;
}

/** `1,073,741,824`. */
function groupDigits(number: number | undefined): string {
  return (number ?? 0).toLocaleString("en");
}
