/**
 * Which key is whose: `{prefix}scopes/{tenant}/{user}/{session}/{trace}/refs/{id}` and `…/blobs/{name}`.
 *
 * Each field of a scope is a part of its own, so that what a tenant or a user has lies under one prefix, for policies and
 * lifecycle rules. It is hashed: keys are in logs and signed URLs, and a name can neither climb nor be too long.
 * @module
 */
import { sha256 } from "#hash";
import { randomHex } from "../reference.js";
import { fullScope } from "../scope.js";
import type { ArtifactScope } from "../store.js";

/** How far down a prefix leads. */
export type ScopeLevel = "tenant" | "user" | "session" | "trace";

const FIELDS = ["tenant_id", "user_id", "session_id", "trace_id"] as const;
const LEVELS: Readonly<Record<ScopeLevel, number>> = { tenant: 1, user: 2, session: 3, trace: 4 };
/** 128 bits. */
const DIGITS = 32;
const NAME_BYTES = 16;
const LONE_HALF = /\p{Cs}/u;

const REF_KEY = /^scopes\/(?:[^/]+\/){4}refs\/([^/]+)$/;
const BLOB_KEY = /^scopes\/(?:[^/]+\/){4}blobs\/([0-9a-f]{32})$/;

/** Everything of all scopes. */
export const SCOPES = "scopes/";
/** What one at a time may hold. */
export const LOCK = "lock";

/** Where a scope's artifacts are, or those of all scopes that agree with it down to a level. Ends with `/`. */
export async function scopeFolder(scope: ArtifactScope | undefined, level: ScopeLevel = "trace"): Promise<string> {
  const full = fullScope(scope);
  const parts = await Promise.all(FIELDS.slice(0, LEVELS[level]).map((field) => partOf(full[field])));
  return `${SCOPES}${parts.join("/")}/`;
}

/** The keys of refs in a scope's folder begin so. */
export function refsIn(folder: string): string {
  return `${folder}refs/`;
}

/** The key of a ref. */
export function refKey(folder: string, id: string): string {
  return `${folder}refs/${id}`;
}

/** The key of a blob. */
export function blobKey(folder: string, name: string): string {
  return `${folder}blobs/${name}`;
}

/** The id in a ref's key; null for any other key. */
export function idIn(key: string): string | null {
  return REF_KEY.exec(key)?.[1] ?? null;
}

/** Whether a key is a blob's. */
export function isBlobKey(key: string): boolean {
  return BLOB_KEY.test(key);
}

/** A name that nobody else takes, for a blob or a version of a ref. */
export function newName(): string {
  return randomHex(NAME_BYTES);
}

/** Whether a string is a blob's name. */
export function isName(name: unknown): name is string {
  return typeof name === "string" && /^[0-9a-f]{32}$/.test(name);
}

async function partOf(value: string | null): Promise<string> {
  if (value === null) return "-";
  // UTF-8 makes the same of all lone halves of pairs; JSON keeps them apart.
  const isWhole = !LONE_HALF.test(value);
  const bytes = new TextEncoder().encode(isWhole ? value : JSON.stringify(value));
  const digits = (await sha256.whole(bytes)).slice(0, DIGITS);
  return isWhole ? digits : `x${digits}`;
}
