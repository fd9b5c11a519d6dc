/**
 * The settings of `sluice serve`, from its command line, its configuration file and the environment.
 * @module
 */
import { dirname, resolve } from "node:path";
import { SHORTEST_SECRET } from "../../server/sealing.js";
import type { ExternalToolConfig } from "../../tools/config/config.js";
import { checkSources } from "../../tools/config/sources-file.js";
import { isVariableName, toVariables, type Variables } from "../../tools/config/variables.js";
import { childEnvironment } from "../../mcp/stdio/server-process.js";
import type { Invocation } from "../command.js";
import { readSecret, readSecrets, fileFlags } from "../configuration.js";
import { UsageError } from "../exit.js";
import { isLoopback, listenAddress, type ListenAddress } from "../proxy/http-listener.js";
import { metricsPlace, type MetricsPlace } from "../proxy/metrics-listener.js";
import { namespaceOfCommand } from "../proxy/interceptors.js";
import { readServeFile } from "./config-file.js";
import {
  DEFAULT_ADDRESS,
  DRAIN_SECONDS,
  GRACE_SECONDS,
  MAX_END,
  SHORTEST_TOKEN,
  type ServeFile,
  type ServeFiles,
} from "./schema.js";

/** The secret that signs session tokens. */
const SECRET_VARIABLE = "SLUICE_SERVE_SECRET";

/** Secrets that sign no more, or not yet, one a line. */
const OLD_SECRETS_VARIABLE = "SLUICE_SERVE_OLD_SECRETS";

/** The token that opens sessions of the single user. */
const TOKEN_VARIABLE = "SLUICE_SERVE_TOKEN";

/** The settings. */
export interface ServeSettings {
  readonly address: ListenAddress;
  readonly config: ServeFile;
  /** The folder that paths in the configuration are relative to. */
  readonly folder: string;
  readonly sources: readonly ExternalToolConfig[];
  readonly variables: Variables;
  /** An absolute folder, or an `s3://` URL; undefined for a store that is deleted at the end. */
  readonly store: string | undefined;
  readonly files: FileSettings;
  readonly state: string | undefined;
  /** The time at the end in which `ready` fails, and that of running requests, in seconds. */
  readonly drainSeconds: number;
  readonly graceSeconds: number;
  /** Where the metrics are. Undefined if nowhere. */
  readonly metrics: MetricsPlace | undefined;
  readonly secret: string | undefined;
  readonly oldSecrets: readonly string[];
  readonly token: string | undefined;
  /** Values that the log must not show. */
  readonly secrets: readonly string[];
}

/** The settings for users' files. The command line takes precedence over the configuration. */
interface FileSettings extends Omit<ServeFiles, "large_store"> {
  /** Whether users have files. */
  readonly isOn: boolean;
  /** The store for large files: an absolute folder, or an `s3://` URL. */
  readonly large_store: string | undefined;
}

/** Reads the settings. Throws UsageError and other SluiceErrors that name the option or the key. */
export async function readSettings(invocation: Invocation, env: NodeJS.ProcessEnv): Promise<ServeSettings> {
  const file = invocation.value("config");
  const { config, secrets } = file === undefined ? { config: {}, secrets: [] } : await readServeFile(file, env);
  const folder = file === undefined ? process.cwd() : dirname(resolve(file));
  const { source, variables } = commandSource(invocation.operands, env);
  const secret = readSecret(env, SECRET_VARIABLE, SHORTEST_SECRET, "serve");
  const oldSecrets = readSecrets(env, OLD_SECRETS_VARIABLE, SHORTEST_SECRET, "serve");
  if (secret === undefined && oldSecrets.length > 0) {
    throw new UsageError(`${OLD_SECRETS_VARIABLE} goes with ${SECRET_VARIABLE}, which is not set`, "serve");
  }
  const token = readSecret(env, TOKEN_VARIABLE, SHORTEST_TOKEN, "serve");
  const state = stateSaid(invocation) ?? config.state;
  const address = listenAddress(invocation.value("listen") ?? config.listen ?? DEFAULT_ADDRESS, "serve");
  const isOpen = token === undefined && config.auth === undefined && fromOutside(config) === undefined;
  const metrics = metricsPlace(invocation.value("metrics") ?? config.metrics, env, "serve", { ...address, isOpen });
  const settings: ServeSettings = {
    address,
    metrics,
    config,
    folder,
    sources: checkSources([...(config.sources ?? []), ...source]),
    variables,
    store: toPlace(invocation.value("store"), process.cwd()) ?? toPlace(config.store, folder),
    files: filesSaid(invocation, config.files, folder),
    state,
    drainSeconds:
      secondsSaid(invocation, "drain-seconds") ?? config.drain_seconds ?? (state === undefined ? 0 : DRAIN_SECONDS),
    graceSeconds: secondsSaid(invocation, "grace-seconds") ?? config.grace_seconds ?? GRACE_SECONDS,
    secret,
    oldSecrets,
    token,
    secrets: [
      ...secrets,
      ...oldSecrets,
      ...[secret, token, metrics?.token, passwordIn(state)].filter((one) => one !== undefined),
    ],
  };
  checkReach(settings);
  checkShared(settings);
  checkFiles(settings);
  return settings;
}

function filesSaid(invocation: Invocation, said: ServeFile["files"] = true, folder: string): FileSettings {
  const { large_store, ...flags } = typeof said === "object" ? said : {};
  const largeStore = toPlace(invocation.value("large-store"), process.cwd()) ?? toPlace(large_store, folder);
  return { ...flags, ...fileFlags(invocation), isOn: said !== false, large_store: largeStore };
}

/** Refuses sources that take files if there are none. */
function checkFiles({ files, sources }: ServeSettings): void {
  if (files.isOn) return;
  const [source] = sources.filter((each) => each.user_files === true);
  if (source === undefined) return;
  const sentence = `the source ${JSON.stringify(source.name)} has "user_files", but "files" is false`;
  throw new UsageError(`${sentence}: leave "files" out of the configuration, or set it to true`, "serve");
}

function toPlace(said: string | undefined, folder: string): string | undefined {
  if (said === undefined || /^s3:\/\//i.test(said)) return said;
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(said)) return resolve(folder, said);
  throw new UsageError("a store must be a folder, or s3://bucket/prefix", "serve");
}

function secondsSaid(invocation: Invocation, name: string): number | undefined {
  const said = invocation.value(name);
  if (said === undefined) return undefined;
  const number = /^\d+(?:\.\d+)?$/.test(said) ? Number(said) : Number.NaN;
  if (number <= MAX_END) return number;
  throw new UsageError(`--${name} must be a number of seconds from 0 to ${MAX_END}, such as 10`, "serve");
}

function stateSaid(invocation: Invocation): string | undefined {
  const said = invocation.value("state");
  if (said === undefined || /^rediss?:\/\/./i.test(said)) return said;
  throw new UsageError("--state needs a Redis server, as in --state redis://127.0.0.1:6379", "serve");
}

function passwordIn(url: string | undefined): string | undefined {
  const password = url !== undefined && URL.canParse(url) ? new URL(url).password : "";
  return password === "" ? undefined : decodeURIComponent(password);
}

/** Refuses to listen for other machines without authentication: clients can use the sources and start programs. */
function checkReach({ address, config, token }: ServeSettings): void {
  if (token !== undefined && config.auth !== undefined) {
    const sentence = `${TOKEN_VARIABLE} and "auth" in the configuration both say who may connect: use only one of them`;
    throw new UsageError(sentence, "serve");
  }
  if (config.auth?.oidc !== undefined && config.public_url === undefined && !isLoopback(address.host)) {
    const sentence = 'access tokens are for the address that clients use: name it as "public_url" in the configuration';
    throw new UsageError(sentence, "serve");
  }
  if (token !== undefined || config.auth !== undefined) return;
  const outside = isLoopback(address.host) ? fromOutside(config) : "--listen";
  if (outside === undefined) return;
  const sentence =
    `${outside} lets other machines connect, but nothing says who may: set ${TOKEN_VARIABLE}, ` +
    'or "auth" in the file of --config';
  throw new UsageError(sentence, "serve");
}

/** The key that says that clients come from other machines, through a proxy. */
function fromOutside({ public_url, hosts = [] }: ServeFile): string | undefined {
  if (public_url !== undefined && !isLoopback(bare(new URL(public_url).hostname))) return '"public_url"';
  return hosts.some((host) => !isLoopback(bare(host))) ? '"hosts"' : undefined;
}

/** Refuses a shared state without what the processes must share as well. */
function checkShared({ state, secret, store }: ServeSettings): void {
  if (state === undefined) return;
  if (secret === undefined) {
    const sentence = `processes that share state must sign with the same secret: set ${SECRET_VARIABLE}`;
    throw new UsageError(`${sentence} to the same text of at least ${SHORTEST_SECRET} characters in each`, "serve");
  }
  if (store === undefined) {
    const sentence = "processes that share state need a store that all of them can reach: name it";
    throw new UsageError(`${sentence} with --store s3://bucket/prefix, or a folder`, "serve");
  }
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

/** Prefix of variables for the words of the command, so that no word is split or searched for variables. */
const WORD = "SLUICE_COMMAND_WORD_";

/** Most variables of a source. */
const MAX_VARIABLES = 256;

/** The source for the command, if any; and the variables of all sources. */
function commandSource(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
): { readonly source: readonly ExternalToolConfig[]; readonly variables: Variables } {
  const words = Object.fromEntries(command.map((word, index) => [`${WORD}${index}`, word]));
  const inherited = childEnvironment(env);
  const variables = toVariables({ ...inherited, ...words });
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

/** A typed command gets the shell's environment. */
function environment(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const names = Object.keys(env).filter(isVariableName);
  return Object.fromEntries(names.slice(0, MAX_VARIABLES).map((name) => [name, `\${${name}}`]));
}
