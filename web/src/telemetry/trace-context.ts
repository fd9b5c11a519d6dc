/**
 * The trace context in `_meta` of MCP requests (SEP-414): `traceparent`, `tracestate` and `baggage`.
 * @module
 */
import { telemetryApi, getTracer, type TelemetryContext } from "./api.js";

/** Longest value of each key that is read. W3C allows no longer `tracestate` and `baggage` than that. */
const MAX_VALUE: Readonly<Record<string, number>> = { traceparent: 128, tracestate: 512, baggage: 8192 };

/** The same for keys of other propagators. */
const MAX_OTHER = 512;

/** The keys of the trace context, by the propagators of the host. */
export function traceFields(): readonly string[] {
  return telemetryApi()?.propagation.fields() ?? [];
}

/**
 * The context that a request's `_meta` names, as the parent of its span. Undefined if it names none, or while tracing
 * is off. Values that are too long or no text are left out; the propagators judge the others.
 */
export function contextIn(meta: unknown): TelemetryContext | undefined {
  if (typeof meta !== "object" || meta === null) return undefined;
  const api = telemetryApi();
  if (api === undefined || getTracer(api) === undefined) return undefined;
  const carrier: Record<string, string> = {};
  for (const field of api.propagation.fields()) {
    const value: unknown = Object.hasOwn(meta, field) ? (meta as Record<string, unknown>)[field] : undefined;
    if (typeof value === "string" && value.length <= (MAX_VALUE[field] ?? MAX_OTHER)) carrier[field] = value;
  }
  const context = api.propagation.extract(api.ROOT_CONTEXT, carrier);
  return context === api.ROOT_CONTEXT ? undefined : context;
}
