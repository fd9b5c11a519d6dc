/**
 * What no store keeps: counted, hashed while all of it passes by, and named by a ref that says so (RFC 0.3 §7.4).
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
export interface Passed {
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

/** Stands where a store is missing, or refuses. */
export interface StandIn {
  /**
   * Checks what is said of artifacts before there are any.
   *
   * @throws SluiceError E_INVALID_ARGUMENT with the path of the field.
   */
  check(info: ArtifactInfo): void;
  /** Begins a content, or goes on with one; `warning` is for `source.warning`. */
  open(info: ArtifactInfo, warning: string, passed?: Passed): Promise<Unstored>;
  /** What takes the place of a ref whose artifact the store did not keep. */
  instead(ref: ArtifactRef | TruncatedRef, warning: string): TruncatedRef;
}

type Said = Omit<TruncatedRef, "id" | "size_bytes" | "sha256">;

/** The namespace of ids that name nothing stored. */
const TRUNCATED = "truncated";
/** Characters of a failure's sentence that a warning repeats. */
const MAX_REASON = 400;
/** Hex digits of an id for which there is no hash, twice as many as bytes. */
const RANDOM_BYTES = 6;

/** A stand-in; `hashing` as the store would have. */
export function standInWith(hashing: Hashing): StandIn {
  return {
    check: (info) => void claimOf(info),
    open: async (info, warning, passed = { size_bytes: 0, bytes: [] }) => {
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
    },
    instead: (ref, warning) => truncated(ref, warning, ref.size_bytes, ref.sha256),
  };
}

/** What `source.warning` tells of a failure: its own sentence, which names the remedy. */
export function warningOf({ code, message }: SluiceError): string {
  const reason = message.length > MAX_REASON ? `${message.slice(0, MAX_REASON)}…` : message;
  return `Content not stored (${code}): ${reason}`;
}

/** The stand-in that hashes as all stores do. */
export const standIn: StandIn = standInWith(sha256);

function truncated(claim: Said, warning: string, size: number, hash: string | null): TruncatedRef {
  const { mime_type, filename, scope, namespace } = claim;
  // Where references stand in a text says nothing without the text.
  const { references: _, ...said } = claim.source;
  const source = { ...said, warning, truncated: true, original_size: size };
  const id = idsFor(TRUNCATED, hash ?? randomHex(RANDOM_BYTES)).next().value ?? TRUNCATED;
  return { id, mime_type, size_bytes: size, filename, sha256: hash, scope, namespace, source };
}
