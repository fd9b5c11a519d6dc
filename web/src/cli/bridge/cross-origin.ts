/**
 * What a page of another origin may send and read (Fetch Standard, "CORS protocol").
 * @module
 */
import type { HttpHandler } from "../proxy/listen-http.js";

const METHODS = "GET, POST, DELETE";

/** Headers of MCP's, in both eras, that pages send. */
const SENT: readonly string[] = [
  "accept",
  "authorization",
  "content-type",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
];

/** Headers that repeat arguments: each tool names its own. */
const PARAMETER = /^mcp-param-[a-z0-9-]{1,64}$/;

/** Such headers in one answer. */
const MAX_PARAMETERS = 64;

const READ = "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After, Content-Disposition";

/** How long, in seconds, browsers may remember the answer. */
const MAX_AGE = "600";

/** Answers pages as browsers want it. Which pages may ask at all was decided before. */
export function forPages(handler: HttpHandler): HttpHandler {
  return async (request) => {
    const { method, headers } = request;
    const origin = headers.get("origin");
    if (origin === null) return handler(request);
    if (method === "OPTIONS" && headers.has("access-control-request-method")) return preflight(headers, origin);
    const response = await handler(request);
    response.headers.set("access-control-allow-origin", origin);
    response.headers.set("access-control-expose-headers", READ);
    response.headers.append("vary", "Origin");
    return response;
  };
}

function preflight(headers: Headers, origin: string): Response {
  const asked = (headers.get("access-control-request-headers") ?? "").split(",").map((name) => name.trim());
  const parameters = asked.filter((name) => PARAMETER.test(name)).slice(0, MAX_PARAMETERS);
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": origin,
      "access-control-allow-methods": METHODS,
      "access-control-allow-headers": [...SENT, ...parameters].join(", "),
      // Browsers ask whether a page from elsewhere may reach this machine (Private Network Access).
      "access-control-allow-private-network": "true",
      "access-control-max-age": MAX_AGE,
      vary: "Origin, Access-Control-Request-Headers",
    },
  });
}
