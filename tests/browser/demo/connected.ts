/**
 * A client of the demo server, over the library alone.
 * @module
 */
import { MemoryArtifactStore } from "mcp-sluice";
import { ToolNode, type ToolNodeEvent } from "mcp-sluice/tools";
import { onTestFinished } from "vitest";
import { DEMO_URL } from "../../../web/playground/demo/example.js";
import { demoFetch } from "../../../web/playground/demo/server.js";

/** A source that is connected, where its artifacts go, and what it told of. */
export interface DemoClient {
  readonly node: ToolNode;
  readonly store: MemoryArtifactStore;
  readonly events: readonly ToolNodeEvent[];
}

/** Connects to a demo server; ends with the test. */
export async function connected(fetch: typeof globalThis.fetch = demoFetch()): Promise<DemoClient> {
  const store = new MemoryArtifactStore();
  const events: ToolNodeEvent[] = [];
  const onEvent = (event: ToolNodeEvent): void => void events.push(event);
  const node = new ToolNode({ name: "demo", transport: "mcp", connection: DEMO_URL }, { fetch, store, onEvent });
  onTestFinished(() => node.close());
  await node.connect();
  return { node, store, events };
}
