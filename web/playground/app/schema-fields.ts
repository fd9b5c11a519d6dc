/**
 * The fields of a form for a JSON Schema, which is anybody's: bounded, and nothing of it is trusted.
 * @module
 */

/** Fields that a form has at most. */
const MAX_FIELDS = 100;
/** Choices of a field. */
const MAX_CHOICES = 200;
/** Characters of what a schema says of itself. */
const MAX_SAID = 400;

type Kind = "string" | "number" | "integer" | "boolean" | "json" | "names";

/** One argument. */
export interface Field {
  readonly name: string;
  readonly kind: Kind;
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** What stands there at first; empty: nothing. */
  readonly initial: string;
  /** Empty: anything may be written. */
  readonly choices: readonly string[];
  /** Whether more than a line is expected. */
  readonly isLong: boolean;
}

/** What was written, read. */
export type Read = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** The fields for the properties of an object's schema; `takesFiles` where `filenames` are names of files. */
export function fieldsOf(schema: unknown, takesFiles = false): readonly Field[] {
  const { properties, required } = objectOf(schema);
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(objectOf(properties))
    .slice(0, MAX_FIELDS)
    .map(([name, said]) => fieldOf(name, objectOf(said), needed.has(name)))
    .map((field) => (takesFiles && field.name === "filenames" ? { ...field, kind: "names" } : field));
}

/** Reads what was written into a field; a field that may be left out, and is empty, has no value. */
export function valueOf({ kind, isRequired, title }: Field, written: string): Read {
  if (kind === "boolean") return { ok: true, value: written === "true" };
  if (written === "" && !isRequired) return { ok: true, value: undefined };
  if (written === "" && kind !== "string") return { ok: false, problem: `${title} is needed.` };
  if (kind === "string") return { ok: true, value: written };
  if (kind === "names") return { ok: true, value: written.split("\n").filter((line) => line.trim() !== "") };
  if (kind === "json") return json(written);
  const number = Number(written);
  if (!Number.isFinite(number)) return { ok: false, problem: `${title} must be a number.` };
  if (kind === "integer" && !Number.isInteger(number))
    return { ok: false, problem: `${title} must be a whole number.` };
  return { ok: true, value: number };
}

function fieldOf(name: string, said: Readonly<Record<string, unknown>>, isRequired: boolean): Field {
  const { type, enum: values, title, description, default: initial, format, maxLength } = said;
  const texts = Array.isArray(values) ? values.filter((value) => typeof value === "string").slice(0, MAX_CHOICES) : [];
  const kind = kindOf(type);
  const choices =
    kind === "string" && texts.length > 0 && !isRequired && initial === undefined ? ["", ...texts] : texts;
  return {
    name,
    kind,
    title: typeof title === "string" && title !== "" ? title.slice(0, MAX_SAID) : name,
    description: typeof description === "string" ? description.slice(0, MAX_SAID) : "",
    isRequired,
    initial: initialOf(initial, kind) || (isRequired ? (texts[0] ?? "") : ""),
    choices: kind === "string" ? choices : [],
    isLong: format === "textarea" || (typeof maxLength === "number" && maxLength > 200),
  };
}

function kindOf(type: unknown): Kind {
  const [first] = Array.isArray(type) ? type.filter((each) => each !== "null") : [type];
  return first === "string" || first === "number" || first === "integer" || first === "boolean" ? first : "json";
}

function initialOf(value: unknown, kind: Kind): string {
  if (value === undefined) return "";
  return typeof value === "string" && kind !== "json" ? value : JSON.stringify(value);
}

function json(written: string): Read {
  try {
    return { ok: true, value: JSON.parse(written) as unknown };
  } catch (error) {
    return { ok: false, problem: `This is not JSON: ${(error as Error).message}` };
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
