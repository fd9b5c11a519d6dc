/**
 * References to stored bytes: their ids, what is said of them, which of a list are wanted, and refs to what no store keeps.
 * @module
 */
import { sha256 } from "#hash";
import { wrong } from "../errors/arguments.js";
import { SluiceError } from "../errors/error.js";
import { objectOf } from "./bytes.js";
import type { Hashing } from "./hash.js";
import { fullScope, type FullScope } from "./scope.js";
import type { ArtifactInfo, ArtifactPatch, ArtifactRef, ArtifactFilter } from "./store.js";

/** What a store needs to know before it takes bytes. */
export interface Claim {
  readonly namespace: string;
  readonly scope: FullScope;
  readonly mime_type: string | null;
  readonly filename: string | null;
  readonly source: Readonly<Record<string, unknown>>;
}

/** Most characters of JSON that may be said of one artifact, its `source` included. */
export const MAX_RECORD_CHARS: number = 1024 * 1024;

/**
 * Checks what was said and fills in the rest.
 *
 * @throws SluiceError E_INVALID_ARGUMENT with the path of the field.
 */
export function claimOf(info: ArtifactInfo = {}): Claim {
  const { namespace, scope, mime_type, filename, source } = objectOf(info, "info");
  return {
    namespace: namespaceOf(namespace),
    scope: fullScope(scope),
    mime_type: text(mime_type, "mime_type"),
    filename: text(filename, "filename"),
    source: copied(source),
  };
}

/** What is said of a text: `text/plain` unless it is said what it is, or with null that nobody knows. */
export function infoOfText(info: ArtifactInfo = {}): ArtifactInfo {
  const { mime_type = "text/plain", ...rest } = objectOf(info, "info");
  return { ...rest, mime_type };
}

/** What a patch says replaces what was said, null included; what it leaves out stays. */
export function patched<T extends Claim | ArtifactRef>(said: T, patch: ArtifactPatch = {}): T {
  const { mime_type, filename, source } = objectOf(patch, "patch");
  return {
    ...said,
    ...(mime_type !== undefined && { mime_type: text(mime_type, "mime_type") }),
    ...(filename !== undefined && { filename: text(filename, "filename") }),
    ...(source !== undefined && { source: copied(source) }),
  };
}

/**
 * What becomes of a ref when the same content is stored again under the same id: the newer name, type and
 * source win where there are any, so that a put without a name does not erase one.
 *
 * @returns the patch, or null when it would change nothing.
 */
export function restated(ref: ArtifactRef, claim: Claim): ArtifactPatch | null {
  const patch: ArtifactPatch = {
    ...(claim.mime_type !== null && claim.mime_type !== ref.mime_type && { mime_type: claim.mime_type }),
    ...(claim.filename !== null && claim.filename !== ref.filename && { filename: claim.filename }),
    ...(Object.keys(claim.source).length > 0 &&
      JSON.stringify(claim.source) !== JSON.stringify(ref.source) && { source: claim.source }),
  };
  return Object.keys(patch).length > 0 ? patch : null;
}

/** Names stored bytes. */
export function refOf(claim: Claim, id: string, hash: string, size_bytes: number): ArtifactRef {
  const { mime_type, filename, scope, namespace, source } = claim;
  return { id, mime_type, size_bytes, filename, sha256: hash, scope, namespace, source };
}

/** A ref that shares nothing with the one given, so that no caller can change what a store holds. */
export function copyOf(ref: ArtifactRef): ArtifactRef {
  return { ...ref, scope: { ...ref.scope }, source: copied(ref.source) };
}

function text(value: unknown, name: "mime_type" | "filename"): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" && value.length <= MAX_RECORD_CHARS) return value;
  throw new SluiceError("E_INVALID_ARGUMENT", `${name} must be null or a string of at most a million characters.`, {
    path: name,
  });
}

function copied(source: unknown): Readonly<Record<string, unknown>> {
  if (source === undefined) return {};
  let json: string | undefined;
  try {
    json = JSON.stringify(source);
  } catch {
    // What JSON cannot write is refused below.
  }
  if (json?.startsWith("{") === true && json.length <= MAX_RECORD_CHARS) {
    return JSON.parse(json) as Readonly<Record<string, unknown>>;
  }
  throw new SluiceError("E_INVALID_ARGUMENT", "source must be an object that JSON can write, of at most 1 MiB.", {
    path: "source",
  });
}

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
export function* idsFor(namespace: string, hash: string): Generator<string, void, void> {
  for (let digits = SHORTEST; digits <= SHA256_HEX; digits += STEP) yield `${namespace}_${hash.slice(0, digits)}`;
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

/** The filter as it is. Throws SluiceError E_INVALID_ARGUMENT for what is none. */
export function filterOf(only: ArtifactFilter | undefined): ArtifactFilter {
  const { filename } = objectOf(only ?? {}, "only");
  if (filename !== undefined && typeof filename !== "string") throw wrong("only.filename", "a string");
  return filename === undefined ? {} : { filename };
}

/** Whether an artifact is one of them. */
export function isWanted({ filename }: Pick<ArtifactRef, "filename">, only: ArtifactFilter | undefined): boolean {
  return only?.filename === undefined || only.filename === filename;
}

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
