/**
 * Which requests come in from where, and what a browser is told of that (CORS).
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { originRefused } from "../refusals.js";
import type { ServeEnv, ServeTerms } from "../terms.js";

/** Pages elsewhere may send people here: providers do, after consent. */
const OPEN: ReadonlySet<string> = new Set(["", "oauth/callback"]);

/** Headers that clients of MCP send, in both eras. */
const MCP = ["Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id"];

/** Refuses what does not come from where it may. */
export function fromWhereItMay({ hosts, base }: Pick<ServeTerms, "hosts" | "base">): MiddlewareHandler<ServeEnv> {
  return (c, next) => {
    const isOpen = OPEN.has(new URL(c.req.url).pathname.slice(base.length));
    const refusal = hosts.refusal(c.req.raw, isOpen);
    return refusal === undefined ? next() : Promise.resolve(originRefused(refusal));
  };
}

/** Lets configured pages of other origins read the answers. They bring a token: cookies are not theirs to use. */
export function forGuests({ hosts }: Pick<ServeTerms, "hosts">): MiddlewareHandler<ServeEnv> {
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
