/**
 * Answers `GET /metrics`. For Node.
 * @module
 */
import { createHash, timingSafeEqual } from "node:crypto";

/** Who gets the metrics. */
export interface MetricsOptions {
  /** The bearer token that a scrape must have. Defaults to none: anyone who reaches the address gets them. */
  readonly token?: string;
}

/** The path of the metrics, where it can be chosen. */
export const METRICS_PATH = "/metrics";

/** Longest `Authorization` header that is looked at. */
const MAX_HEADER = 8192;

/** Starts counting now, for the first scrape to have something to tell. */
export async function startMetrics(): Promise<void> {
  (await import("./prometheus.js")).exposition();
}

/** Answers a request for the metrics by its method and headers. */
export async function metricsResponse(
  { method, headers }: Pick<Request, "method" | "headers">,
  { token }: MetricsOptions,
): Promise<Response> {
  if (method !== "GET" && method !== "HEAD") return writeText(405, "Ask with GET.", { Allow: "GET, HEAD" });
  if (token !== undefined && !holds(headers.get("authorization"), token)) {
    return writeText(401, "The metrics need their own bearer token.", { "WWW-Authenticate": 'Bearer realm="metrics"' });
  }
  const { exposition, PROMETHEUS_TYPE } = await import("./prometheus.js");
  return writeText(200, await exposition().text(), { "Content-Type": PROMETHEUS_TYPE });
}

function writeText(status: number, text: string, headers: Readonly<Record<string, string>>): Response {
  return new Response(text, {
    status,
    headers: { "Cache-Control": "no-store", "Content-Type": "text/plain; charset=utf-8", ...headers },
  });
}

function holds(authorization: string | null, token: string): boolean {
  if (authorization === null || authorization.length > MAX_HEADER) return false;
  const [, given = ""] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
  // Digests compare in constant time for all tokens.
  return timingSafeEqual(digest(given), digest(token));
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
