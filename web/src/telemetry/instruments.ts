/**
 * Every metric: its name, unit, description, and how its values are divided.
 * @module
 */

/** How a metric is made. */
export interface Instrument {
  /** A counter only rises. A histogram has a count and a sum too. */
  readonly kind: "counter" | "histogram";
  /** By UCUM. */
  readonly unit: string;
  readonly description: string;
  /** The upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

/** As the conventions for MCP recommend, in seconds. */
const MCP_SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** As the conventions for generative AI recommend, in seconds. */
const MODEL_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/** As the conventions for HTTP recommend, in seconds. */
const HTTP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** As the conventions for generative AI recommend. */
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

/** 1 KiB to 1 GiB. */
const BYTES = [1024, 16384, 131072, 1048576, 16777216, 134217728, 1073741824];

const CHARACTERS = [100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];

/** The metrics, by name. Names that begin with `sluice.` are our own; the others are those of the conventions. */
export const INSTRUMENTS = {
  "mcp.server.operation.duration": {
    kind: "histogram",
    unit: "s",
    description: "Duration of an MCP request as Sluice received it, until it was answered.",
    buckets: MCP_SECONDS,
  },
  "mcp.client.operation.duration": {
    kind: "histogram",
    unit: "s",
    description: "Duration of an MCP request as Sluice sent it, until it was answered.",
    buckets: MCP_SECONDS,
  },
  "mcp.server.session.duration": {
    kind: "histogram",
    unit: "s",
    description: "Duration of an MCP session of a client with Sluice.",
    buckets: MCP_SECONDS,
  },
  "gen_ai.execute_tool.duration": {
    kind: "histogram",
    unit: "s",
    description: "Duration of one call of a tool.",
    buckets: MODEL_SECONDS,
  },
  "gen_ai.invoke_agent.duration": {
    kind: "histogram",
    unit: "s",
    description: "Duration of one run of a planner, until it answered, paused or failed.",
    buckets: MODEL_SECONDS,
  },
  "gen_ai.client.operation.duration": {
    kind: "histogram",
    unit: "s",
    description: "Duration of one turn of a model, with its retries.",
    buckets: MODEL_SECONDS,
  },
  "gen_ai.client.token.usage": {
    kind: "histogram",
    unit: "{token}",
    description: "Tokens of one turn of a model.",
    buckets: TOKENS,
  },
  "http.server.request.duration": {
    kind: "histogram",
    unit: "s",
    description: "Duration of an HTTP request until the head of its answer was ready.",
    buckets: HTTP_SECONDS,
  },
  "sluice.result.received": {
    kind: "counter",
    unit: "By",
    description: "Bytes of results as tools gave them.",
  },
  "sluice.result.kept_out": {
    kind: "counter",
    unit: "By",
    description: "Bytes of results that no model got to see: received less given.",
  },
  "sluice.artifact.stored": {
    kind: "histogram",
    unit: "By",
    description: "Sizes of the artifacts that were stored out of results.",
    buckets: BYTES,
  },
  "sluice.artifact.expired": {
    kind: "histogram",
    unit: "By",
    description: "Sizes of the artifacts that retention removed.",
    buckets: BYTES,
  },
  "sluice.observation.clamped": {
    kind: "histogram",
    unit: "{character}",
    description: "Characters that the guardrail cut off an observation.",
    buckets: CHARACTERS,
  },
} as const satisfies Readonly<Record<string, Instrument>>;

/** The name of a metric. */
export type InstrumentName = keyof typeof INSTRUMENTS;
