/**
 * URI templates (RFC 6570): their variables, and filling them.
 * @module
 */
import { parseTemplate } from "url-template";
import { ToolClientError } from "../errors.js";
import { checkUri, MAX_EXPRESSIONS, MAX_URI, MAX_VALUES } from "./listing.js";

/** A variable of a template. */
export interface TemplateVariable {
  /** The name in the template. */
  readonly name: string;
  /** Whether the URI needs it. Query parameters and fragments are optional. */
  readonly isRequired: boolean;
}

type Filling = string | string[] | Record<string, string>;

/** An expression in braces, or the text around expressions. */
const PART = /\{([^{}]*)\}|([^{}]+)|([{}])/g;
const EXPRESSION = /^([+#./;?&]?)([^,]+(?:,[^,]+)*)$/;
/** Hyphens are not in the RFC, but in use. */
const VARIABLE = /^((?:[\w-]|%[0-9A-Fa-f]{2})(?:\.?(?:[\w-]|%[0-9A-Fa-f]{2}))*)(?::[1-9]\d{0,3}|\*)?$/;
/** Operators of optional expressions. */
const OPTIONAL = "?&;#";

/**
 * The variables of a template, each once, in order of appearance.
 *
 * @throws ToolClientError if the template is too long or invalid.
 */
export function templateVariables(template: string): readonly TemplateVariable[] {
  checkUri(template, "template");
  const required = new Map<string, boolean>();
  let expressions = 0;
  for (const [, expression, , brace] of template.matchAll(PART)) {
    if (brace !== undefined) throw noTemplate();
    if (expression === undefined) continue;
    expressions += 1;
    if (expressions > MAX_EXPRESSIONS) throw noTemplate();
    const [, operator, list] = EXPRESSION.exec(expression) ?? [];
    if (operator === undefined || list === undefined) throw noTemplate();
    for (const each of list.split(",")) {
      const name = VARIABLE.exec(each)?.[1];
      if (name === undefined) throw noTemplate();
      const isRequired = operator === "" || !OPTIONAL.includes(operator);
      required.set(name, isRequired || required.get(name) === true);
    }
  }
  return Array.from(required, ([name, isRequired]) => ({ name, isRequired }));
}

/**
 * Fills a template. An argument is a string, a number, a boolean, or a list or an object of them. null and empty
 * lists are left out.
 *
 * @throws ToolClientError if a variable is missing, an argument is unknown or of a wrong type, or the URI is too
 *   long.
 */
export function fillTemplate(template: string, given: Readonly<Record<string, unknown>>): string {
  const variables = templateVariables(template);
  const names = new Set(variables.map(({ name }) => name));
  const unknown = Object.keys(given).filter((name) => !names.has(name));
  if (unknown.length > 0) throw toUnknownError(unknown, names);
  // No prototype: a source may name a variable `constructor`.
  const filling = Object.create(null) as Record<string, Filling>;
  for (const { name } of variables) {
    const value = Object.hasOwn(given, name) ? toFilling(name, given[name]) : undefined;
    if (value !== undefined) filling[name] = value;
  }
  const missing = variables.filter(({ name, isRequired }) => isRequired && !(name in filling));
  if (missing.length > 0) throw toMissingError(missing.map(({ name }) => name));
  return expandTemplate(template, filling);
}

function expandTemplate(template: string, filling: Record<string, Filling>): string {
  let uri: string;
  try {
    uri = parseTemplate(template).expand(filling);
  } catch (cause) {
    // A lone surrogate cannot be encoded.
    if (cause instanceof URIError) throw new ToolClientError("arguments must be valid Unicode.", { cause });
    throw cause;
  }
  checkUri(uri, "The URI that the template makes");
  return uri;
}

/** Converts a value to strings. Undefined if there is no value. */
function toFilling(name: string, value: unknown): Filling | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== "object") return toText(name, value);
  const entries = Object.entries(value);
  if (entries.length > MAX_VALUES) throw wrongValue(name);
  if (entries.length === 0) return undefined;
  if (Array.isArray(value)) return value.map((each: unknown) => toText(name, each));
  return Object.fromEntries(entries.map(([key, each]) => [short(name, key), toText(name, each)]));
}

function toText(name: string, value: unknown): string {
  if (typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) return String(value);
  if (typeof value === "string") return short(name, value);
  throw wrongValue(name);
}

function short(name: string, text: string): string {
  if (text.length > MAX_URI) throw wrongValue(name);
  return text;
}

function noTemplate(): ToolClientError {
  return new ToolClientError(
    `template must be a URI template of RFC 6570 with at most ${MAX_EXPRESSIONS} expressions: give it as the source ` +
      "lists it.",
  );
}

function toMissingError(names: readonly string[]): ToolClientError {
  return new ToolClientError(`arguments lacks variables of the template: ${joinNames(names)}.`);
}

function toUnknownError(unknown: readonly string[], names: ReadonlySet<string>): ToolClientError {
  const known = names.size === 0 ? "it has none" : `it has ${joinNames([...names])}`;
  return new ToolClientError(
    `arguments names variables that the template does not have, ${joinNames(unknown)}: ${known}.`,
  );
}

function wrongValue(name: string): ToolClientError {
  return new ToolClientError(
    `arguments.${showName(name)} must be a string of at most ${MAX_URI} characters, a number, true or false, or a list ` +
      `or an object of at most ${MAX_VALUES} of them.`,
  );
}

const MAX_NAMES = 10;
const MAX_NAME = 60;

function joinNames(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : "";
  return names.slice(0, MAX_NAMES).map(showName).join(", ") + more;
}

function showName(name: string): string {
  return name.slice(0, MAX_NAME).replace(/[^\w.%-]/g, "_");
}
