/**
 * Being in a session: what a client shows, a cookie or a token, and what a browser is given.
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { setCookie } from "hono/cookie";
import { sessionRefused } from "../http/refusals.js";
import type { ServeEnv, ServeDeps } from "../deps.js";
import { identityOf, sameIdentity, type ServedSession } from "./session.js";
import { sign, verify } from "hono/jwt";
import { wrong } from "../../errors/arguments.js";

type Cookies = Parameters<typeof setCookie>[0];

/** Cookies of the name that are looked at. */
const MAX_COOKIES = 8;

/** Lets through who is in a session, and asks for no more than one may; says which session it is. */
export function inSession(deps: ServeDeps): MiddlewareHandler<ServeEnv> {
  return async (c, next) => {
    const { headers } = c.req.raw;
    // A page of another origin may share the browser's cookies, but not whose they are.
    const isGuest = deps.hosts.isGuest(headers.get("origin") ?? "");
    const bearer = bearerIn(headers);
    const tokens = bearer !== undefined ? [bearer] : isGuest ? [] : cookiesIn(headers, cookieName(deps, c.req.raw));
    const id = await theOne(tokens, deps);
    const session = id === null ? null : await deps.readiness.unlessAway("state", deps.state.sessions.find(id));
    if (session === null) return sessionRefused();
    if (bearer === undefined && (await isOfAnother(session, c.req.raw, deps))) return sessionRefused();
    c.set("session", session);
    return deps.admission.admit(c, next);
  };
}

/** Whether the host knows the browser's person by now as another than the one who began: a proxy in front may sign in somebody else. */
async function isOfAnother(session: ServedSession, request: Request, deps: ServeDeps): Promise<boolean> {
  const identity = await identityOf(request, deps);
  return identity !== null && !sameIdentity(identity, session.identity);
}

/** Gives a session's token to a browser, which shows it to no script. */
export async function giveCookie(c: Cookies, deps: ServeDeps, session: ServedSession): Promise<void> {
  setCookie(c, cookieName(deps, c.req.raw), await deps.tokens.sign(session), {
    ...cookieTerms(deps),
    expires: new Date(session.expires_at),
  });
}

/** Takes it back. */
export function takeCookie(c: Cookies, deps: ServeDeps): void {
  setCookie(c, cookieName(deps, c.req.raw), "", { ...cookieTerms(deps), maxAge: 0 });
}

/** Lax: a provider sends people back by a link. What changes something asks for the origin beside. */
function cookieTerms({ base, hosts }: ServeDeps) {
  return { path: base, httpOnly: true, sameSite: "Lax", secure: isSecure(hosts.publicUrl) } as const;
}

/** Cookies know no ports: two servers on one machine would take each other's. */
function cookieName({ hosts }: ServeDeps, request: Request): string {
  const asked = new URL(`http://${request.headers.get("host") ?? new URL(request.url).host}`);
  const { port } = hosts.publicUrl ?? asked;
  return `sluice_session${port === "" ? "" : `_${port}`}`;
}

function isSecure(url: URL | undefined): boolean {
  return url?.protocol === "https:";
}

/** Cookies of one name, as of several paths. A server beside this one, or a page of a domain below, may have set some of them. */
function cookiesIn(headers: Headers, name: string): readonly string[] {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.slice(0, MAX_COOKIES);
}

/** The session that the tokens are for; null where there is none. Between two nobody could tell which one is meant. */
async function theOne(tokens: readonly string[], deps: ServeDeps): Promise<string | null> {
  const read = await Promise.all(tokens.map((token) => deps.tokens.read(token)));
  const ids = new Set(read.filter((id) => id !== null));
  const [id = null] = ids;
  return ids.size === 1 ? id : null;
}

function bearerIn(headers: Headers): string | undefined {
  return /^Bearer +([\w.~+/-]+=*)$/i.exec(headers.get("authorization") ?? "")?.[1];
}

/** Characters that a secret must have. */
export const SHORTEST_SECRET = 32;

/** Throws SluiceError E_INVALID_ARGUMENT for a secret that is too short. */
export function checkSecret(secret: unknown): void {
  if (typeof secret !== "string" || secret.length < SHORTEST_SECRET) {
    throw wrong("secret", `a text of at least ${SHORTEST_SECRET} characters`);
  }
}

const ALGORITHM = "HS256";

/** Longer than any of ours. */
const MAX_TOKEN = 1024;

/** Signs and reads the tokens of sessions: all processes that share sessions have the same secret. */
export class SessionTokens {
  readonly #secret: string;

  /** Throws SluiceError E_INVALID_ARGUMENT for a secret that is too short. */
  constructor(secret: string) {
    checkSecret(secret);
    this.#secret = secret;
  }

  /** The token of a session; it ends with it. */
  sign({ id, begun_at, expires_at }: ServedSession): Promise<string> {
    return sign({ sid: id, iat: seconds(begun_at), exp: seconds(expires_at) }, this.#secret, ALGORITHM);
  }

  /** The id of the session that a token is for; null for one that is not ours, or over. */
  async read(token: string): Promise<string | null> {
    if (token.length > MAX_TOKEN) return null;
    try {
      const { sid } = await verify(token, this.#secret, ALGORITHM);
      return typeof sid === "string" ? sid : null;
    } catch {
      return null;
    }
  }
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
