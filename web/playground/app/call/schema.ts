/**
 * The fields of a form for a JSON Schema, and the values that a person writes into them. The schema comes from a server: it is
 * bounded and not trusted.
 * @module
 */

/** Fields of an object. */
const MAX_FIELDS = 100;
/** Choices of a field. */
const MAX_CHOICES = 200;
/** Characters of a title or description. */
const MAX_TEXT = 400;
/** Objects and lists within each other; what is deeper is written as JSON. */
const MAX_DEPTH = 5;
/** Characters of a pattern that is tried. */
const MAX_PATTERN = 200;

type Schema = Readonly<Record<string, unknown>>;

/** A value that can be chosen. */
export interface Choice {
  /** Identifies it in the form. */
  readonly text: string;
  readonly title: string;
  readonly value: unknown;
}

/** One argument, or one part of it. */
export interface Field {
  readonly name: string;
  readonly kind:
    | "string"
    | "number"
    | "integer"
    | "boolean"
    | "json"
    | "names"
    | "enum"
    | "several"
    | "const"
    | "object"
    | "list"
    | "either";
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  /** The value to begin with, if the schema has one. */
  readonly initial: unknown;
  /** Of `enum` and `several`; of `const` the only one. */
  readonly choices: readonly Choice[];
  /** Of `object`; of `either` the alternatives. */
  readonly fields: readonly Field[];
  /** Of `list`. A function, as a schema may contain itself. */
  readonly item: (() => Field) | undefined;
  /** Whether the text may have several lines. */
  readonly isLong: boolean;
  readonly schema: Schema;
}

/** The value of a field, or why it is invalid. */
export type Read = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** The fields for the properties of an object schema. With `takesFiles`, `filenames` is a list of file names. */
export function listFields(schema: unknown, takesFiles = false): readonly Field[] {
  const root = toObject(schema);
  return listProperties(root, root, 0).map((field) =>
    takesFiles && field.name === "filenames" ? { ...field, kind: "names" as const } : field,
  );
}

function listProperties(schema: Schema, root: Schema, depth: number): readonly Field[] {
  const { properties, required } = schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(toObject(properties))
    .slice(0, MAX_FIELDS)
    .map(([name, said]) => toField(name, toObject(said), needed.has(name), root, depth + 1));
}

function toField(name: string, said: Schema, isRequired: boolean, root: Schema, depth: number): Field {
  const { schema, isNullable } = plain(said, root);
  const { title, description, format, maxLength, default: initial } = schema;
  const field: Field = {
    name,
    kind: "json",
    title: typeof title === "string" && title !== "" ? title.slice(0, MAX_TEXT) : name,
    description: typeof description === "string" ? description.slice(0, MAX_TEXT) : "",
    isRequired,
    isNullable,
    initial,
    choices: [],
    fields: [],
    item: undefined,
    isLong: format === "textarea" || (typeof maxLength === "number" && maxLength > 200),
    schema,
  };
  if (schema["const"] !== undefined) return { ...field, kind: "const", choices: [toChoice(schema["const"])] };
  const choices = listChoices(schema);
  if (choices.length > 0) return { ...field, kind: "enum", choices };
  const alternatives = listAlternatives(schema);
  if (alternatives.length > 0) {
    if (depth > MAX_DEPTH) return field;
    const { oneOf: _one, anyOf: _any, title: _title, description: _description, ...common } = schema;
    const fields = alternatives.map((each, index) => {
      const own = toField(name, mergeSchemas(common, each), true, root, depth + 1);
      return { ...own, title: alternativeTitle(each, own, index) };
    });
    return { ...field, kind: "either", fields };
  }
  const type = readType(schema);
  if (type === "string" || type === "number" || type === "integer" || type === "boolean")
    return { ...field, kind: type };
  if (depth > MAX_DEPTH) return field;
  if (type === "object" && Object.keys(toObject(schema["properties"])).length > 0) {
    return { ...field, kind: "object", fields: listProperties(schema, root, depth) };
  }
  if (type === "array" && typeof schema["items"] === "object" && !Array.isArray(schema["items"])) {
    const items = toObject(schema["items"]);
    const several = listChoices(plain(items, root).schema);
    if (several.length > 0 && schema["uniqueItems"] !== false) return { ...field, kind: "several", choices: several };
    return { ...field, kind: "list", item: () => toField(name, items, true, root, depth + 1) };
  }
  return field;
}

/** A schema with its reference followed, its `allOf` merged, and null apart. */
function plain(said: Schema, root: Schema): { readonly schema: Schema; readonly isNullable: boolean } {
  let schema = said;
  for (let hops = 0; hops < 8 && typeof schema["$ref"] === "string"; hops += 1) {
    const { $ref: address, ...own } = schema;
    schema = { ...followReference(root, address), ...own };
  }
  if (Array.isArray(schema["allOf"])) {
    const { allOf, ...own } = schema;
    schema = allOf.map(toObject).reduce(mergeSchemas, own);
  }
  let isNullable = schema["nullable"] === true;
  const { type } = schema;
  if (Array.isArray(type) && type.includes("null")) isNullable = true;
  for (const key of ["anyOf", "oneOf"]) {
    const among = schema[key];
    if (!Array.isArray(among)) continue;
    const rest = among.map(toObject).filter((each) => each["type"] !== "null" && each["const"] !== null);
    if (rest.length === among.length) continue;
    isNullable = true;
    const { [key]: _, ...own } = schema;
    const [only] = rest;
    schema =
      rest.length === 1 && only !== undefined ? { ...plain(only, root).schema, ...own } : { ...own, [key]: rest };
  }
  return { schema, isNullable };
}

function followReference(root: Schema, address: unknown): Schema {
  if (typeof address !== "string" || !address.startsWith("#/")) return {};
  let at: unknown = root;
  for (const part of address.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = Object.hasOwn(toObject(at), key) ? toObject(at)[key] : undefined;
  }
  return toObject(at);
}

function mergeSchemas(one: Schema, other: Schema): Schema {
  const required = [one["required"], other["required"]].flatMap((each) => (Array.isArray(each) ? each : []));
  const properties = { ...toObject(one["properties"]), ...toObject(other["properties"]) };
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

function readType(schema: Schema): unknown {
  const { type } = schema;
  const [first] = Array.isArray(type) ? type.filter((each) => each !== "null") : [type];
  if (first !== undefined) return first;
  if (schema["properties"] !== undefined) return "object";
  return schema["items"] === undefined ? undefined : "array";
}

/** The choices of an enum, or of alternatives that are all constants. */
function listChoices(schema: Schema): readonly Choice[] {
  const { enum: values, enumNames: names } = schema;
  if (Array.isArray(values)) {
    const titles: readonly unknown[] = Array.isArray(names) ? names : [];
    return values.slice(0, MAX_CHOICES).map((value, index) => toChoice(value, titles[index]));
  }
  const among = listAlternatives(schema);
  if (among.length === 0 || among.some((each) => each["const"] === undefined)) return [];
  return among.slice(0, MAX_CHOICES).map((each) => toChoice(each["const"], each["title"]));
}

function listAlternatives({ oneOf, anyOf }: Schema): readonly Schema[] {
  const among = Array.isArray(oneOf) ? oneOf : anyOf;
  return Array.isArray(among) ? among.slice(0, MAX_CHOICES).map(toObject) : [];
}

/** The title of an alternative: its own, the constants that tell it apart, or its type. */
function alternativeTitle(schema: Schema, { fields, kind }: Field, index: number): string {
  if (typeof schema["title"] === "string" && schema["title"] !== "") return schema["title"].slice(0, MAX_TEXT);
  const constant = fields.find((each) => each.kind === "const");
  if (constant !== undefined) return `${constant.name}: ${constant.choices[0]?.title}`;
  return kind === "json" || kind === "object" ? `Alternative ${index + 1}` : kind;
}

function toChoice(value: unknown, title?: unknown): Choice {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return { text, value, title: typeof title === "string" ? title.slice(0, MAX_TEXT) : text.slice(0, MAX_TEXT) };
}

/** The text that a field begins with. */
export function toFieldText({ kind, isRequired, choices }: Field, value: unknown): string {
  if (kind === "enum") {
    const known = choices.find((each) => same(each.value, value));
    return known?.text ?? (isRequired && value === undefined ? (choices[0]?.text ?? "") : "");
  }
  if (value === undefined || value === null) return "";
  if (kind === "names" && Array.isArray(value)) return value.join("\n");
  return typeof value === "string" && kind !== "json" ? value : JSON.stringify(value);
}

/** Whether two JSON values are the same. */
export function same(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** Parses the text of a field that is no object, list or alternative. An empty optional field has no value. */
export function parseField(field: Field, written: string): Read {
  const { kind, isRequired, isNullable, title, choices, schema } = field;
  if (kind === "boolean" && written !== "") return { ok: true, value: written === "true" };
  if (written === "") {
    if (!isRequired) return { ok: true, value: undefined };
    if (isNullable) return { ok: true, value: null };
    const minimum = schema["minLength"];
    if (kind !== "string" || (typeof minimum === "number" && minimum > 0))
      return { ok: false, problem: `${title} is required.` };
  }
  switch (kind) {
    case "enum": {
      const choice = choices.find(({ text }) => text === written);
      return choice === undefined ? refuse(`${title} must be chosen.`) : { ok: true, value: choice.value };
    }
    case "names":
      return { ok: true, value: written.split("\n").filter((line) => line.trim() !== "") };
    case "json":
      return json(written);
    case "number":
    case "integer":
      return parseNumber(field, written);
    default:
      return parseString(field, written);
  }
}

function parseNumber({ kind, title, schema }: Field, written: string): Read {
  const number = Number(written);
  if (!Number.isFinite(number) || written.trim() === "") return refuse(`${title} must be a number.`);
  if (kind === "integer" && !Number.isInteger(number)) return refuse(`${title} must be a whole number.`);
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === "number" && number < minimum) return refuse(`${title} must be at least ${minimum}.`);
  if (typeof maximum === "number" && number > maximum) return refuse(`${title} must be at most ${maximum}.`);
  if (typeof exclusiveMinimum === "number" && number <= exclusiveMinimum)
    return refuse(`${title} must be more than ${exclusiveMinimum}.`);
  if (typeof exclusiveMaximum === "number" && number >= exclusiveMaximum)
    return refuse(`${title} must be less than ${exclusiveMaximum}.`);
  if (typeof multipleOf === "number" && multipleOf > 0) {
    const times = number / multipleOf;
    if (Math.abs(times - Math.round(times)) > 1e-9) return refuse(`${title} must be a multiple of ${multipleOf}.`);
  }
  return { ok: true, value: number };
}

/** Formats that are checked, and an example of each. */
const FORMATS: Readonly<Record<string, readonly [(text: string) => boolean, string]>> = {
  email: [(text) => /^[^\s@]+@[^\s@]+$/.test(text), "an e-mail address, such as ada@example.com"],
  uri: [(text) => URL.canParse(text), "an address, such as https://example.com/"],
  date: [(text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)), "a date, such as 2026-11-27"],
  "date-time": [
    (text) => /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text)),
    "a date and a time, such as 2026-11-27T11:00:00Z",
  ],
  uuid: [(text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text), "a UUID"],
};

function parseString({ title, schema }: Field, written: string): Read {
  const { minLength, maxLength, pattern, format } = schema;
  const { length } = Array.from(written);
  if (typeof minLength === "number" && length < minLength)
    return refuse(`${title} must have at least ${minLength} characters.`);
  if (typeof maxLength === "number" && length > maxLength)
    return refuse(`${title} must have at most ${maxLength} characters; it has ${length}.`);
  const known = typeof format === "string" && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (written !== "" && known !== undefined && !known[0](written)) return refuse(`${title} must be ${known[1]}.`);
  if (typeof pattern === "string" && written !== "" && matches(pattern, written) === false)
    return refuse(`${title} must match ${pattern}.`);
  return { ok: true, value: written };
}

/** Whether a text matches a server's pattern; undefined if that is not tried. */
function matches(pattern: string, text: string): boolean | undefined {
  // A pattern with nested repetition may take forever, and so is left to the server.
  if (pattern.length > MAX_PATTERN || text.length > 1000 || /[*+}][^()]*\)[*+{]/.test(pattern)) return undefined;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return undefined;
  }
}

/** Why a list has too few or too many items, or undefined. */
export function countProblem({ title, schema, isRequired }: Field, count: number): string | undefined {
  const { minItems, maxItems } = schema;
  if (count === 0 && !isRequired) return undefined;
  if (typeof minItems === "number" && count < minItems) return `${title} must have at least ${minItems} items.`;
  if (typeof maxItems === "number" && count > maxItems) return `${title} must have at most ${maxItems} items.`;
  return undefined;
}

/** Parses JSON text. */
export function json(written: string): Read {
  try {
    return { ok: true, value: JSON.parse(written) as unknown };
  } catch (error) {
    return refuse(`This is not JSON: ${(error as Error).message}`);
  }
}

function refuse(problem: string): Read {
  return { ok: false, problem };
}

/** The value if it is an object; else an empty one. */
export function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
