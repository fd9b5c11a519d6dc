/**
 * Session credentials: a signed token, sent as a cookie or a bearer token.
 * @module
 */
import type { Context, MiddlewareHandler } from "hono";
import { setCookie } from "hono/cookie";
import { decode, sign, verify } from "hono/jwt";
import { MAX_SCOPE_FIELD } from "../../artifacts/scope.js";
import type { Clock } from "../../artifacts/store.js";
import type { ServeEnv } from "../http/context.js";
import { sessionRefused, signInUnknown } from "../http/refusals.js";
import { inTime } from "../http/time-limit.js";
import { bearerIn } from "./access-tokens.js";
import { secretId, listSecrets, type Secrets } from "../sealing.js";
import { sameIdentity, type Authenticate, type Identity, type ServedSession } from "../session.js";
import type { Admission } from "./admission.js";
import type { HostGuard } from "../http/host-guard.js";
import type { AccessSessionDeps, OidcAccess } from "./oidc-access.js";

/** What the cookies of sessions depend on. */
interface CookieDeps {
  /** Begins and ends with `/`. */
  readonly base: string;
  readonly hosts: Pick<HostGuard, "publicUrl">;
  readonly tokens: SessionTokens;
}

/** What sessions are found and let in by. */
export interface CredentialsDeps extends CookieDeps, AccessSessionDeps {
  readonly hosts: Pick<HostGuard, "publicUrl" | "isGuest">;
  readonly authenticate: Authenticate;
  /** Lets users in by access tokens of a provider, or null. */
  readonly access: Pick<OidcAccess, "session"> | null;
  /** Counts the requests of sessions. */
  readonly admission: Pick<Admission, "admit">;
}

/** Most cookies of the name that are read. */
const MAX_COOKIES = 8;

/**
 * Requires a session, applies its limits, and sets the variable `session`. A bearer token counts before all cookies.
 * Requests without a session get 401.
 */
export function inSession(deps: CredentialsDeps): MiddlewareHandler<ServeEnv> {
  return async (c, next) => {
    const { headers } = c.req.raw;
    // A page of another origin may share the browser's cookies, but not the session.
    const isGuest = deps.hosts.isGuest(headers.get("origin") ?? "");
    const bearer = bearerIn(headers);
    const tokens = bearer !== null ? [bearer] : isGuest ? [] : cookiesIn(headers, cookieName(deps, c.req.raw));
    const id = await onlySession(tokens, deps);
    const session = id === null ? null : await deps.readiness.unlessAway("state", deps.state.sessions.find(id));
    if (session === null) {
      const access = (await deps.access?.session(c.req.raw, deps)) ?? null;
      if (access === null) return sessionRefused();
      if (access instanceof Response) return access;
      c.set("session", access.session);
      c.set("until", access.until);
      return deps.admission.admit(c, next);
    }
    if (bearer === null && (await isOfAnother(session, c.req.raw, deps))) return sessionRefused();
    c.set("session", session);
    c.set("isPage", bearer === null);
    return deps.admission.admit(c, next);
  };
}

/**
 * Whether the host now identifies the browser's user as another one: a proxy in front may have signed in
 * another user.
 */
async function isOfAnother(
  session: ServedSession,
  request: Request,
  deps: Pick<CredentialsDeps, "authenticate">,
): Promise<boolean> {
  const identity = await identifySender(request, deps);
  return identity !== null && !sameIdentity(identity, session.identity);
}

/** Sets the session's cookie, which scripts cannot read. */
export async function setSessionCookie(c: Context, deps: CookieDeps, session: ServedSession): Promise<void> {
  setCookie(c, cookieName(deps, c.req.raw), await deps.tokens.sign(session), {
    ...cookieOptions(deps),
    expires: new Date(session.expires_at),
  });
}

/** Deletes the session's cookie. */
export function deleteSessionCookie(c: Context, deps: Omit<CookieDeps, "tokens">): void {
  setCookie(c, cookieName(deps, c.req.raw), "", { ...cookieOptions(deps), maxAge: 0 });
}

/**
 * Lax, since OAuth providers send people back by a link. Requests that change something are checked for their origin
 * too.
 */
function cookieOptions({ base, hosts }: Omit<CookieDeps, "tokens">) {
  return { path: base, httpOnly: true, sameSite: "Lax", secure: isSecure(hosts.publicUrl) } as const;
}

/** Cookies ignore ports: without the port in the name, two servers on one machine would overwrite each other's. */
function cookieName({ hosts }: Pick<CookieDeps, "hosts">, request: Request): string {
  const asked = new URL(`http://${request.headers.get("host") ?? new URL(request.url).host}`);
  const { port } = hosts.publicUrl ?? asked;
  return `sluice_session${port === "" ? "" : `_${port}`}`;
}

function isSecure(url: URL | undefined): boolean {
  return url?.protocol === "https:";
}

/** Cookies of one name. There may be several, for several paths or set by a server on a related domain. */
function cookiesIn(headers: Headers, name: string): readonly string[] {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.slice(0, MAX_COOKIES);
}

/** The session of the tokens. Null for none, and for tokens of different sessions: another page set one of them. */
async function onlySession(tokens: readonly string[], deps: Pick<CookieDeps, "tokens">): Promise<string | null> {
  const read = await Promise.all(tokens.map((token) => deps.tokens.read(token)));
  const ids = new Set(read.filter((id) => id !== null));
  const [id = null] = ids;
  return ids.size === 1 ? id : null;
}

const ALGORITHM = "HS256";

/** Longer than any token that we sign. */
const MAX_TOKEN = 1024;

/**
 * Signs and reads session tokens: JSON Web Tokens (RFC 7519) with HMAC-SHA256. All processes that share sessions
 * share the secrets. A token names the one that signed it.
 */
export class SessionTokens {
  readonly #current: SigningKey;
  /** By the ids of their secrets. */
  readonly #keys: ReadonlyMap<string, SigningKey>;
  readonly #clock: Clock;

  /** Throws SluiceError E_INVALID_ARGUMENT for a secret that is too short. `clock` is that of all processes. */
  constructor(secrets: Secrets, clock: Clock = Date.now) {
    this.#clock = clock;
    const [secret, ...others] = listSecrets(secrets);
    this.#current = toSigningKey(secret);
    this.#keys = new Map([this.#current, ...others.map(toSigningKey)].map((key) => [key.kid, key]));
  }

  /** Signs the token of a session: its id as `sid`. Both expire together. */
  sign({ id, begun_at, expires_at }: ServedSession): Promise<string> {
    return sign({ sid: id, iat: seconds(begun_at), exp: seconds(expires_at) }, this.#current);
  }

  /** The session id of a token, or null if the token is not ours or has expired. */
  async read(token: string): Promise<string | null> {
    if (token.length > MAX_TOKEN) return null;
    try {
      const { kid } = decode(token).header as { readonly kid?: unknown };
      const key = typeof kid === "string" ? this.#keys.get(kid) : undefined;
      if (key === undefined) return null;
      // By the clock of all processes, not by this machine's.
      const { sid, exp } = await verify(token, key, { alg: ALGORITHM, exp: false, iat: false });
      const isOver = exp === undefined || exp <= seconds(this.#clock());
      return typeof sid === "string" && !isOver ? sid : null;
    } catch {
      return null;
    }
  }
}

interface SigningKey extends JsonWebKey {
  readonly alg: typeof ALGORITHM;
  readonly kid: string;
}

function toSigningKey(secret: string): SigningKey {
  return { kty: "oct", k: Buffer.from(secret).toString("base64url"), alg: ALGORITHM, kid: secretId(secret) };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

/** Milliseconds until the host's authentication is given up. */
const AUTHENTICATION = 30_000;

/**
 * The sender of a request, or null. If the host's function fails or hangs, the request is refused.
 *
 * @throws SluiceError E_STORE_READ if it cannot be found out.
 */
export async function identifySender(
  request: Request,
  { authenticate }: { readonly authenticate: Authenticate },
): Promise<Identity | null> {
  const askHost = async (): Promise<Identity | null> => authenticate(request);
  try {
    const identity = await inTime(askHost(), AUTHENTICATION, () => new Error("authenticate did not answer in time."));
    if (identity === null || isIdentity(identity)) return identity;
    throw new TypeError("authenticate must give an identity with a user_id of 1 to 1,024 characters, or null.");
  } catch (error) {
    throw signInUnknown(error);
  }
}

function isIdentity({ user_id, tenant_id }: Identity): boolean {
  return isName(user_id) && user_id !== "" && ((tenant_id ?? null) === null || isName(tenant_id));
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value.length <= MAX_SCOPE_FIELD;
}
