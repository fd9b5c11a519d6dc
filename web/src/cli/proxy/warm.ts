/**
 * The first large result meets code that has run before: engines compile what is hot, and compile it well only then.
 * @module
 */
import { NoOpArtifactStore } from "../../artifacts/no-op.js";
import { standIn } from "../../artifacts/unstored.js";
import { createSluiceOver } from "../../core/create.js";
import { Door, type DoorTerms } from "../../mcp/door.js";

/** Bytes of the result that is made up, and of its pieces. */
const SIZE = 16 * 1024 * 1024;
const PIECE = 64 * 1024;

const REQUEST = '{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"warm"}}';
const HEAD = '{"result":{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgoA';
const TAIL = '"}]},"jsonrpc":"2.0","id":0}';

const ignore = (): Promise<void> => Promise.resolve();

/** Sends a result through a door of its own that keeps nothing, and lets everything else go first. */
export async function warmUp(terms: DoorTerms, signal: AbortSignal): Promise<void> {
  const store = new NoOpArtifactStore({ warn: () => undefined });
  const sluice = await createSluiceOver({ store, standIn, onFailure: "answer" });
  const door = new Door({ ...terms, sluice, store, onEvent: () => undefined });
  const encoder = new TextEncoder();
  await door.fromClient(encoder.encode(REQUEST));
  await using incoming = door.fromServer({ forward: ignore, complete: ignore, stray: ignore }, () => undefined);
  await incoming.write(encoder.encode(HEAD));
  const piece = encoder.encode("iVBORw0K".repeat(PIECE / 8));
  for (let at = 0; at < SIZE && !signal.aborted; at += PIECE) {
    await incoming.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (signal.aborted) return;
  await incoming.write(encoder.encode(TAIL));
  await incoming.end();
}
