/**
 * Requests to a server, and the form that their errors get.
 * @module
 */
import { adaptError, type ToolPlace } from "../../adapt-error.js";
import type { Client } from "@modelcontextprotocol/client";
import type { Expectation } from "./expectation.js";
import { connectionLost } from "./lost.js";
import type { ToolDoor } from "./tool-door.js";

/** A request, and what is known of it. */
export interface Asking<T> {
  /** Makes it. */
  readonly ask: () => Promise<T>;
  /** Gives it up. */
  readonly signal: AbortSignal;
  readonly tool?: string;
  /** What its answer is known by at the door. */
  readonly expectation?: Expectation;
}

/**
 * Asks a server.
 *
 * @throws ToolNodeError, or the reason of the signal.
 */
export async function asked<T>(
  { ask, signal, tool, expectation }: Asking<T>,
  { name, door, client }: { readonly name: string; readonly door: ToolDoor; readonly client: Client },
): Promise<T> {
  try {
    signal.throwIfAborted();
    if (client.transport === undefined) throw connectionLost(name, true);
    return await ask();
  } catch (error) {
    signal.throwIfAborted();
    const place: ToolPlace = { source: name, ...(tool !== undefined && { tool }) };
    throw adaptError(expectation?.failure ?? error, place);
  } finally {
    if (expectation !== undefined) door.release(expectation);
  }
}
