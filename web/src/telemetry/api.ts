/**
 * The OpenTelemetry API, if the host has it. Without an SDK that is registered there, nothing is recorded.
 * @module
 */
import { findApi } from "#telemetry";

/** An immutable set of values that belong to an operation, such as its span and its baggage. */
export interface TelemetryContext {
  /** The value of a key. */
  getValue(key: symbol): unknown;
}

/** Attributes of spans and metrics. */
export type Attributes = Readonly<Record<string, string | number | boolean | string[]>>;

/** The part of a span that Sluice uses. */
export interface TelemetrySpan {
  /** Sets attributes. */
  setAttributes(attributes: Attributes): unknown;
  /** Sets the status: 2 is an error. */
  setStatus(status: { readonly code: 2 }): unknown;
  /** Renames the span. */
  updateName(name: string): unknown;
  /** Whether the span is recorded. */
  isRecording(): boolean;
  /** Ends the span. */
  end(): void;
}

/** The identity of a span. */
export interface TelemetrySpanContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Bit 1 says that the span is sampled. */
  readonly traceFlags: number;
}

/** The options of a span that Sluice gives. */
export interface TelemetrySpanOptions {
  /** 0 internal, 1 server, 2 client. */
  readonly kind: 0 | 1 | 2;
  /** Its attributes. */
  readonly attributes: Attributes;
  /** Spans that it has to do with. */
  readonly links: { readonly context: TelemetrySpanContext }[];
}

/** Starts spans. */
export interface TelemetryTracer {
  /** Starts a span below that of the context. */
  startSpan(name: string, options: TelemetrySpanOptions, context: TelemetryContext): TelemetrySpan;
}

/** What a metric is made with. */
export interface TelemetryMetricOptions {
  /** Its unit, by UCUM. */
  readonly unit: string;
  /** What it counts or measures. */
  readonly description: string;
  /** How a histogram divides its values. */
  readonly advice?: { explicitBucketBoundaries?: number[] };
}

/** Makes metrics. */
export interface TelemetryMeter {
  /** Makes a counter. */
  createCounter(
    name: string,
    options: TelemetryMetricOptions,
  ): { add(value: number, attributes: Attributes, context?: TelemetryContext): void };
  /** Makes a histogram. */
  createHistogram(
    name: string,
    options: TelemetryMetricOptions,
  ): { record(value: number, attributes: Attributes, context?: TelemetryContext): void };
}

/** The package `@opentelemetry/api` 1.x as it is imported, from 1.7 on. */
export interface OpenTelemetryApi {
  /** The context without values. */
  readonly ROOT_CONTEXT: object;
  /** The context of what runs. */
  readonly context: object;
  /** Spans. */
  readonly trace: object;
  /** Context in requests. */
  readonly propagation: object;
  /** Metrics. */
  readonly metrics: object;
  /** The meter that records nothing. */
  readonly createNoopMeter: () => object;
}

/** The part of the API that Sluice uses. */
export interface TelemetryApi {
  /** The context without values. */
  readonly ROOT_CONTEXT: TelemetryContext;
  /** The context of what runs. */
  readonly context: {
    active(): TelemetryContext;
    with<T>(context: TelemetryContext, work: () => T): T;
  };
  /** Spans. */
  readonly trace: {
    getTracerProvider(): { getTracer(name: string): TelemetryTracer };
    setSpan(context: TelemetryContext, span: TelemetrySpan): TelemetryContext;
    getSpanContext(context: TelemetryContext): TelemetrySpanContext | undefined;
    isSpanContextValid(context: TelemetrySpanContext): boolean;
  };
  /** Context in requests. */
  readonly propagation: {
    fields(): string[];
    extract(context: TelemetryContext, carrier: Record<string, string>): TelemetryContext;
    inject(context: TelemetryContext, carrier: Record<string, string>): void;
  };
  /** Metrics. */
  readonly metrics: { getMeterProvider(): { getMeter(name: string): TelemetryMeter } };
  /** The meter that records nothing. */
  createNoopMeter(): TelemetryMeter;
}

/** The name under which Sluice records. */
export const SCOPE_NAME = "mcp-sluice";

let given: TelemetryApi | undefined;
let installed: TelemetryApi | undefined;

/**
 * Records spans and metrics through this API. In Node that is not necessary: there the installed package
 * `@opentelemetry/api` is used once an SDK is registered. Pages, and programs in one file, have to hand it over.
 *
 * @example
 * import * as api from "@opentelemetry/api";
 * useOpenTelemetry(api);
 */
export function useOpenTelemetry(api: OpenTelemetryApi): void {
  given = api as TelemetryApi;
}

/** The API, or undefined if there is none, or none with an SDK. */
export function telemetryApi(): TelemetryApi | undefined {
  return given ?? (installed ??= findApi());
}

let delegate: unknown;
let tracer: TelemetryTracer | undefined;

/** The tracer of the registered SDK. Undefined if there is none. */
export function getTracer({ trace }: TelemetryApi): TelemetryTracer | undefined {
  const provider = trace.getTracerProvider() as {
    getTracer(name: string): TelemetryTracer;
    // The proxy before an SDK has these; its tracers make spans that are never exported.
    getDelegate?(): unknown;
    getDelegateTracer?(name: string): TelemetryTracer | undefined;
  };
  const now = provider.getDelegate?.() ?? provider;
  if (now === delegate) return tracer;
  delegate = now;
  tracer = provider.getDelegateTracer ? provider.getDelegateTracer(SCOPE_NAME) : provider.getTracer(SCOPE_NAME);
  return tracer;
}

let meterProvider: unknown;
let meter: TelemetryMeter | undefined;

/** The meter of the registered SDK. Undefined if there is none. */
export function getMeter(api: TelemetryApi): TelemetryMeter | undefined {
  const now = api.metrics.getMeterProvider();
  if (now === meterProvider) return meter;
  meterProvider = now;
  const found = now.getMeter(SCOPE_NAME);
  meter = found === api.createNoopMeter() ? undefined : found;
  return meter;
}
