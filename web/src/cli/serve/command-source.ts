/**
 * `sluice serve -- COMMAND ARGS…`: a command line as a source.
 * @module
 */
import type { ExternalToolConfig } from "../../tools/config.js";
import { isVariableName, variablesOf, type Variables } from "../../tools/variables.js";
import { childEnvironment } from "../../transports/server-process.js";
import { namespaceOfCommand } from "../proxy/namespace.js";

/** Stand for the words of the command, so that none of them is split or filled in. */
const WORD = "SLUICE_COMMAND_WORD_";

/** Variables that a source may have. */
const MAX_VARIABLES = 256;

/** The source, none where there is no command; and what `${VAR}` in sources is filled in with. */
export function commandSource(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
): { readonly source: readonly ExternalToolConfig[]; readonly variables: Variables } {
  const words = Object.fromEntries(command.map((word, index) => [`${WORD}${index}`, word]));
  const inherited = childEnvironment(env);
  const variables = variablesOf({ ...inherited, ...words });
  if (command.length === 0) return { source: [], variables };
  const source: ExternalToolConfig = {
    name: namespaceOfCommand(command),
    transport: "mcp",
    connection: Object.keys(words)
      .map((name) => `\${${name}}`)
      .join(" "),
    env: environment(inherited),
  };
  return { source: [source], variables };
}

/** Whoever types a command means it to have what the shell has. */
function environment(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const names = Object.keys(env).filter(isVariableName);
  return Object.fromEntries(names.slice(0, MAX_VARIABLES).map((name) => [name, `\${${name}}`]));
}
