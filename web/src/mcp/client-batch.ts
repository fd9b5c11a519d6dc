/**
 * Batches of a client's (revision 2025-03-26; JSON-RPC 2.0 §6).
 * @module
 */
import { parseJson, sourceOf } from "./json-text.js";

const OPEN_ARRAY = 0x5b;

/** The elements of a batch; undefined for what is none. */
export function elementsOf(bytes: Uint8Array): readonly Uint8Array[] | undefined {
  if (bytes.find((byte) => byte > 0x20) !== OPEN_ARRAY) return undefined;
  const text = new TextDecoder().decode(bytes);
  try {
    const batch = parseJson(text);
    if (batch.type !== "Array") return undefined;
    return batch.elements.map(({ value }) => new TextEncoder().encode(sourceOf(text, value)));
  } catch {
    // What cannot be read is the server's to judge.
    return undefined;
  }
}

/** A batch of these elements. */
export function batchOf(elements: readonly Uint8Array[]): Uint8Array {
  const decoder = new TextDecoder();
  return new TextEncoder().encode(`[${elements.map((element) => decoder.decode(element)).join(",")}]`);
}
