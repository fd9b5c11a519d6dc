/**
 * How a tool is called with arguments that may name artifacts.
 * @module
 */
import { expect } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import type { ArtifactRef, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import {
  artifactsNamed,
  putArtifacts,
  type ArgumentsContext,
  type ArgumentTool,
  type Expanded,
} from "../../../../web/src/mcp/arguments/arguments.js";
import { ArtifactSource } from "../../../../web/src/mcp/artifact-reader/source.js";

export const SCOPE = { user_id: "ada" };
export const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00]);
export const BASE64 = Buffer.from(PNG).toString("base64");

/** A store in which the scope has one PNG from the server `ns`, and how that server's tool `t` is called. */
export async function setUp(
  options: { readonly store?: ArtifactStore; readonly bytes?: Uint8Array; readonly mime?: string } = {},
): Promise<{
  readonly ref: ArtifactRef;
  readonly uri: string;
  readonly store: ArtifactStore;
  readonly call: (args: unknown, tool?: Partial<ArgumentTool>, more?: Partial<ArgumentsContext>) => Promise<Expanded>;
}> {
  const { store = new MemoryArtifactStore(), bytes = PNG, mime = "image/png" } = options;
  const ref = await store.putBytes(bytes, { namespace: "ns", scope: SCOPE, mime_type: mime });
  const source = new ArtifactSource(store, SCOPE, "ns");
  return {
    ref,
    uri: `artifact://${ref.id}`,
    store,
    call: async (args, tool = {}, more = {}) => {
      const called: ArgumentTool = { name: "t", inputSchema: undefined, ...tool };
      const named = artifactsNamed(typeof args === "string" ? args : JSON.stringify(args), called.name);
      return named === undefined ? { kind: "unchanged" } : putArtifacts(named, { tool: called, source, ...more });
    },
  };
}

export function valueOf(expanded: Expanded): unknown {
  if (expanded.kind !== "expanded") throw new Error(JSON.stringify(expanded));
  return JSON.parse(expanded.text);
}

export function refusalOf(expanded: Expanded): string {
  if (expanded.kind !== "refused") throw new Error(`not refused: ${expanded.kind}`);
  expect(expanded.result).toMatchObject({ isError: true, content: [{ type: "text" }] });
  return expanded.result.content[0].text;
}

export const of = (p: unknown): Partial<ArgumentTool> => ({ inputSchema: { type: "object", properties: { p } } });
export const DATA_URI = `data:image/png;base64,${BASE64}`;
