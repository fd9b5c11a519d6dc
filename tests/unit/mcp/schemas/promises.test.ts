import * as fc from "fast-check";
import { expect, test } from "vitest";
import { document, reduced, result, value, type Json } from "./generated.js";
import { edited, validator, widenedInput, widenedOutput } from "./widened.js";
import { amount } from "../../../support/full.js";

const values = fc.array(fc.oneof({ weight: 2, arbitrary: result }, { weight: 1, arbitrary: value }), {
  minLength: 6,
  maxLength: 6,
});
const choices = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }), { minLength: 3, maxLength: 3 });

/** A validator, or undefined for a document that none takes: references to nothing, or round in a circle. */
function compiled(schema: Json): ((json: unknown) => boolean) | undefined {
  if (!everyReferenceLeads(schema, schema)) return undefined;
  try {
    return validator(schema);
  } catch {
    return undefined;
  }
}

function everyReferenceLeads(json: Json, root: Json): boolean {
  if (json === null || typeof json !== "object") return true;
  return Object.entries(json).every(([key, member]) =>
    key === "$ref" ? typeof member === "string" && leads(member, root) : everyReferenceLeads(member, root),
  );
}

function leads(ref: string, root: Json): boolean {
  let found: unknown = root;
  for (const name of ref.split("/").slice(1)) found = (found as Record<string, unknown> | null | undefined)?.[name];
  return (typeof found === "object" && found !== null) || typeof found === "boolean";
}

/** Whether a value is valid; undefined where validators overflow, as for schemas that refer round in a circle. */
function judged(isValid: (json: unknown) => boolean, json: unknown): boolean | undefined {
  try {
    return isValid(json);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

test("results valid under a schema are valid under the widened one, before and after the gate", () => {
  let held = 0;
  fc.assert(
    fc.property(document, values, choices, (schema, candidates, ways) => {
      const isValid = compiled(schema);
      if (isValid === undefined) return;
      const valid = candidates.filter((one) => judged(isValid, one) === true);
      // Where none is, the schema may refer round in a circle, and compiling it overflows too.
      if (valid.length === 0) return;
      const widened = widenedOutput(schema);
      const isValidWidened = validator(widened);
      for (const json of valid) {
        held += 1;
        const all = [json, ...ways.map((way) => reduced(json, way))];
        const refused = all.filter((one) => judged(isValidWidened, one) === false);
        expect({ json, refused, widened }).toEqual({ json, refused: [], widened });
      }
    }),
    { numRuns: Number(process.env["RUNS"] ?? amount(100, 400)) },
  );
  expect(held).toBeGreaterThan(amount(40, 100));
});

test("widening twice is widening once", () => {
  fc.assert(
    fc.property(document, (schema) => {
      const once = edited({ outputSchema: schema, inputSchema: schema });
      expect(edited(once)).toBe(once);
    }),
    { numRuns: Number(process.env["RUNS"] ?? amount(100, 400)) },
  );
});

test("arguments valid under a schema are valid under the widened one", () => {
  fc.assert(
    fc.property(document, values, (schema, candidates) => {
      const isValid = compiled(schema);
      if (isValid === undefined) return;
      const valid = candidates.filter((one) => judged(isValid, one) === true);
      if (valid.length === 0) return;
      const isValidWidened = validator(widenedInput(schema));
      expect(valid.filter((one) => judged(isValidWidened, one) === false)).toEqual([]);
    }),
    { numRuns: Number(process.env["RUNS"] ?? amount(100, 400)) },
  );
});
