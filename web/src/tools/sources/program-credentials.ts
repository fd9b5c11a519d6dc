/**
 * Credentials for programs, which take no headers: a variable of their environment (Node).
 * @module
 */
import type { AuthType } from "../config.js";
import type { ToolNodeError } from "../errors.js";
import { wrong } from "../problem.js";
import type { Authorize, OpenOptions, SourceConnection, ToolSource } from "../source.js";
import { isVariableName, type ResolvedToolConfig } from "../variables.js";

/** Who is told what. */
interface ProgramCredentials {
  /** The source's name, for errors. */
  readonly name: string;
  /** Nobody has to be told when left out. */
  readonly auth_type?: AuthType;
  /** `env` names the variable. */
  readonly auth_config?: Readonly<Record<string, string>>;
}

/**
 * A server that is told who asks by the variable which `auth_config.env` names. It keeps what it was told until it is
 * started again, as it is for each user whose tokens are their own.
 *
 * @param source makes the source of a program with an environment.
 * @throws ToolNodeError E_TOOL_CONFIG where no variable is named and somebody has to be told.
 */
export function credentialed(
  config: ResolvedToolConfig,
  source: (env: Readonly<Record<string, string>>) => ToolSource,
): ToolSource {
  const { env } = config;
  const credential = credentialOf(config);
  if (credential === undefined) return source(env);
  return {
    open: async (options: OpenOptions): Promise<SourceConnection> =>
      source({ ...env, ...(await credential(options.authorize)) }).open(options),
  };
}

/**
 * What gives the variable with the credential that holds at the time; undefined where nobody has to be told.
 *
 * @throws ToolNodeError as {@link credentialed}.
 */
export function credentialOf({
  name,
  auth_type = "none",
  auth_config = {},
}: ProgramCredentials): ((authorize: Authorize) => Promise<Readonly<Record<string, string>>>) | undefined {
  if (auth_type === "none") return undefined;
  const variable = auth_config["env"] ?? "";
  if (!isVariableName(variable)) throw unnamed(name, auth_type);
  return async (authorize) => {
    const [value = ""] = Object.values(await authorize());
    return { [variable]: auth_type === "api_key" ? value : value.replace(/^Bearer /, "") };
  };
}

function unnamed(name: string, type: AuthType): ToolNodeError {
  return wrong(
    `The source ${name} is a program, which takes no headers: name the variable of its environment that the credential of auth_type ${type} goes to, as env in auth_config.`,
  );
}
