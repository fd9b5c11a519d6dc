/**
 * Credentials of sources that are programs, which take no headers.
 * @module
 */
import type { ToolConfig } from "../config.js";
import { isVariableName } from "../variables.js";
import { isAddress } from "./connection.js";
import { below, missingKey, wrongValue } from "./problem.js";
import { wordsIn } from "./words.js";

/**
 * Checks that a program which has to be told who asks can be told: by a variable of its environment.
 *
 * @throws ToolConfigError with the path of `auth_config.env`.
 */
export function checkProgram(config: ToolConfig, base: string): void {
  const { auth_type: type, auth_config: auth } = config;
  if (type === "none" || !isProgram(config)) return;
  const path = below(below(base, "auth_config"), "env");
  const wanted =
    `the name of an environment variable of the program, such as API_TOKEN, for the credential of auth_type ${type}: ` +
    "a program takes no headers";
  const variable = Object.hasOwn(auth, "env") ? auth["env"] : undefined;
  if (variable === undefined) throw missingKey(path, wanted);
  if (!isVariableName(variable) && !variable.includes("${")) throw wrongValue(path, wanted);
}

/** Whether a source surely is a program: the value of a variable in front may be a URL. */
function isProgram({ transport, connection }: ToolConfig): boolean {
  if (transport !== "mcp") return transport === "cli";
  const [first = ""] = wordsIn(connection.trim()) ?? [];
  return !isAddress(first) && !first.includes("${");
}
