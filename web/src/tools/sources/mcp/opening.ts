/**
 * How an MCP client comes to be connected, whatever the transport.
 * @module
 */
import { Client, type ClientOptions } from "@modelcontextprotocol/client";
import { namespaceOf } from "../../../artifacts/ids.js";
import { adaptError } from "../../adapt-error.js";
import { ToolNodeError } from "../../errors.js";
import { onAbort } from "../../../core/abort.js";
import type { OpenOptions } from "../../source.js";
import { McpConnection } from "./connection.js";
import { NO_LIMIT } from "./limits.js";
import { connectionLost } from "./lost.js";
import { PERMISSIVE } from "./permissive.js";
import type { McpEra, McpTerms, OpenedTransport } from "./terms.js";
import { ToolDoor } from "./tool-door.js";

const CLIENT = { name: "sluice", version: "1" };

/** The later era's first revision, to insist on. */
const MODERN = "2026-07-28";

/** A person may be asked, and tasks are followed. */
const CAPABILITIES: NonNullable<ClientOptions["capabilities"]> = {
  elicitation: { form: {}, url: {} },
  extensions: { "io.modelcontextprotocol/tasks": {} },
};

/** What one attempt at connecting needs. */
export interface Attempt {
  readonly terms: McpTerms;
  readonly options: OpenOptions;
  readonly era: McpEra;
  /** How long, in milliseconds, a server may be silent when asked for the later era; then it is taken for the earlier. */
  readonly probeTimeout: number;
  readonly transport: (door: ToolDoor) => OpenedTransport;
}

/**
 * Connects, and finds out the era.
 *
 * @throws ToolNodeError, or the reason of the signal.
 */
export async function connected(attempt: Attempt): Promise<McpConnection> {
  const { terms, options } = attempt;
  const { name, sluice, store } = terms;
  const { signal } = options;
  signal.throwIfAborted();
  const door = new ToolDoor({ sluice, store, lost: () => connectionLost(name) });
  const opened = attempt.transport(door);
  const client = new Client(terms.client ?? CLIENT, clientOptions(attempt));
  const connection = new McpConnection({ ...terms, namespace: namespaceOf(name), client, door, opened }, options);
  // The client listens to a signal only once it has found out the era.
  const giveUp = (): void => void opened.transport.close().catch(() => undefined);
  const forget = onAbort(signal, giveUp);
  try {
    await client.connect(opened.transport, { timeout: NO_LIMIT, signal });
    signal.throwIfAborted();
    await connection.begin(signal);
    return connection;
  } catch (error) {
    await connection[Symbol.asyncDispose]();
    signal.throwIfAborted();
    throw failureOf(error, opened, name);
  } finally {
    forget();
  }
}

function clientOptions({ era, probeTimeout }: Attempt): ClientOptions {
  const mode = era === "modern" ? { pin: MODERN } : era;
  return {
    jsonSchemaValidator: PERMISSIVE,
    capabilities: CAPABILITIES,
    versionNegotiation: { mode, probe: { timeoutMs: probeTimeout } },
  };
}

/** The client wraps what transports throw, and some of it gets lost. */
function failureOf(error: unknown, { reason }: OpenedTransport, source: string): Error {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if (at instanceof ToolNodeError) return at;
  }
  return adaptError(reason?.() ?? error, { source });
}
