/**
 * What a source's requests are authorized by (ToolNode 2.1 "Auth Resolution").
 * @module
 */
import { fullScope } from "../../artifacts/scope.js";
import type { ToolConfig } from "../config.js";
import type { ToolContext } from "../context.js";
import { ToolAuthError } from "../errors.js";
import { wrong } from "../problem.js";
import type { Authorize } from "../source.js";
import { askUser } from "./consent.js";
import type { OAuthManager } from "./oauth-manager.js";
import type { OAuthProviderConfig } from "./provider-config.js";
import { tokenOwner } from "./owner.js";

/**
 * How a source wants to know who asks, its variables filled in. What describes `http` and `utcp` sources is public as a rule: no
 * user is needed to read it.
 */
export type AuthConfig = Pick<ToolConfig, "name" | "auth_type" | "auth_config"> &
  Partial<Pick<ToolConfig, "transport">>;

/** Where users' tokens come from. */
export interface AuthParts {
  /** Needed where users have tokens of their own. */
  readonly manager?: OAuthManager | undefined;
  /** Finds out a provider that the manager does not know, where the source tells of one: see `discoverMcpProvider`. */
  readonly discover?: ((signal: AbortSignal | undefined) => Promise<OAuthProviderConfig>) | undefined;
}

/** Headers for a call's requests, and what to do where they are refused. */
export interface Authorization extends Authorize {
  /**
   * Where tokens are users' own: says that the source refused the one that the call began with, or that there was none to
   * begin with. It is renewed, or the user is asked; where another call saw to that, nothing happens.
   */
  readonly refused?: () => Promise<void>;
}

/** What a header's value may be made of: anything else would end it, and `fetch` would show it in its error. */
const VALUE = /^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/;

/** A header's name (RFC 9110 §5.1). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Headers that say where a message ends or goes, and not who asks. */
const FRAMING = new Set(
  "connection content-length content-type cookie host te trailer transfer-encoding upgrade".split(" "),
);

/**
 * Finds out what a call's requests are authorized by, and waits for the user's consent where that is needed and missing.
 * What it returns gives the headers that hold at the time it is called, and waits for nobody. Of sources over `http` and
 * `utcp` nobody is asked before a request needs it: that request fails as if the source had answered 401, and `refused` asks.
 *
 * @throws ToolAuthError when it is not known who asks, nobody can be asked, or consent was not given; ToolNodeError
 * E_TOOL_CONFIG when the configuration does not suffice. Never says a value.
 */
export async function authorizeFor(config: AuthConfig, context: ToolContext, parts: AuthParts): Promise<Authorization> {
  if (config.auth_type === "oauth2_user") return ofUser(config, context, parts);
  const headers = fixedHeaders(config);
  return async () => ({ ...headers });
}

function fixedHeaders(config: AuthConfig): Readonly<Record<string, string>> {
  if (config.auth_type === "api_key") return { [headerName(config)]: configured(config, "api_key") };
  if (config.auth_type === "bearer") return { Authorization: `Bearer ${configured(config, "token")}` };
  return {};
}

async function ofUser(
  config: AuthConfig,
  context: ToolContext,
  { manager, discover }: AuthParts,
): Promise<Authorization> {
  const provider = providerOf(config);
  if (manager === undefined) {
    throw wrong(
      `The source ${config.name} needs tokens of its users, and there is no OAuthManager: give one to the ToolNode.`,
    );
  }
  const isLate = config.transport === "http" || config.transport === "utcp";
  const scope = fullScope(context.scope);
  if (isLate && (scope.user_id ?? "") === "") return async () => Promise.reject(nobody(config));
  const owner = tokenOwner(scope);
  if (discover !== undefined) await manager.ensureProvider(provider, () => discover(context.signal));
  const options = context.signal === undefined ? {} : { signal: context.signal };
  const asked = async (): Promise<string> =>
    (await manager.getToken(owner, provider, options)) ?? (await askUser(manager, provider, context));
  let first = isLate ? await manager.getToken(owner, provider, options) : await asked();
  const authorize = async (): Promise<Readonly<Record<string, string>>> => {
    const token = await manager.getToken(owner, provider);
    if (token === null) throw noConsent(provider, isLate);
    first ??= token;
    return { Authorization: `Bearer ${token}` };
  };
  const refused = async (): Promise<void> => {
    if (first !== null) await manager.refused(owner, provider, first);
    await asked();
  };
  return Object.assign(authorize, { refused });
}

function nobody({ name }: AuthConfig): ToolAuthError {
  return new ToolAuthError(
    `The source ${name} has to be told which user asks, and none is named: give the context of connect, or of the call, a ` +
      "scope.user_id.",
    { neverSent: true },
  );
}

/** With the status of what the source would answer, as long as each call is one request, which did not leave. */
function noConsent(provider: string, isLate: boolean): ToolAuthError {
  const sentence = `There is no consent for ${provider} any more: call again, and the user is asked.`;
  return new ToolAuthError(sentence, isLate ? { status: 401, neverSent: true } : {});
}

function providerOf({ auth_config, name }: AuthConfig): string {
  return auth_config["provider"] ?? name;
}

function headerName({ name, auth_config }: AuthConfig): string {
  const header = auth_config["header"] ?? "X-API-Key";
  if (NAME.test(header) && !FRAMING.has(header.toLowerCase())) return header;
  throw wrong(
    `auth_config.header of ${name} is no header that a key can be sent in: choose another, such as X-API-Key.`,
  );
}

function configured({ name, auth_config }: AuthConfig, key: string): string {
  const value = auth_config[key];
  if (value === undefined) throw wrong(`auth_config.${key} of ${name} is missing: the source's auth_type needs it.`);
  if (VALUE.test(value)) return value;
  throw wrong(
    `auth_config.${key} of ${name} cannot be sent in a header: it is empty, or holds line breaks, other control characters or spaces at an end.`,
  );
}
