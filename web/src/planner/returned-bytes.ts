/**
 * Bytes in what a native tool returns. JSON has none: they are stored, and a reference takes their place.
 * @module
 */
import type { ArtifactRef } from "../artifacts/store.js";
import type { ToolArtifacts } from "./tool-artifacts.js";

/** How deep and how far is looked: what is beyond becomes what JSON makes of it. */
const MAX_DEPTH = 32;
const MAX_NODES = 100_000;

type Bytes = Uint8Array | ArrayBuffer | Blob;

/** The same value, or one with a reference for each `Uint8Array`, `ArrayBuffer` and `Blob`. Throws what the store throws. */
export async function withBytesStored(value: unknown, artifacts: ToolArtifacts): Promise<unknown> {
  return hasBytes(value, { left: MAX_NODES }, 0) ? replaced(value, artifacts, 0) : value;
}

function hasBytes(value: unknown, nodes: { left: number }, depth: number): boolean {
  if (isBytes(value)) return true;
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return false;
  nodes.left -= 1;
  return nodes.left > 0 && Object.values(value).some((each) => hasBytes(each, nodes, depth + 1));
}

async function replaced(value: unknown, artifacts: ToolArtifacts, depth: number): Promise<unknown> {
  if (isBytes(value)) return stored(value, artifacts);
  if (!isPlain(value) || depth > MAX_DEPTH) return value;
  const entries: [string, unknown][] = [];
  for (const [key, each] of Object.entries(value)) entries.push([key, await replaced(each, artifacts, depth + 1)]);
  return Array.isArray(value) ? entries.map(([, each]) => each) : Object.fromEntries(entries);
}

function stored(bytes: Bytes, artifacts: ToolArtifacts): Promise<ArtifactRef> {
  if (!(bytes instanceof Blob)) return artifacts.upload(bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes);
  const { type } = bytes;
  const name = "name" in bytes && typeof bytes.name === "string" ? bytes.name : undefined;
  return artifacts.upload(bytes.stream(), {
    ...(type !== "" && { mime_type: type }),
    ...(name !== undefined && { filename: name }),
  });
}

function isBytes(value: unknown): value is Bytes {
  return value instanceof Uint8Array || value instanceof ArrayBuffer || value instanceof Blob;
}

/** What JSON writes as it is: not what says itself how it is written. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null || "toJSON" in value) return false;
  return Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
}
