/**
 * `GET /usage`: what the session's user uses of the limits that are set.
 * @module
 */
import type { Hono } from "hono";
import type { ServeDeps, ServeEnv } from "../deps.js";
import { jsonAnswer } from "../http/answers.js";
import { inStoreTime } from "../http/time-limit.js";
import { routesOf } from "./path-methods.js";

/** One's own use, and nobody else's. */
export function usageRoutes(deps: ServeDeps): Hono<ServeEnv> {
  return routesOf({
    "/": {
      get: async (c) => {
        const { identity } = c.get("session");
        return jsonAnswer({ limits: await inStoreTime(deps, deps.usage.shown(identity)) });
      },
    },
  });
}
