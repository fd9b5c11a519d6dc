/**
 * The package `@opentelemetry/api`, where it is installed.
 * @module
 */
import { createRequire } from "node:module";
import type { TelemetryApi } from "./api.js";

/** Where every copy of version 1 of the API keeps what an SDK registers. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

let isMissing = false;

/** Loads the API once an SDK is registered: before that it could record nothing. */
export function findApi(): TelemetryApi | undefined {
  if (isMissing || !(REGISTERED in globalThis)) return undefined;
  try {
    return createRequire(import.meta.url)("@opentelemetry/api") as TelemetryApi;
  } catch {
    isMissing = true;
    return undefined;
  }
}
