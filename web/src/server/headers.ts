/**
 * Headers of what is served.
 * @module
 */
import type { StoredArtifact } from "../artifacts/store.js";
import { contentDisposition, type Disposition } from "./disposition.js";
import { safeFilename } from "./file-name.js";
import { servedType } from "./media-type.js";

/**
 * What holds for every answer, whatever its type (but see {@link PLAYED}): a document made of it has an origin of its own, runs no script and asks
 * nobody for anything; no other origin embeds it; its address, in which a session's key may be, is told to nobody.
 */
export const SAFETY: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/**
 * For sound and film, the one kind of document that sandboxes break: it asks for its own address once more, as an origin
 * of its own would not be allowed to. It runs no script either, and `nosniff` lets it be nothing else.
 */
const PLAYED = "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'";

/** The strong entity tag: what has the same SHA-256 is the same, byte for byte. */
export function entityTag({ sha256 }: Pick<StoredArtifact, "sha256">): string {
  return `"${sha256}"`;
}

/**
 * What is said of an artifact's bytes, except how many there are.
 *
 * A copy may be kept, but asks before each use (`no-cache`, which the entity tag makes cheap): an artifact may have been
 * deleted or renamed since, or its session have ended.
 */
export function artifactHeaders(artifact: StoredArtifact, disposition: Disposition): Record<string, string> {
  const type = servedType(artifact.mime_type);
  return {
    ...SAFETY,
    ...(/^(?:audio|video)\//.test(type) && { "Content-Security-Policy": PLAYED }),
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",
    "Content-Disposition": contentDisposition(disposition, safeFilename(artifact)),
    "Content-Type": type,
    ETag: entityTag(artifact),
  };
}
