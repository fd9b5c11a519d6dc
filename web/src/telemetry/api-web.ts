/**
 * Pages have no installed packages: they hand the API over.
 * @module
 */
import type { TelemetryApi } from "./api.js";

/** Always undefined. */
export function findApi(): TelemetryApi | undefined {
  return undefined;
}
