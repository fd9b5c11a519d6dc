/**
 * Sources made of a server's configuration.
 * @module
 */
import type { ArtifactStore } from "../../artifacts/store.js";
import { SluiceError } from "../../errors/error.js";
import type { McpClientIdentity } from "../../tools/auth/mcp-discovery.js";
import type { OAuthManager } from "../../tools/auth/oauth-manager.js";
import type { OAuthProviderConfig } from "../../tools/auth/provider-config.js";
import { readToolConfig, type ExternalToolConfig, type ToolConfig } from "../../tools/config.js";
import { environmentVariables } from "../../tools/environment.js";
import type { ToolNodeEvent } from "../../tools/event.js";
import type { UserFileHandling } from "../../tools/user-files/handling.js";
import { variablesOf, type Variables } from "../../tools/variables.js";
import type { Announcer } from "../events/announcer.js";
import type { ServeState } from "../state.js";
import { reportedOutput } from "./error-output.js";
import { ServedSource } from "./served-source.js";
import { SharedProviders } from "./shared-providers.js";

/** What sources are served with. */
export interface ServedSourcesTerms {
  readonly sources: readonly ExternalToolConfig[];
  /** Values of `${VAR}`; those of the environment when left out. */
  readonly variables?: Variables | Readonly<Record<string, string | undefined>> | undefined;
  readonly providers?: Readonly<Record<string, OAuthProviderConfig>> | undefined;
  readonly oauthClient?: McpClientIdentity | undefined;
  /** Within retention. */
  readonly store: ArtifactStore;
  /** Null where there are no files. */
  readonly userFiles: UserFileHandling | null;
  readonly state: ServeState;
  readonly announcer: Announcer;
  /** Must not throw. */
  readonly report: (error: unknown) => void;
  /** Aborted when the server is closed. */
  readonly over: AbortSignal;
}

/**
 * The sources by their names.
 *
 * @throws ToolNodeError for one that is wrong, SluiceError E_INVALID_ARGUMENT for two of one name.
 */
export function sourcesOf(
  { sources, variables: given, oauthClient: client, state, store, userFiles, report, over }: ServedSourcesTerms,
  manager: OAuthManager,
  onEvent: (event: ToolNodeEvent, owner: string | null) => void,
): ReadonlyMap<string, ServedSource> {
  const variables =
    given === undefined ? environmentVariables : typeof given === "function" ? given : variablesOf(given);
  const providers = new SharedProviders({ manager, states: state.runs, client });
  const served = new Map<string, ServedSource>();
  for (const [index, each] of sources.entries()) {
    const config = readToolConfig(each, `sources[${index}]`);
    check(config, index, served, userFiles);
    const options = {
      store,
      authManager: manager,
      variables,
      ...(client !== undefined && { oauthClient: client }),
      ...(userFiles !== null && { userFiles }),
      onErrorOutput: reportedOutput(config.name, report),
    };
    served.set(config.name, new ServedSource({ given: each, config, options, variables, providers, onEvent, over }));
  }
  return served;
}

function check(
  { name, user_files }: ToolConfig,
  index: number,
  served: ReadonlyMap<string, unknown>,
  userFiles: UserFileHandling | null,
): void {
  if (served.has(name)) {
    const sentence = `Two sources are named ${JSON.stringify(name)}: give each a name of its own.`;
    throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: `sources[${index}].name` });
  }
  if (!user_files || userFiles !== null) return;
  const sentence = `The source ${JSON.stringify(name)} has user_files, and there is nowhere to keep files: give filesStore.`;
  throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: `sources[${index}].user_files` });
}
