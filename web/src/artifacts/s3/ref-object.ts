/**
 * What is said of an artifact, as the object that says it.
 * @module
 */
import { isArtifactId } from "../ids.js";
import { refOf, type Claim } from "../record.js";
import { sameScope, type FullScope } from "../scope.js";
import { inMilliseconds } from "../stamps.js";
import type { ArtifactRef, StoredArtifact } from "../store.js";
import { damaged } from "../verify.js";
import { isName } from "./layout.js";

/** A ref with its times, in microseconds, and where its bytes are. */
export interface RefRecord {
  readonly ref: ArtifactRef;
  /** When it was stored first, which orders lists; when last; when it was stored or read last. */
  readonly created: number;
  readonly stored: number;
  readonly used: number;
  /** The name of its blob, which is named by no other ref, ever. */
  readonly blob: string;
  /** Another one each time it is written, so that whoever wrote it knows it again. */
  readonly token: string;
  /** The bytes turned out to be others: the next put writes them afresh. */
  readonly isDamaged?: boolean;
  /** It was deleted; the object goes in a moment. */
  readonly isGone?: boolean;
}

const FORM = 1;

/** Bytes of the longest that are read: three texts of a million characters, each of which JSON may write as six. */
export const MAX_RECORD_BYTES: number = 20 * 1024 * 1024;

/** A record as the bytes of an object. */
export function written({ ref, ...rest }: RefRecord): Uint8Array {
  const { id, sha256, size_bytes, mime_type, filename, namespace, source } = ref;
  const { tenant_id = null, user_id = null, session_id = null, trace_id = null } = ref.scope;
  const scope = [tenant_id, user_id, session_id, trace_id];
  const said = { id, sha256, size_bytes, mime_type, filename, namespace, scope, source };
  return new TextEncoder().encode(JSON.stringify({ form: FORM, ...rest, ...said }));
}

/** The record in an object. Throws SluiceError E_STORE_CORRUPT when there is none in it, or that of another id. */
export function recordIn(bytes: Uint8Array, id: string): RefRecord {
  const row = parsed(bytes);
  if (!isRow(row) || row.id !== id) throw damaged();
  const [tenant_id = null, user_id = null, session_id = null, trace_id = null] = row.scope;
  const scope: FullScope = { tenant_id, user_id, session_id, trace_id };
  const { namespace, mime_type, filename, source, sha256, size_bytes } = row;
  const claim: Claim = { namespace, scope, mime_type, filename, source };
  const { created, stored, used, blob, token, isDamaged, isGone } = row;
  return {
    ref: refOf(claim, id, sha256, size_bytes),
    created,
    stored,
    used,
    blob,
    token,
    ...(isDamaged === true && { isDamaged }),
    ...(isGone === true && { isGone }),
  };
}

/** The record in an object of a scope. Throws SluiceError E_STORE_CORRUPT when it is another's. */
export function recordOf(bytes: Uint8Array, id: string, scope: FullScope): RefRecord {
  const record = recordIn(bytes, id);
  if (!sameScope(record.ref.scope, scope)) throw damaged();
  return record;
}

/** What callers get of a record. */
export function storedOf({ ref, stored, used }: RefRecord): StoredArtifact {
  return { ...ref, stored_at: inMilliseconds(stored), used_at: inMilliseconds(used) };
}

type Row = Omit<ArtifactRef, "scope"> & Omit<RefRecord, "ref"> & { readonly scope: readonly (string | null)[] };

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function isRow(value: unknown): value is Row {
  if (typeof value !== "object" || value === null) return false;
  const row = value as Partial<Record<keyof Row | "form", unknown>>;
  return (
    row.form === FORM &&
    isArtifactId(row.id) &&
    isName(row.blob) &&
    isName(row.token) &&
    typeof row.sha256 === "string" &&
    typeof row.namespace === "string" &&
    [row.mime_type, row.filename].every(isText) &&
    [row.size_bytes, row.created, row.stored, row.used].every((number) => Number.isSafeInteger(number)) &&
    (row.size_bytes as number) >= 0 &&
    Array.isArray(row.scope) &&
    row.scope.length === 4 &&
    row.scope.every(isText) &&
    typeof row.source === "object" &&
    row.source !== null
  );
}

function isText(value: unknown): boolean {
  return value === null || typeof value === "string";
}
