/**
 * CPU time of a call and of a result, in microseconds, with this much telemetry: `off`, `api`, `metrics` or `sdk`. Prints JSON.
 * @module
 */
import { createSluice, MemoryArtifactStore, useOpenTelemetry } from "../../../dist/index.js";
import { McpInterceptor } from "../../../dist/mcp/interceptor.js";
import { interceptorDeps } from "../../../dist/mcp/interceptor-options.js";
import { lowerQuartile, smallResult } from "../measure.mjs";

const ROUNDS = 40;
const CALLS = 250;

const SETTINGS = {
  off: () => undefined,
  // The host's API, without an SDK.
  api: async () => useOpenTelemetry(await import("@opentelemetry/api")),
  // What `/metrics` counts, and nobody else.
  metrics: async () => (await import("../../../dist/telemetry/metrics-endpoint.js")).startMetrics(),
  // Spans and metrics, batched as in production, exported to memory.
  sdk: async () => {
    const { metrics } = await import("@opentelemetry/api");
    const { BatchSpanProcessor, InMemorySpanExporter } = await import("@opentelemetry/sdk-trace-base");
    const { NodeTracerProvider } = await import("@opentelemetry/sdk-trace-node");
    const { MeterProvider, MetricReader } = await import("@opentelemetry/sdk-metrics");
    const exporter = new InMemorySpanExporter();
    setInterval(() => exporter.reset(), 200).unref();
    new NodeTracerProvider({
      spanProcessors: [new BatchSpanProcessor(exporter, { maxQueueSize: 100_000 })],
    }).register();
    class Reader extends MetricReader {
      async onForceFlush() {}
      async onShutdown() {}
    }
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [new Reader()] }));
  },
};

const [setting = "off"] = process.argv.slice(2);
await SETTINGS[setting]();
const store = new MemoryArtifactStore();
const interceptor = new McpInterceptor(await interceptorDeps({ store, namespace: "bench" }));
const sluice = await createSluice({ store });
const sink = { forward: async () => undefined, complete: async () => undefined, nonProtocol: async () => undefined };
const result = JSON.stringify(smallResult());
const bytes = Buffer.from(result);
let id = 0;

/** A request through the interceptor, and its answer. */
async function call() {
  id += 1;
  const params = '{"name":"rows","arguments":{"query":"all"},"_meta":{"progressToken":1}}';
  await interceptor.fromClient(Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`));
  const answer = interceptor.fromServer(sink, () => undefined);
  await answer.write(Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":${result}}`));
  await answer.end();
}

/** A result in the library. */
async function reduce() {
  const stream = sluice.open({ tool: "rows", namespace: "bench" });
  await stream.write(bytes);
  await stream.close();
}

async function microseconds(work) {
  const seen = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = process.cpuUsage();
    for (let each = 0; each < CALLS; each += 1) await work();
    const { user, system } = process.cpuUsage(begun);
    seen.push((user + system) / CALLS);
  }
  return lowerQuartile(seen.slice(ROUNDS / 4));
}

console.log(JSON.stringify({ call: await microseconds(call), reduce: await microseconds(reduce) }));
process.exit(0);
