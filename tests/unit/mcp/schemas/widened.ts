/**
 * Schemas widened as a client sees them, and a validator to hold them against.
 * @module
 */
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { applyEdits, parseJson, type ObjectNode } from "../../../../web/src/json/text.js";
import { schemaEdits, type SchemaMode } from "../../../../web/src/mcp/schemas/schemas.js";

export const REFERENCE = "artifact://ns_0123456789ab?type=application/pdf&size=2201231";
export const OFFER = { type: "string", pattern: "^artifact://" };
export const TEXT_OFFER = { type: "string", pattern: "artifact://" };

export type Draft = "draft-07" | "2020-12";

/** The tool's text after widening. */
export function edited(tool: unknown, mode: SchemaMode = "widen", space?: string): string {
  const text = typeof tool === "string" ? tool : JSON.stringify(tool, null, space);
  return applyEdits(text, schemaEdits(parseJson(text) as ObjectNode, text, mode));
}

export function widenedOutput(schema: unknown): unknown {
  return (JSON.parse(edited({ name: "t", outputSchema: schema })) as { outputSchema: unknown }).outputSchema;
}

export function widenedInput(schema: unknown): unknown {
  return (JSON.parse(edited({ name: "t", inputSchema: schema })) as { inputSchema: unknown }).inputSchema;
}

/** A validator of one draft; formats are asserted as a strict client would. */
export function validator(schema: unknown, draft: Draft = "2020-12"): (value: unknown) => boolean {
  const options = { strict: false, validateSchema: false, logger: false } as const;
  const ajv = draft === "draft-07" ? new Ajv(options) : new Ajv2020(options);
  ajv.addFormat("uri", /^[a-z]+:/);
  ajv.addFormat("byte", /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);
  ajv.addFormat("date-time", /^\d{4}-/);
  const validate = ajv.compile(schema as object);
  return (value) => validate(value);
}

/** `if`, `then` and `else` with more keywords; an object written with `then` is taken for a promise. */
export function condition<T>(when: T, yes: T, no: T, more: Record<string, T> = {}): Record<string, T> {
  const schemas = [when, yes, no];
  const named = ["if", "then", "else"].map((keyword, index) => [keyword, schemas[index]] as const);
  return { ...(Object.fromEntries(named) as Record<string, T>), ...more };
}
