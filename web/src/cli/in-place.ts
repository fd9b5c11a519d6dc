/**
 * An error that stands in the place of the input it is about.
 * @module
 */
import type { SluiceError } from "../errors/error.js";

/** `{"error":{"code":…,"message":…,"line":…,"column":…}}`; `line` wins over the error's own. */
export function errorInPlace(error: SluiceError, line?: number): string {
  return JSON.stringify({ error: { ...error.toJSON(), ...(line !== undefined && { line }) } });
}
