/**
 * Names of artifacts: `{namespace}_{first hex digits of the SHA-256}`.
 * @module
 */
import { SluiceError } from "../errors/error.js";

/** The namespace of artifacts that were given none. */
export const DEFAULT_NAMESPACE = "artifact";

const NAMESPACE = /^[A-Za-z0-9._-]{1,64}$/;
const ID = /^[A-Za-z0-9._-]{1,64}_[0-9a-f]{12,64}$/;
const SHORTEST = 12;
const STEP = 4;
const SHA256_HEX = 64;

/**
 * The namespace as it is, or `artifact` for none.
 *
 * @throws SluiceError E_INVALID_ARGUMENT when it breaks the rule, which the message names.
 */
export function namespaceOf(namespace: string = DEFAULT_NAMESPACE): string {
  if (typeof namespace === "string" && NAMESPACE.test(namespace)) return namespace;
  throw new SluiceError(
    "E_INVALID_ARGUMENT",
    "A namespace is 1 to 64 characters, each an ASCII letter, a digit, '-', '_' or '.'.",
    { path: "namespace" },
  );
}

/** Makes a namespace of any name, such as a server's title: `My Server!` becomes `My_Server`. */
export function cleanNamespace(name: string): string {
  const cleaned = name
    .slice(0, 256)
    .replace(/[^A-Za-z0-9.-]+/g, "_")
    .replace(/^_|_$/g, "");
  return cleaned.slice(0, 64) || DEFAULT_NAMESPACE;
}

/**
 * The ids a content may have, in the order they are to be tried: 12 hex digits, then four more each time,
 * for when another content in the same scope already has the shorter one.
 */
export function* idsFor(namespace: string, sha256: string): Generator<string, void, void> {
  for (let digits = SHORTEST; digits <= SHA256_HEX; digits += STEP) yield `${namespace}_${sha256.slice(0, digits)}`;
}

/** Lower-case hex of so many random bytes. */
export function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether a string has the form of an id. What has not is nowhere stored, and never becomes part of a path. */
export function isArtifactId(id: unknown): id is string {
  return typeof id === "string" && ID.test(id);
}
