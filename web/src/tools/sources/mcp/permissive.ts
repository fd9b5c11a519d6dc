/**
 * Structured content is checked against nothing: the client sees only what stands in for it, and code that is generated
 * from a server's schemas is forbidden in many pages.
 * @module
 */
import type { ClientOptions, JsonSchemaValidator } from "@modelcontextprotocol/client";

/** Takes everything for valid, and compiles nothing. */
export const PERMISSIVE: NonNullable<ClientOptions["jsonSchemaValidator"]> = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};
