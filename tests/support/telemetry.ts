/**
 * An OpenTelemetry SDK that keeps in memory what is recorded, registered as a program would register it.
 * @module
 */
import { context, metrics, propagation, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { InMemorySpanExporter, SimpleSpanProcessor, type ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

/** One value of a metric: of a histogram its sum and its count. */
export interface Measured {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly value: number;
  readonly count: number;
}

/** What was recorded since it was registered. */
export class RecordedTelemetry implements AsyncDisposable {
  readonly #spans = new InMemorySpanExporter();
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #tracing = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#spans)] });
  readonly #metering = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: this.#metrics, exportIntervalMillis: 3_600_000 })],
  });

  constructor() {
    this.#tracing.register();
    metrics.setGlobalMeterProvider(this.#metering);
  }

  /** The spans that have ended. */
  get spans(): readonly ReadableSpan[] {
    return this.#spans.getFinishedSpans();
  }

  /** The values of a metric, or of all. */
  async measured(name?: string): Promise<readonly Measured[]> {
    this.#metrics.reset();
    await this.#metering.forceFlush();
    const scopes = this.#metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
    return scopes
      .flatMap(({ metrics: each }) => each)
      .filter(({ descriptor }) => name === undefined || descriptor.name === name)
      .flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => {
          const { sum = 0, count } = typeof value === "number" ? { sum: value, count: 1 } : value;
          return { name: descriptor.name, unit: descriptor.unit, attributes, value: sum, count };
        }),
      );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const api of [trace, metrics, context, propagation]) api.disable();
    await this.#tracing.shutdown();
    await this.#metering.shutdown();
  }
}
