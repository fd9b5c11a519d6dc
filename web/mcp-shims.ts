/**
 * Replaces the shims of the MCP packages where they are bundled, without their JSON Schema validators: what they validate by is
 * given to them, or nothing, and two validators weigh 16 KB.
 * @module
 */

const { process } = globalThis as { readonly process?: { readonly versions?: { readonly node?: string } } };

/** Whether a `TypeError` of `fetch` may be a CORS failure: in browsers and their workers alone. */
export const CORS_IS_POSSIBLE: boolean = process?.versions?.node === undefined;

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
