/**
 * What is told of an artifact outside: everything but whose it is (RFC 0.3 §5.4).
 * @module
 */
import type { ArtifactRef } from "../artifacts/store.js";

/** A reference without its scope. */
export type PublicRef = Omit<ArtifactRef, "scope">;

/** The reference, and what else stands beside it, without the scope. */
export function publicRef<T extends ArtifactRef>({ scope: _, ...said }: T): Omit<T, "scope"> {
  return said;
}
