/**
 * `GET /metrics`, for Prometheus. Behind no session: it has a token of its own, or none.
 * @module
 */
import { Hono } from "hono";
import { metricsResponse } from "../../telemetry/metrics-endpoint.js";
import { nothingThere } from "../http/refusals.js";
import type { ServeEnv, ServeDeps } from "../deps.js";

/** The metrics of this process, if they are offered here. */
export function metricsRoutes({ metrics }: Pick<ServeDeps, "metrics">): Hono<ServeEnv> {
  const app = new Hono<ServeEnv>();
  return app.all("/", (c) => (metrics === null ? nothingThere() : metricsResponse(c.req.raw, metrics)));
}
