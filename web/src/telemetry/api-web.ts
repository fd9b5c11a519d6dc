/**
 * Pages have no installed packages: they hand the API over.
 * @module
 */
import type { OpenTelemetryApi } from "./api.js";

/** Always undefined. */
export function installedApi(): OpenTelemetryApi | undefined {
  return undefined;
}
