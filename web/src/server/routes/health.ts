/**
 * `GET /health` and `GET /ready`, for whoever spreads requests over several processes.
 * @module
 */
import { Hono, type MiddlewareHandler } from "hono";
import { jsonAnswer } from "../json-answer.js";
import { partAway, type Part } from "../readiness.js";
import { awayRefused, methodRefused } from "../refusals.js";
import type { ServeEnv, ServeDeps } from "../deps.js";

/** Whether the process lives: 200 while it serves, 503 while it closes. Asks no store. */
export function healthRoutes({ over }: ServeDeps): Hono<ServeEnv> {
  return new Hono<ServeEnv>()
    .get("/", () => (over.aborted ? jsonAnswer({ status: "closing" }, 503) : jsonAnswer({ status: "ok" })))
    .all("/", () => methodRefused("GET, HEAD"));
}

/** Whether requests can be answered: 503 while it closes, and while a store or the state cannot be reached, with which it is. */
export function readyRoutes({ over, readiness }: ServeDeps): Hono<ServeEnv> {
  return new Hono<ServeEnv>()
    .get("/", async () => {
      if (over.aborted) return jsonAnswer({ status: "closing" }, 503);
      const parts = [...(await readiness.look())];
      const isReady = parts.every(([, isAway]) => !isAway);
      const said = Object.fromEntries(parts.map(([part, isAway]) => [part, isAway ? "away" : "ok"]));
      return jsonAnswer({ status: isReady ? "ok" : "away", ...said }, isReady ? 200 : 503);
    })
    .all("/", () => methodRefused("GET, HEAD"));
}

/** Refuses at once what needs a part that is away. */
export function whileReady({ readiness }: ServeDeps, ...parts: readonly Part[]): MiddlewareHandler<ServeEnv> {
  return async (_, next) => {
    const [away] = readiness.away(parts);
    if (away !== undefined) return awayRefused(partAway(away));
    await next();
    return undefined;
  };
}
