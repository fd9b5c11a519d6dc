/**
 * Waiting for what a page does in its own time.
 * @module
 */
import { vi } from "vitest";

/** Tries until it holds: as long as a busy machine may need. */
export function eventually<T>(holds: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(holds, { timeout: 20_000 });
}
