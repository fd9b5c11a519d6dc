/**
 * Beginning a session, and being in one.
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { sessionRefused } from "../refusals.js";
import type { ServeEnv, ServeTerms } from "../terms.js";
import type { ServedSession } from "./session.js";

type Cookies = Parameters<typeof getCookie>[0];

/** Lets through who is in a session, and asks for no more than one may; says which session it is. */
export function inSession(terms: ServeTerms): MiddlewareHandler<ServeEnv> {
  return async (c, next) => {
    const { headers } = c.req.raw;
    // A page of another origin may share the browser's cookies, but not whose they are.
    const isGuest = terms.hosts.isGuest(headers.get("origin") ?? "");
    const token = bearerIn(headers) ?? (isGuest ? undefined : getCookie(c, cookieName(terms, c.req.raw)));
    const id = token === undefined ? null : await terms.tokens.read(token);
    const session = id === null ? null : await terms.state.sessions.find(id);
    if (session === null) return sessionRefused();
    c.set("session", session);
    return terms.admission.admit(c, next);
  };
}

/** Gives a session's token to a browser, which shows it to no script. */
export async function giveCookie(c: Cookies, terms: ServeTerms, session: ServedSession): Promise<void> {
  setCookie(c, cookieName(terms, c.req.raw), await terms.tokens.sign(session), {
    ...cookieTerms(terms),
    expires: new Date(session.expires_at),
  });
}

/** Takes it back. */
export function takeCookie(c: Cookies, terms: ServeTerms): void {
  setCookie(c, cookieName(terms, c.req.raw), "", { ...cookieTerms(terms), maxAge: 0 });
}

/** Lax: a provider sends people back by a link. What changes something asks for the origin beside. */
function cookieTerms({ base, hosts }: ServeTerms) {
  return { path: base, httpOnly: true, sameSite: "Lax", secure: isSecure(hosts.publicUrl) } as const;
}

/** Cookies know no ports: two servers on one machine would take each other's. */
function cookieName({ hosts }: ServeTerms, request: Request): string {
  const asked = new URL(`http://${request.headers.get("host") ?? new URL(request.url).host}`);
  const { port } = hosts.publicUrl ?? asked;
  return `sluice_session${port === "" ? "" : `_${port}`}`;
}

function isSecure(url: URL | undefined): boolean {
  return url?.protocol === "https:";
}

function bearerIn(headers: Headers): string | undefined {
  return /^Bearer +([\w.~+/-]+=*)$/i.exec(headers.get("authorization") ?? "")?.[1];
}
