/**
 * Translates settings into the options of a `SluiceServer`, and into its authentication.
 * @module
 */
import { createHash } from "node:crypto";
import { hostname, networkInterfaces, tmpdir } from "node:os";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { MemoryArtifactStore } from "../../artifacts/memory.js";
import { MAX_SCOPE_FIELD } from "../../artifacts/scope.js";
import type { SluiceConfig } from "../../config/types.js";
import { createSluiceOver } from "../../core/sluice.js";
import { SluiceError } from "../../errors/error.js";
import { checkSandbox, localWorkspaces } from "../../files/local-workspaces.js";
import { FLAGS } from "../../files/options.js";
import type { LlmClient } from "../../planner/llm/client.js";
import { OpenAiClient } from "../../planner/llm/openai.js";
import type { ServeLimits, SluiceServerOptions } from "../../server/options.js";
import type { UserLimits } from "../../server/usage/user-limits.js";
import type { Authenticate, Identity } from "../../server/session.js";
import { checkProvider, type OAuthProviderConfig } from "../../tools/auth/oauth-client.js";
import { wrongValue } from "../../tools/errors.js";
import { CommandError, Exit } from "../exit.js";
import { isEverywhere, isLoopback, formatUrl } from "../proxy/http-listener.js";
import type { ServeFile } from "./schema.js";
import type { ServeSettings } from "./settings.js";

/** The options that need neither a store nor a port. Throws if the configuration is wrong. */
export async function serverOptions(settings: ServeSettings): Promise<Omit<SluiceServerOptions, "store">> {
  const { config, address, sources, variables, secret, oldSecrets } = settings;
  const { public_url: publicUrl, hosts = [], origins, limits = {}, retention, instructions } = config;
  const { user_limits: userLimits = {} } = config;
  for (const [name, said] of Object.entries(config.providers ?? {})) {
    // The real redirect URI is known once the server listens.
    checkProvider(name, toProvider(said, "http://127.0.0.1/oauth/callback"));
  }
  await checkPrograms(settings);
  const llm = createModel(config.model);
  const reducing = await checkArtifactConfig(config.artifacts);
  return {
    sources,
    variables,
    hosts: [...hosts, ...ownHosts(address.host)],
    limits: toLimits(limits),
    userLimits: toLimits(userLimits),
    ...(publicUrl !== undefined && { publicUrl }),
    ...(origins !== undefined && { origins }),
    ...(secret !== undefined && { secret, oldSecrets }),
    ...(retention !== undefined && { retention }),
    ...(instructions !== undefined && { instructions }),
    ...(llm !== undefined && { llm }),
    ...(settings.files.isOn && { files: toFilesOptions(settings) }),
    ...(reducing !== undefined && { config: reducing }),
  };
}

/** The sign-in by access tokens, which are for the public URL, or for the address that the server listens at. */
export function oidcOptions(
  { config, address }: ServeSettings,
  port: number,
): Pick<SluiceServerOptions, "oidc" | "publicUrl"> {
  const said = config.auth?.oidc;
  if (said === undefined) return {};
  const { issuer, ...others } = said;
  const given = Object.entries(others).filter(([, value]) => value !== undefined);
  const oidc = { issuer, ...Object.fromEntries(given.map(([name, value]) => [camelCase(name), value])) };
  return { oidc, publicUrl: config.public_url ?? formatUrl(address.host, port, "/") };
}

/** The OAuth providers, and our client at them. Codes return to the address that the server listens at. */
export function providerOptions(
  { config, address }: ServeSettings,
  port: number,
): Pick<SluiceServerOptions, "providers" | "oauthClient"> {
  const host = isEverywhere(address.host) ? "127.0.0.1" : address.host;
  const base = config.public_url ?? formatUrl(host, port, "/");
  const redirect_uri = new URL("oauth/callback", base.endsWith("/") ? base : `${base}/`).href;
  const providers = Object.entries(config.providers ?? {}).map(
    ([name, said]) => [name, toProvider(said, redirect_uri)] as const,
  );
  return { providers: Object.fromEntries(providers), oauthClient: { redirect_uri } };
}

function toProvider(said: Readonly<Record<string, unknown>>, redirect_uri: string): OAuthProviderConfig {
  return { redirect_uri, ...said } as unknown as OAuthProviderConfig;
}

/** Limits by the names of options. */
function toLimits(said: Readonly<Record<string, number | undefined>>): ServeLimits & UserLimits {
  const limits = Object.entries(said).filter(([, value]) => value !== undefined);
  return Object.fromEntries(limits.map(([name, value]) => [camelCase(name), value]));
}

function camelCase(name: string): string {
  return name.replace(/_./g, (part) => part.slice(1).toUpperCase());
}

/** Options for users' files, with folders if a source takes files. Programs cannot see the stores' folders. */
function toFilesOptions({ files, folder, store, sources }: ServeSettings): SluiceServerOptions["files"] & object {
  const { large_store, folders, sandbox = false } = files;
  const said = FLAG_NAMES.map((name) => [name, files[name]] as const).filter(([, value]) => value !== undefined);
  const flags: Partial<typeof FLAGS> = Object.fromEntries(said);
  if (!sources.some(({ user_files }) => user_files === true)) return flags;
  const hide = [store, large_store].filter((place) => place !== undefined && !/^s3:/i.test(place)) as string[];
  const root = folders === undefined ? TEMPORARY : resolve(folder, folders);
  // A folder that was named may be shared with other machines.
  const paths = folders === undefined ? "programs" : "all";
  return { ...flags, ...localWorkspaces({ sandbox, hide, root }), paths };
}

/** Checks that programs can be started as `files.sandbox` wants it. Throws CommandError, exit 2. */
async function checkPrograms({ files: { sandbox = false }, sources }: ServeSettings): Promise<void> {
  if (!sandbox || !sources.some(({ user_files }) => user_files === true)) return;
  try {
    await checkSandbox();
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    throw new CommandError(Exit.usage, `"files.sandbox" cannot be had here: ${error.message}`, { cause: error });
  }
}

const FLAG_NAMES = Object.keys(FLAGS) as readonly (keyof typeof FLAGS)[];

/** Where tools that follow the specification write, regardless of TMPDIR. */
const TEMPORARY = process.platform === "win32" ? tmpdir() : "/tmp";

function createModel(model: ServeFile["model"]): LlmClient | undefined {
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

/** Lets the core check the configuration now rather than in the first chat. */
async function checkArtifactConfig(said: ServeFile["artifacts"]): Promise<SluiceConfig | undefined> {
  if (said === undefined) return undefined;
  for (const key of ["retention", "interceptor"]) {
    if (!Object.hasOwn(said, key)) continue;
    const remedy =
      key === "interceptor" ? "left out: it has no effect here" : 'written as "retention", next to "artifacts"';
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

/** This machine's host names and addresses, if the server listens at more than the loopback address. */
function ownHosts(host: string): readonly string[] {
  if (isLoopback(host)) return [];
  if (!isEverywhere(host)) return [host];
  const addresses = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
  // Link-local addresses end in the name of their interface.
  return [hostname(), ...addresses.map((address) => address.replace(/%.*$/, ""))];
}

/** The user of the single token. */
const LOCAL: Identity = { user_id: "local" };

/**
 * Authenticates by tokens, by a header of a proxy, or by a module of the host's; undefined if there is one user.
 *
 * @throws CommandError, exit 2, for an invalid module.
 */
export async function createAuthentication({
  config,
  token,
  folder,
}: ServeSettings): Promise<Authenticate | undefined> {
  const { tokens, header, module } = config.auth ?? {};
  if (token !== undefined) return byToken(new Map([[digest(token), LOCAL]]));
  if (tokens !== undefined) return byToken(identities(tokens));
  if (header !== undefined) return byHeader(header);
  return module === undefined ? undefined : byModule(resolve(folder, module));
}

/** Looks tokens up by their digests, so that timing reveals nothing about them. */
function byToken(known: ReadonlyMap<string, Identity>): Authenticate {
  return (request) => {
    const [, token] = /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    return token === undefined ? null : (known.get(digest(token)) ?? null);
  };
}

type Auth = NonNullable<ServeFile["auth"]>;

function identities(tokens: NonNullable<Auth["tokens"]>): ReadonlyMap<string, Identity> {
  const known = new Map<string, Identity>();
  for (const { token, user_id, tenant_id = null } of tokens) {
    if (known.has(digest(token))) {
      throw new CommandError(
        Exit.usage,
        '"auth.tokens" in the configuration has a token twice: give each user one of their own',
      );
    }
    known.set(digest(token), { user_id, tenant_id });
  }
  return known;
}

function byHeader({ user, tenant }: NonNullable<Auth["header"]>): Authenticate {
  return ({ headers }) => {
    const user_id = headerSaid(headers, user);
    if (user_id === null) return null;
    if (tenant === undefined) return { user_id };
    const tenant_id = headerSaid(headers, tenant);
    return tenant_id === null ? null : { user_id, tenant_id };
  };
}

/** A comma means that the header was sent twice, and one of the two is not the proxy's. */
function headerSaid(headers: Headers, name: string): string | null {
  // Not trimmed: white space that HTTP does not know is part of a name.
  const value = headers.get(name) ?? "";
  return value === "" || value.length > MAX_SCOPE_FIELD || value.includes(",") ? null : value;
}

function wrongModule(why: string, cause?: unknown): CommandError {
  return new CommandError(Exit.usage, `"auth.module" in the configuration ${why}`, { cause });
}

async function byModule(path: string): Promise<Authenticate> {
  let loaded: { readonly authenticate?: unknown };
  try {
    loaded = (await import(pathToFileURL(path).href)) as { readonly authenticate?: unknown };
  } catch (error) {
    throw wrongModule(
      "cannot be loaded: name a JavaScript module by its path relative to the configuration file",
      error,
    );
  }
  const { authenticate } = loaded;
  if (typeof authenticate !== "function") throw wrongModule("must export a function authenticate(request)");
  return (request) => authenticate(request) as ReturnType<Authenticate>;
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
