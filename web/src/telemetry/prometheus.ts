/**
 * The metrics of this process in the text format of Prometheus. For Node.
 * @module
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Meter } from "@opentelemetry/api";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus/build/src/PrometheusSerializer.js";
import { AggregationTemporality, MeterProvider, MetricReader, type MetricData } from "@opentelemetry/sdk-metrics";
import { SCOPE_NAME } from "./api.js";
import { alsoRecordIn } from "./metrics.js";

/** Most combinations of attributes that one metric shows. The SDK counts the rest together. */
const MAX_SERIES = 2000;

/** The type of the text. */
export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Gives the metrics when it is asked, and at no other time. */
class PullReader extends MetricReader {
  constructor() {
    super({
      aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE,
      cardinalitySelector: () => MAX_SERIES,
    });
  }

  protected override async onForceFlush(): Promise<void> {
    // Nothing waits.
  }

  protected override async onShutdown(): Promise<void> {
    // Nothing is open.
  }
}

/** Milliseconds between two looks at the event loop. */
const RESOLUTION = 20;

/** Counts from when it is made. */
class Exposition {
  readonly #reader = new PullReader();
  // Neither the program's path, which the resource names, nor the library's version belongs in every line.
  readonly #serializer = new PrometheusSerializer("", false, undefined, true, true);
  #collecting: Promise<string> | undefined;

  constructor() {
    const meter = new MeterProvider({ readers: [this.#reader] }).getMeter(SCOPE_NAME);
    observeProcess(meter);
    alsoRecordIn(meter);
  }

  /** The metrics as text. Those who ask meanwhile get the same. */
  text(): Promise<string> {
    this.#collecting ??= this.#collect().finally(() => (this.#collecting = undefined));
    return this.#collecting;
  }

  async #collect(): Promise<string> {
    const { resourceMetrics } = await this.#reader.collect();
    return this.#serializer.serialize({
      ...resourceMetrics,
      scopeMetrics: resourceMetrics.scopeMetrics.map(({ scope, metrics }) => ({
        scope,
        metrics: metrics.map(withUnit),
      })),
    });
  }
}

/** Units as they stand in names (OpenTelemetry, "Prometheus and OpenMetrics Compatibility"). Those in braces do not. */
const UNITS: Readonly<Record<string, string>> = { s: "seconds", By: "bytes" };

/** The same metric with its unit behind its name, which the serializer leaves out. */
function withUnit(metric: MetricData): MetricData {
  const { name, unit } = metric.descriptor;
  const word = UNITS[unit];
  return word === undefined ? metric : { ...metric, descriptor: { ...metric.descriptor, name: `${name}.${word}` } };
}

let only: Exposition | undefined;

/** That of the process. */
export function exposition(): Exposition {
  return (only ??= new Exposition());
}

/** What the process itself costs. An SDK of the host has instruments of its own for that. */
function observeProcess(meter: Meter): void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  const gauge = (name: string, unit: string, description: string, value: () => number): void => {
    meter.createObservableGauge(name, { unit, description }).addCallback((result) => result.observe(value()));
  };
  gauge("process.memory.usage", "By", "Memory that the process holds.", () => process.memoryUsage.rss());
  gauge("process.uptime", "s", "Time since the process started.", () => process.uptime());
  const cpu = meter.createObservableCounter("process.cpu.time", { unit: "s", description: "CPU time of the process." });
  cpu.addCallback((result) => {
    const { user, system } = process.cpuUsage();
    result.observe(user / 1e6, { "cpu.mode": "user" });
    result.observe(system / 1e6, { "cpu.mode": "system" });
  });
  gauge("nodejs.eventloop.delay.p99", "s", "99th percentile of the event loop's delay since the last scrape.", () => {
    const late = delay.percentile(99) / 1e9 - RESOLUTION / 1000;
    delay.reset();
    return Math.max(0, late);
  });
}
