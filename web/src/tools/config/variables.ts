/**
 * `${VAR}` in a configuration: secrets, and values that differ between deployments.
 *
 * A command is split into words before its variables are replaced, so a value never becomes several arguments. What
 * `WRITTEN` matches stays in one word, whatever spaces and quotes it has.
 * @module
 */
import { toSubject, ToolAuthError, ToolConfigError } from "../errors.js";

/** Returns a variable's value, or undefined. An empty value counts as a value. */
export type Variables = (name: string) => string | undefined;

/**
 * How a text refers to variables.
 *
 * `braced`: `${NAME}`. Any other text in the braces is an error.
 * `utcp`: `${NAME}` and `$NAME`. A bare `$NAME` without a value is kept as text, such as OData's `$filter`.
 */
type Notation = "braced" | "utcp";

/** A variable in braces as it is written, whole. */
export const WRITTEN: RegExp = /\$\{([^}]*)\}/g;

/** Match the name in braces, or the bare name. */
const REFERENCES: Readonly<Record<Notation, RegExp>> = {
  braced: WRITTEN,
  utcp: /\$(?:\{([A-Za-z0-9_]{1,128})\}|([A-Za-z_][A-Za-z0-9_]{0,127}))/g,
};

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** Maximum number of names in one error. */
const MAX_TOLD = 20;

/** Variables from an object, such as those of a page without an environment. */
export function toVariables(values: Readonly<Record<string, string | undefined>>): Variables {
  return (name) => (Object.hasOwn(values, name) ? values[name] : undefined);
}

/** Whether a variable can have this name. */
export function isVariableName(name: string): boolean {
  return NAME.test(name);
}

/** The names in braces in a text, each once. */
export function variableNames(text: string): readonly string[] {
  return namesIn(text, "braced");
}

function namesIn(text: string, notation: Notation): readonly string[] {
  return [...new Set(Array.from(text.matchAll(REFERENCES[notation])).flatMap(([, name]) => name ?? []))];
}

/** The values of the variables in braces in a text: what may be secret once the text is filled. */
export function valuesIn(text: string, variables: Variables): readonly string[] {
  return variableNames(text).flatMap((name) => variables(name) ?? []);
}

/** Options for {@link fillVariables}. */
interface FillOptions {
  /** The start of errors: `The source "weather"`. */
  readonly subject: string;
  /** The configuration key of the text. Errors are then ToolConfigErrors with it. */
  readonly path?: string;
  /** @defaultValue `"braced"` */
  readonly notation?: Notation;
  /** The end of errors: where to set a variable. */
  readonly where?: string;
}

/**
 * Replaces every variable in a text with its value. Values are not expanded again.
 *
 * @throws ToolAuthError (ToolConfigError with a `path`) that names all variables without a value.
 * @throws ToolConfigError for `${…}` around an invalid name, except in UTCP's notation.
 */
export function fillVariables(text: string, variables: Variables, options: FillOptions): string {
  requireVariables([[text, variables]], options);
  return fillText(text, variables, options.notation);
}

/** Replaces every `${NAME}` in a text of a source's configuration. Throws like {@link fillVariables}. */
export function substitute(text: string, variables: Variables, source: string): string {
  return fillVariables(text, variables, { subject: toSubject({ source }) });
}

/** Checks several texts, each with its own variables, as one. Throws like {@link fillVariables}. */
export function requireVariables(
  texts: readonly (readonly [text: string, variables: Variables])[],
  { subject, path, notation = "braced", where }: FillOptions,
): void {
  const asked = texts.flatMap(([text, variables]) => namesIn(text, notation).map((name) => ({ name, variables })));
  if (notation !== "utcp" && asked.some(({ name }) => !isVariableName(name))) {
    const sentence =
      `${subject} has \${…} around something that is not the name of a variable: a letter or '_', then letters, digits and '_', ` +
      "without a default.";
    throw new ToolConfigError(path ?? "", sentence);
  }
  const unset = asked.filter(({ name, variables }) => typeof variables(name) !== "string");
  const missing = [...new Set(unset.map(({ name }) => name))];
  if (missing.length === 0) return;
  const told = missing.slice(0, MAX_TOLD).join(", ") + (missing.length > MAX_TOLD ? ", …" : "");
  const isOne = missing.length === 1;
  const them = isOne ? "it" : "them";
  const what = isOne ? `the variable ${told}, which has` : `the variables ${told}, which have`;
  const sentence = `${subject} needs ${what} no value: set ${them} ${where ?? "in the environment, or in the option variables"}.`;
  throw path === undefined ? new ToolAuthError(sentence) : new ToolConfigError(path, sentence);
}

/** A text whose variables all have values. */
export function fillText(text: string, variables: Variables, notation: Notation = "braced"): string {
  return text.replace(
    REFERENCES[notation],
    (written: string, braced: string | undefined, bare: string | undefined) =>
      variables(braced ?? bare ?? "") ?? (braced === undefined ? written : ""),
  );
}
