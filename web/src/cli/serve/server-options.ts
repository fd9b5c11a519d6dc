/**
 * The options of a `SluiceServer`, as settings say them.
 * @module
 */
import { resolve } from "node:path";
import { MemoryArtifactStore } from "../../artifacts/memory.js";
import type { SluiceConfig } from "../../core/config.js";
import { createSluiceOver } from "../../core/create.js";
import { SluiceError } from "../../errors/error.js";
import type { LlmClient } from "../../planner/llm/client.js";
import { OpenAiClient } from "../../planner/llm/openai/client.js";
import type { ServeLimits, SluiceServerOptions } from "../../server/options.js";
import { checkProvider, type OAuthProviderConfig } from "../../tools/auth/provider-config.js";
import { localWorkspaces } from "../../files/local-workspaces.js";
import { wrongValue } from "../../tools/config/problem.js";
import { CommandError, Exit } from "../exit.js";
import { isEverywhere, shown } from "../proxy/listen-address.js";
import { ownHosts } from "./own-hosts.js";
import type { ServeFile } from "./schema.js";
import type { ServeSettings } from "./settings.js";

/** What needs no store, and no port; the rest of the options is whatever is open. Throws where the configuration is wrong. */
export async function serverOptions(settings: ServeSettings): Promise<Omit<SluiceServerOptions, "store">> {
  const { config, address, sources, variables, secret } = settings;
  const { public_url: publicUrl, hosts = [], origins, limits = {}, retention, instructions } = config;
  for (const [name, said] of Object.entries(config.providers ?? {})) {
    // Where codes come back to is known once it listens.
    checkProvider(name, providerOf(said, "http://127.0.0.1/oauth/callback"));
  }
  const llm = modelOf(config.model);
  const reducing = await checkedConfig(config.artifacts);
  return {
    sources,
    variables,
    hosts: [...hosts, ...ownHosts(address.host)],
    limits: limitsOf(limits),
    ...(publicUrl !== undefined && { publicUrl }),
    ...(origins !== undefined && { origins }),
    ...(secret !== undefined && { secret }),
    ...(retention !== undefined && { retention }),
    ...(instructions !== undefined && { instructions }),
    ...(llm !== undefined && { llm }),
    ...(typeof config.files === "object" && { files: foldersOf(config.files, settings) }),
    ...(reducing !== undefined && { config: reducing }),
  };
}

/** Who gives tokens, and who we are to them: codes come back to where this is served. */
export function providerOptions(
  { config, address }: ServeSettings,
  port: number,
): Pick<SluiceServerOptions, "providers" | "oauthClient"> {
  const host = isEverywhere(address.host) ? "127.0.0.1" : address.host;
  const base = config.public_url ?? shown(host, port, "/");
  const redirect_uri = new URL("oauth/callback", base.endsWith("/") ? base : `${base}/`).href;
  const providers = Object.entries(config.providers ?? {}).map(
    ([name, said]) => [name, providerOf(said, redirect_uri)] as const,
  );
  return { providers: Object.fromEntries(providers), oauthClient: { redirect_uri } };
}

function providerOf(said: Readonly<Record<string, unknown>>, redirect_uri: string): OAuthProviderConfig {
  return { redirect_uri, ...said } as unknown as OAuthProviderConfig;
}

function limitsOf(said: NonNullable<ServeFile["limits"]>): ServeLimits {
  const limits: { readonly [Key in keyof ServeLimits]: number | undefined } = {
    requestsPerMinute: said.requests_per_minute,
    sessionsPerMinute: said.sessions_per_minute,
    concurrentRequests: said.concurrent_requests,
    listeners: said.listeners,
    runs: said.runs,
    storeSeconds: said.store_seconds,
    bodySeconds: said.body_seconds,
    sessionSeconds: said.session_seconds,
  };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** A store in a folder is in no program's sight. */
function foldersOf(
  { folders, sandbox = false }: Exclude<ServeFile["files"], boolean | undefined>,
  { folder, store }: ServeSettings,
): SluiceServerOptions["files"] & object {
  const hide = store === undefined || /^s3:/i.test(store) ? [] : [store];
  return localWorkspaces({ sandbox, hide, ...(folders !== undefined && { root: resolve(folder, folders) }) });
}

function modelOf(model: ServeFile["model"]): LlmClient | undefined {
  if (model === undefined) return undefined;
  const { name, url, api_key } = model;
  try {
    return new OpenAiClient({
      model: name,
      ...(url !== undefined && { baseUrl: url }),
      ...(api_key !== undefined && { apiKey: api_key }),
    });
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    throw new CommandError(Exit.usage, `"model" in the configuration: ${error.message}`, { cause: error });
  }
}

/** What the core refuses shows now, and not in the first chat. */
async function checkedConfig(said: ServeFile["artifacts"]): Promise<SluiceConfig | undefined> {
  if (said === undefined) return undefined;
  for (const key of ["retention", "door"]) {
    if (!Object.hasOwn(said, key)) continue;
    const remedy =
      key === "door" ? "left out: nothing of it has an effect here" : 'said as "retention", beside "artifacts"';
    throw wrongValue(`artifacts.${key}`, remedy);
  }
  const config: SluiceConfig = said;
  try {
    await createSluiceOver({ store: new MemoryArtifactStore(), onFailure: "answer" }, config);
  } catch (error) {
    if (!(error instanceof SluiceError) || !error.code.startsWith("E_CONFIG_")) throw error;
    throw new SluiceError(error.code, `"artifacts" in the configuration: ${error.message}`, {
      path: `artifacts.${error.path ?? ""}`,
    });
  }
  return config;
}
