/**
 * `${VAR}` in a configuration: secrets, and values that differ between deployments.
 * @module
 */
import { checkConnection, isInline, transportOf, type McpEndpoint } from "./connection.js";
import type { ToolConfig } from "./config.js";
import { subjectOf, ToolAuthError, ToolConfigError } from "../errors.js";

/** Returns a variable's value, or undefined. An empty value counts as a value. */
export type Variables = (name: string) => string | undefined;

/**
 * How a text refers to variables.
 *
 * `braced`: `${NAME}`. Any other text in the braces is an error.
 * `utcp`: `${NAME}` and `$NAME`. A bare `$NAME` without a value is kept as text, such as OData's `$filter`.
 */
type Notation = "braced" | "utcp";

/** Match the name in braces, or the bare name. */
const REFERENCES: Readonly<Record<Notation, RegExp>> = {
  braced: /\$\{([^}]*)\}/g,
  utcp: /\$(?:\{([A-Za-z0-9_]{1,128})\}|([A-Za-z_][A-Za-z0-9_]{0,127}))/g,
};

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** Maximum number of names in one error. */
const MAX_TOLD = 20;

/** Variables from an object, such as those of a page without an environment. */
export function variablesOf(values: Readonly<Record<string, string | undefined>>): Variables {
  return (name) => (Object.hasOwn(values, name) ? values[name] : undefined);
}

/** Whether a variable can have this name. */
export function isVariableName(name: string): boolean {
  return NAME.test(name);
}

/** The names in braces in a text, each once. */
export function variableNames(text: string, notation: Notation = "braced"): readonly string[] {
  return [...new Set(Array.from(text.matchAll(REFERENCES[notation])).flatMap(([, name]) => name ?? []))];
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
  const { notation = "braced" } = options;
  requireVariables(variableNames(text, notation), variables, options);
  return filled(text, variables, notation);
}

/** Replaces every `${NAME}` in a text of a source's configuration. Throws like {@link fillVariables}. */
export function substitute(text: string, variables: Variables, source: string): string {
  return fillVariables(text, variables, { subject: subjectOf({ source }) });
}

/** A configuration with its variables replaced. It holds secrets, and is made for one connection. */
export interface ResolvedToolConfig extends ToolConfig {
  /** Where the server is, for the transport `mcp`. Null for all others. */
  readonly endpoint: McpEndpoint | null;
}

/**
 * Replaces variables in `connection`, `env` and `auth_config`. A value in a command stays one argument, whatever it
 * contains. In an inline document, `env` and `auth_config` take precedence over the host's variables.
 *
 * @throws ToolAuthError that names all variables without a value.
 * @throws ToolConfigError if the resulting connection is invalid.
 */
export function resolveVariables(config: ToolConfig, variables: Variables): ResolvedToolConfig {
  const { name, connection, env, auth_config: auth, transport } = config;
  const fill = (text: string): string => filled(text, variables);
  const isDocument = transport !== "mcp" && isInline(connection);
  const isOwn = (variable: string): boolean =>
    isDocument && (Object.hasOwn(env, variable) || Object.hasOwn(auth, variable));
  const given = [...Object.values(env), ...Object.values(auth)].flatMap((text) => variableNames(text));
  const asked = [...variableNames(connection).filter((one) => !isOwn(one)), ...given];
  requireVariables(asked, variables, { subject: subjectOf({ source: name }) });
  const [ownEnv, ownAuth] = [mapped(env, fill), mapped(auth, fill)];
  const known: Variables = (variable) => (isOwn(variable) ? { ...ownAuth, ...ownEnv }[variable] : variables(variable));
  // In an inline JSON document a value must stay within its string.
  const isJson = isDocument && connection.trimStart().startsWith("{");
  const written = (value: string | undefined): string | undefined =>
    isJson && value !== undefined ? JSON.stringify(value).slice(1, -1) : value;
  const resolved = {
    ...config,
    connection: filled(connection, (variable) => written(known(variable))),
    env: ownEnv,
    auth_config: ownAuth,
  };
  if (transport === "mcp") return { ...resolved, endpoint: transportOf(connection, fill) };
  checkConnection(resolved);
  return { ...resolved, endpoint: null };
}

/** Entries of `auth_config` that are names rather than secrets. */
const NAMES: ReadonlySet<string> = new Set(["header", "env", "provider"]);

/** The secrets of a configuration: values of variables, of `env` and of `auth_config`. */
export function secretsOf(config: ToolConfig, resolved: ResolvedToolConfig, variables: Variables): readonly string[] {
  const given = variableNames(config.connection).flatMap((name) => variables(name) ?? []);
  const auth = Object.entries(resolved.auth_config).flatMap(([key, value]) => (NAMES.has(key) ? [] : [value]));
  return [...given, ...Object.values(resolved.env), ...auth];
}

function requireVariables(
  asked: readonly string[],
  variables: Variables,
  { subject, path, notation, where }: FillOptions,
): void {
  const names = [...new Set(asked)];
  if (notation !== "utcp" && names.some((name) => !isVariableName(name))) {
    const sentence =
      `${subject} has \${…} around something that is not the name of a variable: a letter or '_', then letters, digits and '_', ` +
      "without a default.";
    throw new ToolConfigError(path ?? "", sentence);
  }
  const missing = names.filter((name) => typeof variables(name) !== "string");
  if (missing.length === 0) return;
  const told = missing.slice(0, MAX_TOLD).join(", ") + (missing.length > MAX_TOLD ? ", …" : "");
  const isOne = missing.length === 1;
  const them = isOne ? "it" : "them";
  const what = isOne ? `the variable ${told}, which has` : `the variables ${told}, which have`;
  const sentence = `${subject} needs ${what} no value: set ${them} ${where ?? `in the environment, or hand ${them} over as variables`}.`;
  throw path === undefined ? new ToolAuthError(sentence) : new ToolConfigError(path, sentence);
}

function filled(text: string, variables: Variables, notation: Notation = "braced"): string {
  return text.replace(
    REFERENCES[notation],
    (written: string, braced: string | undefined, bare: string | undefined) =>
      variables(braced ?? bare ?? "") ?? (braced === undefined ? written : ""),
  );
}

function mapped(
  values: Readonly<Record<string, string>>,
  change: (text: string) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
