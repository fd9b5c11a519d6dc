/**
 * What keys of a source say about each other.
 * @module
 */
import type { ToolConfig } from "../config.js";
import { addressOf, isAddress, isInline, transportOf } from "./connection.js";
import { below, missingKey, wrongValue } from "./problem.js";

/** A value of a variable may change what a text is. */
const HAS_VARIABLE = /\$\{/;

/**
 * Checks what one key says against what another says. A connection with variables is checked when they have values.
 *
 * @throws ToolConfigError with the path of the key to change.
 */
export function checkTogether(config: ToolConfig, base: string): void {
  checkAuth(config, base);
  checkMode(config, base);
  const { wait_exponential_min_s: least, wait_exponential_max_s: most } = config.retry_policy;
  if (most < least) {
    const path = below(below(base, "retry_policy"), "wait_exponential_max_s");
    throw wrongValue(path, `at least wait_exponential_min_s, which is ${least}`);
  }
  if (!HAS_VARIABLE.test(config.connection)) checkConnection(config, below(base, "connection"));
}

/** Checks that a connection without variables is one that its transport has a use for. Throws ToolConfigError. */
export function checkConnection({ transport, connection }: ToolConfig, path: string = "connection"): void {
  if (transport === "mcp") transportOf(connection, undefined, path);
  else if (isAddress(connection) || (transport === "http" && !isInline(connection))) addressOf(connection, path);
}

function checkAuth({ auth_type: type, auth_config: auth }: ToolConfig, base: string): void {
  if (type !== "bearer" && type !== "api_key") return;
  const key = type === "bearer" ? "token" : "api_key";
  if (Object.hasOwn(auth, key) && auth[key] !== "") return;
  throw missingKey(below(below(base, "auth_config"), key), `there for auth_type ${type}, such as "\${API_TOKEN}"`);
}

function checkMode({ transport, utcp_mode: mode }: ToolConfig, base: string): void {
  if (mode === "auto" || transport === "http" || transport === "utcp") return;
  if (transport === "cli" && mode === "manual_url") return;
  throw wrongValue(below(base, "utcp_mode"), `"auto" for the transport ${transport}; leave it out`);
}
