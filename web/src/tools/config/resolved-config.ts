/**
 * A source's configuration for one connection: its variables replaced, and where its server is.
 * @module
 */
import { toSubject } from "../errors.js";
import type { ToolConfig } from "./config.js";
import { checkConnection, isInline, parseConnection, type McpEndpoint } from "./connection.js";
import { fillText, requireVariables, valuesIn, type Variables } from "./variables.js";

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
  const fill = (text: string): string => fillText(text, variables);
  const isDocument = transport !== "mcp" && isInline(connection);
  const isOwn = (variable: string): boolean =>
    isDocument && (Object.hasOwn(env, variable) || Object.hasOwn(auth, variable));
  const [ownEnv, ownAuth] = [mapValues(env, fill), mapValues(auth, fill)];
  const resolveKnown: Variables = (variable) =>
    isOwn(variable) ? { ...ownAuth, ...ownEnv }[variable] : variables(variable);
  const own = [...Object.values(env), ...Object.values(auth)].map((text) => [text, variables] as const);
  requireVariables([[connection, resolveKnown], ...own], { subject: toSubject({ source: name }) });
  // In an inline JSON document a value must stay within its string.
  const isJson = isDocument && connection.trimStart().startsWith("{");
  const writeValue = (value: string | undefined): string | undefined =>
    isJson && value !== undefined ? JSON.stringify(value).slice(1, -1) : value;
  const resolved = {
    ...config,
    connection: fillText(connection, (variable) => writeValue(resolveKnown(variable))),
    env: ownEnv,
    auth_config: ownAuth,
  };
  if (transport === "mcp") return { ...resolved, endpoint: parseConnection(connection, fill) };
  checkConnection(resolved);
  return { ...resolved, endpoint: null };
}

/** Entries of `auth_config` that are names rather than secrets. */
const NAMES: ReadonlySet<string> = new Set(["header", "env", "provider"]);

/** The secrets of a configuration: values of variables, of `env` and of `auth_config`. */
export function collectSecrets(
  config: ToolConfig,
  resolved: ResolvedToolConfig,
  variables: Variables,
): readonly string[] {
  const given = valuesIn(config.connection, variables);
  const auth = Object.entries(resolved.auth_config).flatMap(([key, value]) => (NAMES.has(key) ? [] : [value]));
  return [...given, ...Object.values(resolved.env), ...auth];
}

function mapValues(
  values: Readonly<Record<string, string>>,
  change: (text: string) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
