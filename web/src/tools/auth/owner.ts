/**
 * Who a token belongs to: a person in an organisation, whatever they are doing.
 * @module
 */
import { fullScope } from "../../artifacts/scope.js";
import type { ArtifactScope } from "../../artifacts/store.js";
import type { ToolContext } from "../context.js";
import { ToolAuthError } from "../errors.js";

/** A user, by id alone or within a tenant. */
export type OAuthUser = string | Pick<ArtifactScope, "tenant_id" | "user_id">;

/** Both fields said. */
export interface TokenOwner {
  /** Null where there are no tenants. */
  readonly tenant_id: string | null;
  /** Never empty. */
  readonly user_id: string;
}

/**
 * Reads who a user is.
 *
 * @throws ToolAuthError when nobody is named; SluiceError E_INVALID_ARGUMENT when a field is no string.
 */
export function tokenOwner(user: OAuthUser): TokenOwner {
  const { tenant_id, user_id } = fullScope(typeof user === "string" ? { user_id: user } : named(user));
  if (user_id === null || user_id === "") {
    throw new ToolAuthError("Tokens are kept per user, and no user is named: give the call's context a scope.user_id.");
  }
  return { tenant_id, user_id };
}

// Of a whole scope only these two count.
function named({ tenant_id, user_id }: Exclude<OAuthUser, string>): ArtifactScope {
  return { tenant_id: tenant_id ?? null, user_id: user_id ?? null };
}

/** The key of whoever calls, who may be nobody: users who share one are the same. */
export function userKey({ scope }: Pick<ToolContext, "scope">): string {
  const { tenant_id, user_id } = fullScope(scope);
  return JSON.stringify([tenant_id, user_id]);
}

/**
 * The user's name in a store: the id itself without a tenant, else both as JSON. No two users share one: an id that could
 * be taken for JSON is written as JSON too.
 */
export function ownerKey({ tenant_id, user_id }: TokenOwner): string {
  return tenant_id === null && !user_id.startsWith("[") ? user_id : JSON.stringify([tenant_id, user_id]);
}
