/**
 * `${VAR}` in a configuration: what is secret, or differs from place to place, is said where the program runs
 * (ToolNode 2.1 `_substitute_env`).
 * @module
 */
import { checkConnection, isInline, transportOf, type McpEndpoint } from "./config/connection.js";
import type { ToolConfig } from "./config.js";
import { ToolAuthError } from "./errors.js";
import { ToolConfigError } from "./config/problem.js";

/** Gives a variable's value; undefined where it has none. An empty value is a value. */
export type Variables = (name: string) => string | undefined;

const REFERENCE = /\$\{([^}]*)\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** Names that one error tells. */
const MAX_TOLD = 20;

/** The variables that a host hands over, such as those of a page without an environment. */
export function variablesOf(values: Readonly<Record<string, string | undefined>>): Variables {
  return (name) => (Object.hasOwn(values, name) ? values[name] : undefined);
}

/** Whether a variable may be called so. */
export function isVariableName(name: string): boolean {
  return NAME.test(name);
}

/** The names of the variables that a text asks for, each once. */
export function variableNames(text: string): readonly string[] {
  return [...new Set(Array.from(text.matchAll(REFERENCE), ([, name = ""]) => name))];
}

/**
 * Puts values in place of every `${NAME}`. What a value holds is not looked at again.
 *
 * @param source the source's name, for errors.
 * @throws ToolAuthError that names all variables which have no value.
 * @throws ToolConfigError for `${…}` around what is no variable's name.
 */
export function substitute(text: string, variables: Variables, source: string): string {
  requireVariables(variableNames(text), variables, source);
  return filled(text, variables);
}

/** A configuration with its variables' values: it holds secrets, and is made for one connection. */
export interface ResolvedToolConfig extends ToolConfig {
  /** Where the server is, for the transport `mcp`; null for all others. */
  readonly endpoint: McpEndpoint | null;
}

/**
 * Puts values in place of variables in `connection`, `env` and `auth_config`. A value in a command stays one argument,
 * whatever is in it. In a document that stands in `connection`, variables of `env` go before those of the host.
 *
 * @throws ToolAuthError that names all variables which have no value, wherever they stand.
 * @throws ToolConfigError where the connection is none, which shows only now.
 */
export function resolveVariables(config: ToolConfig, variables: Variables): ResolvedToolConfig {
  const { name, connection, env, auth_config: auth, transport } = config;
  const fill = (text: string): string => filled(text, variables);
  const isDocument = transport !== "mcp" && isInline(connection);
  const isOwn = (variable: string): boolean => isDocument && Object.hasOwn(env, variable);
  const given = [...Object.values(env), ...Object.values(auth)].flatMap(variableNames);
  requireVariables([...variableNames(connection).filter((one) => !isOwn(one)), ...given], variables, name);
  const own = mapped(env, fill);
  const known: Variables = (variable) => (isOwn(variable) ? own[variable] : variables(variable));
  const resolved = { ...config, connection: filled(connection, known), env: own, auth_config: mapped(auth, fill) };
  if (transport === "mcp") return { ...resolved, endpoint: transportOf(connection, fill) };
  checkConnection(resolved);
  return { ...resolved, endpoint: null };
}

function requireVariables(asked: readonly string[], variables: Variables, source: string): void {
  const names = [...new Set(asked)];
  if (names.some((name) => !isVariableName(name))) {
    const sentence =
      `The source ${JSON.stringify(source)} has \${…} around what is no variable's name: a name is a letter or '_', then ` +
      "letters, digits and '_', without a default.";
    throw new ToolConfigError("", sentence);
  }
  const missing = names.filter((name) => typeof variables(name) !== "string");
  if (missing.length === 0) return;
  const told = missing.slice(0, MAX_TOLD).join(", ") + (missing.length > MAX_TOLD ? ", …" : "");
  const what = missing.length === 1 ? `the variable ${told}, which has` : `the variables ${told}, which have`;
  throw new ToolAuthError(
    `The source ${JSON.stringify(source)} needs ${what} no value: set ${missing.length === 1 ? "it" : "them"} in the environment, or hand ${missing.length === 1 ? "it" : "them"} over as variables.`,
  );
}

function filled(text: string, variables: Variables): string {
  return text.replace(REFERENCE, (_, name: string) => variables(name) ?? "");
}

function mapped(
  values: Readonly<Record<string, string>>,
  change: (text: string) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
