/**
 * What no store keeps: counted, hashed while all of it passes by, and named by a ref that says so.
 * @module
 */
import { sha256 } from "#hash";
import type { SluiceError } from "../errors/error.js";
import type { Hashing } from "./hash.js";
import { idsFor, randomHex } from "./ids.js";
import { claimOf, patched } from "./record.js";
import type { ArtifactInfo, ArtifactPatch, ArtifactRef } from "./store.js";

/**
 * A ref to what was not stored: its id begins with `truncated_`, its `source` holds `warning` (why, and what to
 * do), `truncated: true` and `original_size` in bytes.
 */
export interface TruncatedRef extends Omit<ArtifactRef, "sha256"> {
  /** Null where a store had taken bytes away before it refused: nobody has seen them all. The id is then random. */
  readonly sha256: string | null;
}

/** What a store had taken of a content before it refused. */
export interface Unkept {
  readonly size_bytes: number;
  /** All of it, where somebody still has it. */
  readonly bytes?: readonly Uint8Array[];
}

/** A content on its way to nowhere. */
export interface Unstored {
  /** Takes the bytes before it returns. */
  write(chunk: Uint8Array): void;
  /** Ends it; call once. */
  ref(patch?: ArtifactPatch): TruncatedRef;
}

type Said = Omit<TruncatedRef, "id" | "size_bytes" | "sha256">;

/** The namespace of ids that name nothing stored. */
const TRUNCATED = "truncated";
/** Characters of a failure's sentence that a warning repeats. */
const MAX_REASON = 400;
/** Hex digits of an id for which there is no hash, twice as many as bytes. */
const RANDOM_BYTES = 6;

/**
 * Begins a content that no store keeps, or goes on with one that a store refused; `warning` is for `source.warning`.
 *
 * @throws SluiceError E_INVALID_ARGUMENT with the path of the field that is wrong in `info`.
 */
export async function openUnstored(
  info: ArtifactInfo,
  warning: string,
  passed: Unkept = { size_bytes: 0, bytes: [] },
  hashing: Hashing = sha256,
): Promise<Unstored> {
  const claim = claimOf(info);
  const hash = passed.bytes && (await hashing.stream());
  for (const chunk of passed.bytes ?? []) hash?.update(chunk);
  let size = passed.size_bytes;
  return {
    write(chunk): void {
      hash?.update(chunk);
      size += chunk.byteLength;
    },
    ref: (patch) => truncated(patched(claim, patch), warning, size, hash?.digest() ?? null),
  };
}

/** What takes the place of a ref whose artifact the store did not keep. */
export function insteadOf(ref: ArtifactRef | TruncatedRef, warning: string): TruncatedRef {
  return truncated(ref, warning, ref.size_bytes, ref.sha256);
}

/** Whether a ref says that nothing was stored. */
export function isTruncated({ source }: ArtifactRef | TruncatedRef): boolean {
  return source["truncated"] === true;
}

/** What `source.warning` tells of a failure: its own sentence, which names the remedy. */
export function warningOf({ code, message }: SluiceError): string {
  const reason = message.length > MAX_REASON ? `${message.slice(0, MAX_REASON)}…` : message;
  return `Content not stored (${code}): ${reason}`;
}

function truncated(claim: Said, warning: string, size: number, hash: string | null): TruncatedRef {
  const { mime_type, filename, scope, namespace } = claim;
  // Where references stand in a text says nothing without the text.
  const { references: _, ...said } = claim.source;
  const source = { ...said, warning, truncated: true, original_size: size };
  const id = idsFor(TRUNCATED, hash ?? randomHex(RANDOM_BYTES)).next().value ?? TRUNCATED;
  return { id, mime_type, size_bytes: size, filename, sha256: hash, scope, namespace, source };
}
