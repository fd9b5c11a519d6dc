/**
 * The keys of a bucket: `{prefix}scopes/{tenant}/{user}/{session}/{trace}/refs/{id}` and `…/blobs/{name}`; and
 * `{prefix}sluice-store.json`, which says that it is a store, of which version.
 *
 * Each field of a scope is one segment, so that everything of a tenant or user has one prefix, for policies and lifecycle rules. The
 * fields are hashed, since keys appear in logs and signed URLs, and so that no field can change the path or be too long.
 * @module
 */
import { sha256 } from "#hash";
import { randomHex } from "../reference.js";
import { fullScope } from "../scope.js";
import type { ArtifactScope } from "../store.js";

/** The last field of a scope in a prefix. */
export type ScopeLevel = "tenant" | "user" | "session" | "trace";

const FIELDS = ["tenant_id", "user_id", "session_id", "trace_id"] as const;
const LEVELS: Readonly<Record<ScopeLevel, number>> = { tenant: 1, user: 2, session: 3, trace: 4 };
/** 128 bits. */
const DIGITS = 32;
const NAME_BYTES = 16;
const LONE_HALF = /\p{Cs}/u;

const REF_KEY = /^scopes\/(?:[^/]+\/){4}refs\/([^/]+)$/;
const BLOB_KEY = /^scopes\/(?:[^/]+\/){4}blobs\/([0-9a-f]{32})$/;

/** The prefix of all scopes. */
export const SCOPES = "scopes/";
/** The key of the lock for collectors. */
export const LOCK = "lock";

/** The prefix of a scope, or of all scopes that agree with it down to a level. Ends with `/`. */
export async function scopeFolder(scope: ArtifactScope | undefined, level: ScopeLevel = "trace"): Promise<string> {
  const full = fullScope(scope);
  const parts = await Promise.all(FIELDS.slice(0, LEVELS[level]).map((field) => toKeyPart(full[field])));
  return `${SCOPES}${parts.join("/")}/`;
}

/** The prefix of refs in the folder of a scope. */
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

/** The id in the key of a ref. Null for any other key. */
export function idIn(key: string): string | null {
  return REF_KEY.exec(key)?.[1] ?? null;
}

/** Whether a key is that of a blob. */
export function isBlobKey(key: string): boolean {
  return BLOB_KEY.test(key);
}

/** A unique name for a blob or a version of a ref. */
export function newName(): string {
  return randomHex(NAME_BYTES);
}

/** Whether a string is the name of a blob. */
export function isName(name: unknown): name is string {
  return typeof name === "string" && /^[0-9a-f]{32}$/.test(name);
}

async function toKeyPart(value: string | null): Promise<string> {
  if (value === null) return "-";
  // As JSON, since UTF-8 would make all lone surrogates the same.
  const isWhole = !LONE_HALF.test(value);
  const bytes = new TextEncoder().encode(isWhole ? value : JSON.stringify(value));
  const digits = (await sha256.whole(bytes)).slice(0, DIGITS);
  return isWhole ? digits : `x${digits}`;
}
