/**
 * Requests as operations of telemetry: by their method, route and status, never by their address.
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { contextIn } from "../../telemetry/trace-context.js";
import { OTHER } from "../../telemetry/names.js";
import { observeOperation } from "../../telemetry/operation.js";
import type { ServeEnv } from "./context.js";
import { operationFor } from "./operation.js";

const METHODS: ReadonlySet<string> = new Set("CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE".split(" "));

/** Measures each request until the head of its answer is ready. */
export const withTelemetry: MiddlewareHandler<ServeEnv> = (c, next) =>
  observeOperation(
    () => {
      const { method, url, headers } = c.req.raw;
      const known = METHODS.has(method) ? method : OTHER;
      // Where nothing is served, the pattern of what refuses it.
      const route = operationFor(c)?.path ?? matchedRoutes(c).at(-1)?.path ?? "";
      return {
        kind: "server",
        name: `${known === OTHER ? "HTTP" : known} ${route}`,
        durations: ["http.server.request.duration"],
        attributes: {
          "http.request.method": known,
          "http.route": route,
          "url.scheme": new URL(url).protocol.slice(0, -1),
        },
        parent: contextIn(Object.fromEntries(headers)),
      };
    },
    async () => {
      await next();
    },
    () => {
      const { status } = c.res;
      return {
        attributes: { "http.response.status_code": status },
        ...(status >= 500 && { error: String(status) }),
      };
    },
  );
