/**
 * Scopes: completed, checked and compared.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { ArtifactScope } from "./store.js";

/** A scope with all four fields. */
export type FullScope = { readonly [Field in keyof Required<ArtifactScope>]: string | null };

/** Most UTF-16 units in one field of a scope. */
export const MAX_SCOPE_FIELD = 1024;

/** Most characters of an unknown field's name that an error repeats. */
const MAX_SHOWN = 60;

/** The null scope. */
const NOBODY: FullScope = { tenant_id: null, user_id: null, session_id: null, trace_id: null };
const FIELDS = Object.keys(NOBODY) as readonly (keyof ArtifactScope)[];

/**
 * Completes a scope: missing fields become null.
 *
 * @throws SluiceError E_INVALID_ARGUMENT if a field is unknown, neither a string nor null, or longer than {@link MAX_SCOPE_FIELD}.
 */
export function fullScope(scope: ArtifactScope = {}): FullScope {
  if (typeof scope !== "object" || (scope as unknown) === null) {
    throw new SluiceError("E_INVALID_ARGUMENT", "scope must be an object, or left out for the null scope.", {
      path: "scope",
    });
  }
  const full: Record<keyof ArtifactScope, string | null> = { ...NOBODY };
  for (const name of FIELDS) {
    const value: unknown = scope[name] ?? null;
    if (value !== null && (typeof value !== "string" || value.length > MAX_SCOPE_FIELD)) throw unfit(name);
    full[name] = value;
  }
  // An unknown field would be ignored in comparisons.
  for (const name of Object.keys(scope)) if (!Object.hasOwn(full, name)) throw unknown(name);
  return full;
}

function unknown(name: string): SluiceError {
  const shown = name.slice(0, MAX_SHOWN);
  return new SluiceError(
    "E_INVALID_ARGUMENT",
    `scope has no field ${JSON.stringify(shown)}; its fields are tenant_id, user_id, session_id and trace_id.`,
    { path: `scope.${shown}` },
  );
}

function unfit(name: keyof ArtifactScope): SluiceError {
  return new SluiceError(
    "E_INVALID_ARGUMENT",
    `scope.${name} must be null or a string of at most ${MAX_SCOPE_FIELD} characters.`,
    { path: `scope.${name}` },
  );
}

/**
 * One string for each different scope. JSON keeps apart what joining would mix: null from "null", and a
 * separator inside a field from one between fields.
 */
export function scopeKey(scope?: ArtifactScope): string {
  const { tenant_id, user_id, session_id, trace_id } = fullScope(scope);
  return JSON.stringify([tenant_id, user_id, session_id, trace_id]);
}

/** Whether all four fields are equal; null equals only null. */
export function sameScope(left: ArtifactScope | undefined, right: ArtifactScope | undefined): boolean {
  return scopeKey(left) === scopeKey(right);
}
