/**
 * When artifacts go by themselves.
 * @module
 */
import type { Retention } from "../artifacts/retention/policy.js";
import type { StoredArtifact } from "../artifacts/store.js";

/** Milliseconds since 1970; null for what does not expire. What makes room goes sooner. */
export function expiryOf({ ttl_seconds, ttl_from }: Retention, artifact: StoredArtifact): number | null {
  if (ttl_seconds === null) return null;
  const since = ttl_from === "used" ? artifact.used_at : artifact.stored_at;
  return Math.floor(since) + ttl_seconds * 1000;
}
