/**
 * A ToolNode in front of a real server, and what its store holds.
 * @module
 */
import { afterAll, beforeAll } from "vitest";
import { MemoryArtifactStore, type ArtifactScope } from "../../../web/src/node.js";
import {
  ToolNode,
  type ExternalToolConfig,
  type ToolContext,
  type ToolNodeEvent,
  type ToolNodeOptions,
  type ToolResult,
} from "../../../web/src/tools-node.js";
import { leaksIn } from "../servers/leaks.js";
import type { Server } from "../servers/programs.js";
import { sha256 } from "../../unit/core/samples.js";

/** A source in use. */
export interface Fronted extends AsyncDisposable {
  readonly node: ToolNode;
  readonly store: MemoryArtifactStore;
  readonly events: readonly ToolNodeEvent[];
  /** Calls for {@link SCOPE}. */
  call(tool: string, args?: Readonly<Record<string, unknown>>): Promise<ToolResult>;
}

/** Whose the calls are. */
export const SCOPE: ArtifactScope = { user_id: "ada", session_id: "today" };

/** How a server is started by a ToolNode, which knows no working folder. */
export function startOf({ command, args, env = {} }: Server): Pick<ExternalToolConfig, "connection" | "env"> {
  return { connection: [command, ...args].map((word) => `"${word}"`).join(" "), env };
}

/** Connects a source to a store of its own; `context` is who connects. */
export async function inFront(
  config: ExternalToolConfig,
  { context = {}, ...options }: ToolNodeOptions & { readonly context?: ToolContext } = {},
): Promise<Fronted> {
  const store = new MemoryArtifactStore({ retention: null });
  const events: ToolNodeEvent[] = [];
  const node = new ToolNode(config, { store, onEvent: (event) => events.push(event), ...options });
  await node.connect(context);
  return {
    node,
    store,
    events,
    call: (tool, args = {}) => node.call(tool, args, { scope: SCOPE }),
    [Symbol.asyncDispose]: () => node.close(),
  };
}

/** Connects a server as MCP servers are connected when nothing is known of them. */
export function frontOf(name: string, server: Server, config: Partial<ExternalToolConfig> = {}): Promise<Fronted> {
  return inFront({ name, transport: "mcp", ...startOf(server), ...config });
}

/** One for the tests of a group: starting one takes longer than what they do with it. */
export function useFront(open: () => Promise<Fronted>): () => Fronted {
  let front: Fronted | undefined;
  beforeAll(async () => {
    front = await open();
  });
  afterAll(() => front?.[Symbol.asyncDispose]());
  return () => {
    if (front === undefined) throw new Error("The source is used before the tests.");
    return front;
  };
}

/** What an observation is made of, beside itself. */
export interface Seen {
  readonly isError: boolean;
  /** Places with encoded bytes. */
  readonly leaks: readonly string[];
  /** Artifacts that the observation does not name, or that are not what their hash says in the store of their owner. */
  readonly astray: readonly string[];
  /** Of what was stored, each once, in order. */
  readonly hashes: readonly string[];
}

/** Looks at an observation as a model and its host do. */
export async function seen({ store }: Fronted, { text, value, artifacts, isError }: ToolResult): Promise<Seen> {
  const astray: string[] = [];
  // A document that refers to others is the result itself, kept for hosts: a model is shown what it refers to.
  const shown = artifacts.filter(({ source }) => !("references" in source));
  for (const { id, sha256: hash } of shown) {
    const bytes = await store.get(id, SCOPE);
    if (!text.includes(id) || bytes === null || sha256(bytes) !== hash) astray.push(id);
  }
  const hashes = [...new Set(shown.map(({ sha256: hash }) => hash ?? ""))].sort();
  return { isError, leaks: leaksIn(value), astray, hashes };
}

/** What is seen where all is well: these files are stored, and none of their bytes are shown. */
export function kept(...originals: readonly Uint8Array[]): Seen {
  return { isError: false, leaks: [], astray: [], hashes: [...new Set(originals.map(sha256))].sort() };
}

/** The bytes of the only artifact of a result. */
export async function bytesOf({ store }: Fronted, { artifacts }: ToolResult): Promise<Buffer> {
  const [id, ...more] = new Set(artifacts.map((ref) => ref.id));
  const bytes = id === undefined || more.length > 0 ? null : await store.get(id, SCOPE);
  if (bytes === null) throw new Error(`There is not one artifact: ${artifacts.map((ref) => ref.id).join(", ")}`);
  return Buffer.from(bytes);
}
