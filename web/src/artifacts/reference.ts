/**
 * References to artifacts: their records and times, ids and namespaces, the filter of lists, and truncated refs to what is not stored.
 * @module
 */
import { sha256 } from "#hash";
import { DEFAULT_NAMESPACE, checkNamespace, checkObject, wrong } from "../errors/arguments.js";
import { SluiceError } from "../errors/error.js";
import type { Hashing } from "./hash.js";
import { fullScope, type FullScope } from "./scope.js";
import type { ArtifactInfo, ArtifactPatch, ArtifactRef, ArtifactFilter, Clock, StoredArtifact } from "./store.js";

/** The complete record of an artifact before its bytes are stored. */
export interface Claim {
  readonly namespace: string;
  readonly scope: FullScope;
  readonly mime_type: string | null;
  readonly filename: string | null;
  readonly source: ArtifactRef["source"];
}

/** The limit for the record of one artifact in characters of JSON, `source` included. */
export const MAX_RECORD_CHARS: number = 1024 * 1024;

/**
 * Checks a record and fills in the defaults.
 *
 * @throws SluiceError E_INVALID_ARGUMENT with the path of the field.
 */
export function toClaim(info: ArtifactInfo = {}): Claim {
  const { namespace, scope } = checkObject(info, "info");
  const empty = { mime_type: null, filename: null, source: {} };
  return applyPatch({ namespace: checkNamespace(namespace), scope: fullScope(scope), ...empty }, info);
}

/** The record of a text: `text/plain` unless `mime_type` is given, null included. */
export function infoOfText(info: ArtifactInfo = {}): ArtifactInfo {
  const { mime_type = "text/plain", ...rest } = checkObject(info, "info");
  return { ...rest, mime_type };
}

/** Applies a patch. Fields that it leaves out stay; null replaces. */
export function applyPatch<T extends Claim | ArtifactRef>(said: T, patch: ArtifactPatch = {}): T {
  const { mime_type, filename, source } = checkObject(patch, "patch");
  for (const [name, value] of Object.entries({ mime_type, filename })) {
    if ((value ?? null) === null || (typeof value === "string" && value.length <= MAX_RECORD_CHARS)) continue;
    const sentence = `${name} must be null or a string of at most a million characters.`;
    throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: name });
  }
  return {
    ...said,
    ...(mime_type !== undefined && { mime_type }),
    ...(filename !== undefined && { filename }),
    ...(source !== undefined && { source: copySource(source) }),
  };
}

/**
 * Compares a ref with the record under which the same content is stored again. The newer name, type and source win if given, so
 * that a put without a name does not erase one.
 *
 * @returns the patch, or null if nothing changes.
 */
export function compareClaim(ref: ArtifactRef, claim: Claim): ArtifactPatch | null {
  const patch: ArtifactPatch = {
    ...(claim.mime_type !== null && claim.mime_type !== ref.mime_type && { mime_type: claim.mime_type }),
    ...(claim.filename !== null && claim.filename !== ref.filename && { filename: claim.filename }),
    ...(Object.keys(claim.source).length > 0 &&
      JSON.stringify(claim.source) !== JSON.stringify(ref.source) && { source: claim.source }),
  };
  return Object.keys(patch).length > 0 ? patch : null;
}

/** The ref to stored bytes. */
export function toRef(claim: Claim, id: string, hash: string, size_bytes: number): ArtifactRef {
  const { mime_type, filename, scope, namespace, source } = claim;
  return { id, mime_type, size_bytes, filename, sha256: hash, scope, namespace, source };
}

/** The ref of a stored artifact, without its times. */
export function withoutTimes({ stored_at: _, used_at: __, ...ref }: StoredArtifact): ArtifactRef {
  return ref;
}

function copySource(source: unknown): ArtifactRef["source"] {
  let json: string | undefined;
  try {
    json = JSON.stringify(source);
  } catch {
    // Refused below.
  }
  if (json?.startsWith("{") === true && json.length <= MAX_RECORD_CHARS) {
    return JSON.parse(json) as ArtifactRef["source"];
  }
  throw new SluiceError("E_INVALID_ARGUMENT", "source must be an object that fits JSON, with at most 1 MiB.", {
    path: "source",
  });
}

/** Stamps order what happened: microseconds since 1970, later at each call even if the clock stands still or goes back. */
export class Stamps {
  readonly #clock: Clock;
  #last = 0;

  /** `clock` is in milliseconds. */
  constructor(clock: Clock = Date.now) {
    this.#clock = clock;
  }

  /** What the clock says, in milliseconds; NaN where that is no time of these centuries. */
  now(): number {
    const now = this.#clock();
    return Number.isSafeInteger(Math.round(now * 1000)) ? now : Number.NaN;
  }

  next(): number {
    // A clock that gives no time stands still: one of its readings must not spoil all that come after.
    const now = Math.floor(this.now() * 1000);
    this.#last = Math.max(this.#last + 1, Number.isNaN(now) ? 0 : now);
    return this.#last;
  }

  /** Lets every later stamp be later than this one, which is someone else's. */
  after(stamp: number): void {
    if (Number.isSafeInteger(stamp)) this.#last = Math.max(this.#last, stamp);
  }
}

/** A stamp in the milliseconds of a stored artifact, its microseconds behind the point. */
export function inMilliseconds(stamp: number): number {
  return stamp / 1000;
}

/** The stamp behind such a time. */
export function toStamp(milliseconds: number): number {
  return Math.round(milliseconds * 1000);
}

const ID = /^[A-Za-z0-9._-]{1,64}_[0-9a-f]{12,64}$/;
const SHORTEST = 12;
const STEP = 4;
const SHA256_HEX = 64;

/** Makes a namespace of any name, such as a server's title: `My Server!` becomes `My_Server`. */
export function cleanNamespace(name: string): string {
  const cleaned = name
    .slice(0, 256)
    .replace(/[^A-Za-z0-9.-]+/g, "_")
    .replace(/^_|_$/g, "");
  return cleaned.slice(0, 64) || DEFAULT_NAMESPACE;
}

/**
 * The ids that a content may have, in the order in which they are tried: 12 hex digits, then four more each time in case another
 * content in the scope has the shorter id.
 */
export function* idsFor(namespace: string, hash: string): Generator<string, void, void> {
  for (let digits = SHORTEST; digits <= SHA256_HEX; digits += STEP) yield `${namespace}_${hash.slice(0, digits)}`;
}

/** Random bytes as lower-case hex. */
export function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether a string has the form of an id. No other string is stored anywhere or becomes part of a path. */
export function isArtifactId(id: unknown): id is string {
  return typeof id === "string" && ID.test(id);
}

/** Letters, digits and what stands unencoded in a URI. */
const PLAIN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Whether an id, which a host's own store may have given, stands in a URI as it is. It is no part of any path. */
export function isPlainId(id: unknown): id is string {
  return typeof id === "string" && (PLAIN_ID.test(id) || isArtifactId(id));
}

/** Checks a filter. Throws E_INVALID_ARGUMENT. */
export function checkFilter(only: ArtifactFilter | undefined): ArtifactFilter {
  const { filename } = checkObject(only ?? {}, "only");
  if (filename !== undefined && typeof filename !== "string") throw wrong("only.filename", "a string");
  return filename === undefined ? {} : { filename };
}

/** Whether an artifact passes a filter. */
export function isWanted({ filename }: Pick<ArtifactRef, "filename">, only: ArtifactFilter | undefined): boolean {
  return only?.filename === undefined || only.filename === filename;
}

/**
 * A ref to content that was not stored. Its id begins with `truncated_`; its `source` has `warning` (why, and what to do),
 * `truncated: true` and `original_size` in bytes.
 */
export interface TruncatedRef extends Omit<ArtifactRef, "sha256" | "source"> {
  /** Null if the bytes could not all be hashed, since a store took some before it refused. The id is then random. */
  readonly sha256: string | null;
  /** Where it would have come from, and why it was not stored. */
  readonly source: ArtifactRef["source"] &
    Required<Pick<ArtifactRef["source"], "warning" | "truncated" | "original_size">>;
}

/** The part of a content that a store took before it refused. */
export interface Unkept {
  readonly size_bytes: number;
  /** Those bytes, if they are still held. */
  readonly bytes?: readonly Uint8Array[];
}

/** A content that is only counted and hashed. */
export interface Unstored {
  /** Takes the bytes before it returns. */
  write(chunk: Uint8Array): void;
  /** Ends the content. Call it once. */
  ref(patch?: ArtifactPatch): TruncatedRef;
}

type Said = Omit<ArtifactRef, "id" | "size_bytes" | "sha256">;

/** The namespace of truncated refs. */
const TRUNCATED = "truncated";
/** Most characters of an error's message that a warning repeats. */
const MAX_REASON = 400;
/** Random bytes in an id without a hash. */
const RANDOM_BYTES = 6;

/**
 * Begins a content that is not stored, or continues one that a store refused. `warning` becomes `source.warning`.
 *
 * @throws SluiceError E_INVALID_ARGUMENT with the path of the field that is wrong in `info`.
 */
export async function openUnstored(
  info: ArtifactInfo,
  warning: string,
  passed: Unkept = { size_bytes: 0, bytes: [] },
  hashing: Hashing = sha256,
): Promise<Unstored> {
  const claim = toClaim(info);
  const hash = passed.bytes && (await hashing.stream());
  for (const chunk of passed.bytes ?? []) hash?.update(chunk);
  let size = passed.size_bytes;
  return {
    write(chunk): void {
      hash?.update(chunk);
      size += chunk.byteLength;
    },
    ref: (patch) => truncateClaim(applyPatch(claim, patch), warning, size, hash?.digest() ?? null),
  };
}

/** The truncated ref in place of one whose artifact the store did not keep. */
export function toTruncatedRef(ref: ArtifactRef | TruncatedRef, warning: string): TruncatedRef {
  return truncateClaim(ref, warning, ref.size_bytes, ref.sha256);
}

/** Whether a ref is truncated. */
export function isTruncated({ source }: ArtifactRef | TruncatedRef): boolean {
  return source.truncated === true;
}

/** The `source.warning` for an error: its own message, which names the remedy. */
export function toWarning({ code, message }: SluiceError): string {
  const reason = message.length > MAX_REASON ? `${message.slice(0, MAX_REASON)}…` : message;
  return `Content not stored. ${reason.replace(/\.$/, "")} (${code}).`;
}

function truncateClaim(claim: Said, warning: string, size: number, hash: string | null): TruncatedRef {
  const { mime_type, filename, scope, namespace } = claim;
  // The places of references mean nothing without the text.
  const { references: _, ...said } = claim.source;
  const source = { ...said, warning, truncated: true, original_size: size };
  const id = idsFor(TRUNCATED, hash ?? randomHex(RANDOM_BYTES)).next().value ?? TRUNCATED;
  return { id, mime_type, size_bytes: size, filename, sha256: hash, scope, namespace, source };
}
