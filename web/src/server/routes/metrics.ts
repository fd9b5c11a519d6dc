/**
 * `GET /metrics`, for Prometheus. Behind no session: it has a token of its own, or none.
 * @module
 */
import type { Hono } from "hono";
import { metricsResponse } from "../../telemetry/metrics-endpoint.js";
import { nothingThere } from "../http/refusals.js";
import type { InSession, ServeEnv, ServeDeps } from "../deps.js";
import { routesOf } from "./path-methods.js";

/** The metrics of this process, if they are offered here. */
export function metricsRoutes({ metrics }: Pick<ServeDeps, "metrics">): Hono<ServeEnv> {
  const look = (c: InSession): Response | Promise<Response> =>
    metrics === null ? nothingThere() : metricsResponse(c.req.raw, metrics);
  return routesOf({ "/": { get: look } });
}
