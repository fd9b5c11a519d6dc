/**
 * Replaces the browser shims of the MCP packages, without their JSON Schema validators: neither side of this page validates,
 * and two validators weigh 16 KB.
 * @module
 */

/** A `TypeError` of `fetch` may be a CORS failure. */
export const CORS_IS_POSSIBLE = true;

/** Accepts everything. */
export class DefaultJsonSchemaValidator {
  /** A validator that always succeeds. */
  getValidator(): (data: unknown) => {
    readonly valid: true;
    readonly data: unknown;
    readonly errorMessage: undefined;
  } {
    return (data) => ({ valid: true, data, errorMessage: undefined });
  }
}
