/**
 * Which requests come from where they may, and what holds for every answer: no name of somebody else's that leads here (DNS
 * rebinding), and no page of another origin that acts in the name of whoever looks at it (CORS).
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { wrong } from "../../errors/arguments.js";
import { isLoopback } from "../../tools/addresses.js";
import { SAFETY } from "../artifacts/headers.js";
import { closingRefused, originRefused } from "./refusals.js";
import type { ServeEnv, ServeDeps } from "../deps.js";

/** Where requests are sent to, and which pages may send them. */
interface HostDeps {
  /** Where it is reached from outside, such as `https://sluice.example`; left out: only as this machine. */
  readonly publicUrl?: string | undefined;
  /** Host names or addresses beside that of the public URL and of this machine. */
  readonly hosts?: readonly string[] | undefined;
  /** Origins of pages beside its own. */
  readonly origins?: readonly string[] | undefined;
}

/** What browsers say of a request that a page of another origin caused (Fetch Metadata). */
const FOREIGN: ReadonlySet<string> = new Set(["cross-site", "same-site"]);

/** Lets requests in by their headers `Host`, `Origin` and `Sec-Fetch-Site`. */
export class HostGuard {
  /** Where it is reached from outside; undefined where nobody said. */
  readonly publicUrl: URL | undefined;
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;

  /** Throws SluiceError E_INVALID_ARGUMENT that names what is no URL, host or origin. */
  constructor({ publicUrl, hosts = [], origins = [] }: HostDeps) {
    this.publicUrl = publicUrl === undefined ? undefined : checkedUrl(publicUrl);
    const named = hosts.map((host) => host.toLowerCase());
    this.#hosts = new Set(this.publicUrl === undefined ? named : [...named, bare(this.publicUrl.hostname)]);
    this.#origins = new Set(origins.map(checkedOrigin));
  }

  /** Whether a page of that origin may use what is served, beside those that are served here. */
  isGuest(origin: string): boolean {
    return this.#origins.has(origin);
  }

  /**
   * Why a request is not let in; undefined for one that is.
   *
   * @param isOpen whether pages elsewhere may link to what it asks for.
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

  /** Behind a proxy that speaks TLS the public URL alone tells the scheme. */
  #isOwn(origin: string, host: string): boolean {
    if (this.publicUrl !== undefined && origin === this.publicUrl.origin) return true;
    return origin === `http://${host}` || origin === `https://${host}`;
  }
}

const HOST = "This host name does not lead here: ask by the name that is configured, or by that of this machine.";
const ORIGIN = "Pages of that origin may not use this: open the page from here, or configure the origin.";

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

function checkedUrl(said: string): URL {
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

function checkedOrigin(said: string): string {
  if (/^https?:/.test(said) && URL.canParse(said) && new URL(said).origin === said) return said;
  throw wrong("origins", "origins such as https://app.example, without a path");
}

/** Whether a browser says that a page of another origin caused a request. */
export function isFromElsewhere(headers: Headers): boolean {
  return FOREIGN.has(headers.get("sec-fetch-site") ?? "");
}

/** Pages elsewhere may send people here: providers do, after consent. */
const OPEN: ReadonlySet<string> = new Set(["", "oauth/callback"]);

/** Headers that clients of MCP send, in both eras. */
const MCP = ["Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id"];

/** Refuses what does not come from where it may. */
export function fromWhereItMay({ hosts, base }: Pick<ServeDeps, "hosts" | "base">): MiddlewareHandler<ServeEnv> {
  return (c, next) => {
    const isOpen = OPEN.has(new URL(c.req.url).pathname.slice(base.length));
    const refusal = hosts.refusal(c.req.raw, isOpen);
    return refusal === undefined ? next() : Promise.resolve(originRefused(refusal));
  };
}

/** Lets configured pages of other origins read the answers. They bring a token: cookies are not theirs to use. */
export function forGuests({ hosts }: Pick<ServeDeps, "hosts">): MiddlewareHandler<ServeEnv> {
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
      "Last-Event-ID",
      "Range",
      ...MCP,
    ],
    exposeHeaders: [
      "Content-Disposition",
      "Content-Length",
      "Content-Range",
      "ETag",
      "Location",
      "Retry-After",
      "Mcp-Session-Id",
      "Mcp-Protocol-Version",
    ],
    maxAge: 600,
  });
  return (c, next) => (hosts.isGuest(c.req.header("origin") ?? "") ? guests(c, next) : next());
}

/** Adds the headers that keep an answer from being more than it is, where it has none of its own. */
export const withSafety: MiddlewareHandler<ServeEnv> = async (c, next) => {
  await next();
  const { headers } = c.res;
  for (const [name, value] of Object.entries(SAFETY)) if (!headers.has(name)) headers.set(name, value);
};

/** Refuses what comes to a server that is closed. */
export function whileOpen({ over, base }: Pick<ServeDeps, "over" | "base">): MiddlewareHandler<ServeEnv> {
  return (c, next) => {
    const { pathname } = new URL(c.req.url);
    const isProbe = pathname === `${base}health` || pathname === `${base}ready`;
    return over.aborted && !isProbe ? Promise.resolve(closingRefused()) : next();
  };
}
