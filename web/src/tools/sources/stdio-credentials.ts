/**
 * Credentials for a program, which takes no headers: a variable of its environment (Node).
 * @module
 */
import type { ToolNodeError } from "../errors.js";
import { wrong } from "../problem.js";
import type { OpenOptions, SourceConnection, ToolSource } from "../source.js";
import { isVariableName, type ResolvedToolConfig } from "../variables.js";

/**
 * A program that is told who asks by the variable which `auth_config.env` names. It keeps what it was told until it is
 * started again, as it is for each user whose tokens are their own.
 *
 * @param source makes the source of a program with an environment.
 * @throws ToolNodeError E_TOOL_CONFIG where no variable is named and somebody has to be told.
 */
export function credentialed(
  { name, auth_type, auth_config, env }: ResolvedToolConfig,
  source: (env: Readonly<Record<string, string>>) => ToolSource,
): ToolSource {
  if (auth_type === "none") return source(env);
  const variable = auth_config["env"] ?? "";
  if (!isVariableName(variable)) throw unnamed(name);
  return {
    open: async (options: OpenOptions): Promise<SourceConnection> => {
      const [value = ""] = Object.values(await options.authorize());
      const credential = auth_type === "api_key" ? value : value.replace(/^Bearer /, "");
      return source({ ...env, [variable]: credential }).open(options);
    },
  };
}

function unnamed(name: string): ToolNodeError {
  return wrong(
    `The source ${name} is a program, which takes no headers: name the variable of its environment that the credential goes to, as env in auth_config.`,
  );
}
