/**
 * Checks where requests come from, and sets the headers of every answer. Foreign host names are refused (DNS
 * rebinding), and so are pages of other origins that act for their visitor (CORS).
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { wrong } from "../../errors/arguments.js";
import { McpHeader } from "../../mcp/http/headers.js";
import { isLoopback, isOrigin } from "../../tools/addresses.js";
import { SAFETY } from "./headers.js";
import { closingRefused, originRefused } from "./refusals.js";
import { isProbe } from "./readiness.js";
import type { ServeEnv } from "./context.js";

/** The names of the server, and the origins that may use it. */
interface HostDeps {
  /** The public URL, such as `https://sluice.example`. By default only this machine can connect. */
  readonly publicUrl?: string | undefined;
  /** Further host names or addresses. */
  readonly hosts?: readonly string[] | undefined;
  /** Further origins. */
  readonly origins?: readonly string[] | undefined;
}

/** Values of `Sec-Fetch-Site` for requests by pages of another origin (Fetch Metadata). */
const FOREIGN: ReadonlySet<string> = new Set(["cross-site", "same-site"]);

/** Checks requests by their headers `Host`, `Origin` and `Sec-Fetch-Site`. */
export class HostGuard {
  /** The public URL, if configured. */
  readonly publicUrl: URL | undefined;
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;

  /** Throws SluiceError E_INVALID_ARGUMENT for a wrong URL, host or origin. */
  constructor({ publicUrl, hosts = [], origins = [] }: HostDeps) {
    this.publicUrl = publicUrl === undefined ? undefined : checkUrl(publicUrl);
    const named = hosts.map((host) => host.toLowerCase());
    this.#hosts = new Set(this.publicUrl === undefined ? named : [...named, bare(this.publicUrl.hostname)]);
    this.#origins = new Set(origins.map(checkOrigin));
  }

  /** Whether an origin is configured in addition to the server's own. */
  isGuest(origin: string): boolean {
    return this.#origins.has(origin);
  }

  /**
   * Why a request is refused, or undefined.
   *
   * @param isOpen whether other sites may link to its address.
   */
  refusal(request: Request, isOpen: boolean): string | undefined {
    const { headers, method, url } = request;
    const host = headers.get("host") ?? new URL(url).host;
    if (!this.#isOurs(`http://${host}`)) return HOST;
    const origin = headers.get("origin");
    if (origin !== null && !this.#isOwn(origin, host) && !this.isGuest(origin)) return ORIGIN;
    const isForeign = origin === null && isFromElsewhere(headers);
    const isLink = headers.get("sec-fetch-mode") === "navigate" && (method === "GET" || method === "HEAD");
    return isForeign && !(isOpen && isLink) ? ORIGIN : undefined;
  }

  #isOurs(address: string): boolean {
    if (!URL.canParse(address)) return false;
    const url = new URL(address);
    return isLoopback(url) || this.#hosts.has(bare(url.hostname));
  }

  /** Behind a TLS proxy only the public URL tells the scheme. */
  #isOwn(origin: string, host: string): boolean {
    if (this.publicUrl !== undefined && origin === this.publicUrl.origin) return true;
    return origin === `http://${host}` || origin === `https://${host}`;
  }
}

const HOST = "This server does not answer to this host name: use the configured name, or this machine's own.";
const ORIGIN = "Pages from this origin may not use this server: open the server's own page, or configure the origin.";

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

function checkUrl(said: string): URL {
  const url = URL.canParse(said) ? new URL(said) : undefined;
  if (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.search === "" &&
    url.hash === "" &&
    url.username === ""
  ) {
    return url;
  }
  throw wrong("publicUrl", "a URL such as https://sluice.example, without query and credentials");
}

function checkOrigin(said: string): string {
  if (isOrigin(said)) return said;
  throw wrong("origins", "origins such as https://app.example, without a path");
}

/** Whether a browser says that a page of another origin caused a request. */
export function isFromElsewhere(headers: Headers): boolean {
  return FOREIGN.has(headers.get("sec-fetch-site") ?? "");
}

/** Addresses that other sites may link to: OAuth providers do, after consent. */
const OPEN: ReadonlySet<string> = new Set(["", "oauth/callback"]);

/** Who tells which requests are refused. */
interface GuardDeps {
  readonly hosts: HostGuard;
}

/** The path of all routes, which begins and ends with `/`. */
interface BaseDeps {
  readonly base: string;
}

/** Refuses requests by the host guard. */
export function fromWhereItMay({ hosts, base }: GuardDeps & BaseDeps): MiddlewareHandler<ServeEnv> {
  return (c, next) => {
    const isOpen = OPEN.has(new URL(c.req.url).pathname.slice(base.length));
    const refusal = hosts.refusal(c.req.raw, isOpen);
    return refusal === undefined ? next() : Promise.resolve(originRefused(refusal));
  };
}

/** Lets pages of configured origins read the answers (CORS). They need a token: they cannot use cookies. */
export function forGuests({ hosts }: GuardDeps): MiddlewareHandler<ServeEnv> {
  const guests = cors({
    origin: (origin) => (hosts.isGuest(origin) ? origin : null),
    allowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    allowHeaders: [
      "Accept",
      "Authorization",
      "Content-Type",
      "If-Match",
      "If-None-Match",
      "If-Range",
      "Range",
      // Also those of MCP clients, in all protocol versions.
      ...Object.values(McpHeader),
    ],
    exposeHeaders: [
      "Content-Disposition",
      "Content-Length",
      "Content-Range",
      "ETag",
      "Location",
      "RateLimit",
      "RateLimit-Policy",
      "Retry-After",
      McpHeader.session,
      McpHeader.version,
      "WWW-Authenticate",
    ],
    maxAge: 600,
  });
  return (c, next) => (hosts.isGuest(c.req.header("origin") ?? "") ? guests(c, next) : next());
}

/** Adds the {@link SAFETY} headers that an answer does not set itself. */
export const withSafety: MiddlewareHandler<ServeEnv> = async (c, next) => {
  await next();
  const { headers } = c.res;
  for (const [name, value] of Object.entries(SAFETY)) if (!headers.has(name)) headers.set(name, value);
};

/** Refuses requests while the server closes. */
export function whileOpen({ over, base }: BaseDeps & { readonly over: AbortSignal }): MiddlewareHandler<ServeEnv> {
  return (c, next) => {
    const { pathname } = new URL(c.req.url);
    return over.aborted && !isProbe(pathname, base) ? Promise.resolve(closingRefused()) : next();
  };
}
