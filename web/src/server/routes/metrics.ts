/**
 * `GET /metrics`, for Prometheus. Behind no session: it has a token of its own, or none.
 * @module
 */
import { Hono } from "hono";
import { metricsResponse, type MetricsOptions } from "../../telemetry/metrics-endpoint.js";
import { nothingThere } from "../http/refusals.js";
import type { ServeEnv } from "../http/context.js";
import { declareOperation, mountRoutes, answerText } from "../http/operation.js";

interface MetricsRouteDeps {
  /** Who gets the metrics, or null if they are not offered. */
  readonly metrics: MetricsOptions | null;
}

/** The metrics of this process, if they are offered here. */
export function metricsRoutes({ metrics }: MetricsRouteDeps): Hono<ServeEnv> {
  if (metrics === null) return new Hono<ServeEnv>().all("*", nothingThere);
  return mountRoutes({
    "/": {
      get: declareOperation({
        id: "showMetrics",
        summary: "Tell the metrics of the process",
        tag: "server",
        isOpen: true,
        answers: {
          200: answerText("The metrics, in the format of Prometheus."),
          401: answerText("They need a bearer token of their own."),
        },
        handle: (c) => metricsResponse(c.req.raw, metrics),
      }),
    },
  });
}
