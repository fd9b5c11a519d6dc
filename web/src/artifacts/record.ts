/**
 * What is said of an artifact: checked, copied, and put together into a ref.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { objectOf } from "./bytes.js";
import { namespaceOf } from "./ids.js";
import { fullScope, type FullScope } from "./scope.js";
import type { ArtifactInfo, ArtifactPatch, ArtifactRef } from "./store.js";

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
export function refOf(claim: Claim, id: string, sha256: string, size_bytes: number): ArtifactRef {
  const { mime_type, filename, scope, namespace, source } = claim;
  return { id, mime_type, size_bytes, filename, sha256, scope, namespace, source };
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
