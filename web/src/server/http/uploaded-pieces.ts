/**
 * Files as clients upload them: the body is the file.
 * @module
 */
import { essenceOf, UNKNOWN_TYPE } from "../media-type.js";
import { bodyPieces, BodyRefused } from "./read-body.js";

/** What an upload may be. */
export interface UploadLimits {
  /** Bytes. */
  readonly maxBytes: number;
  /** Seconds between two pieces. */
  readonly idleSeconds: number;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Characters that a name may have. */
export const MAX_FILENAME = 1024;

/** Bytes a second that an upload must come to: a line of the slowest kind has more. */
const SLOWEST = 4096;

/** What clients send who do not say what they send. */
const UNSAID: ReadonlySet<string> = new Set([UNKNOWN_TYPE, "application/x-www-form-urlencoded"]);

/** What a client says that the bytes are; null where it does not. Throws BodyRefused for a form, and for what is encoded. */
export function declaredType({ headers }: Request): string | null {
  const coding = headers.get("content-encoding");
  if (coding !== null && coding.trim().toLowerCase() !== "identity") {
    throw new BodyRefused(415, "The body must be the bytes as they are, without Content-Encoding.");
  }
  const type = essenceOf(headers.get("content-type"));
  if (type?.startsWith("multipart/") === true) {
    throw new BodyRefused(415, "The body must be the bytes as they are, not a form: put the name into ?filename=.");
  }
  return type === null || UNSAID.has(type) ? null : type;
}

/** The pieces of an upload. Throws BodyRefused where it is too large, too slow, or breaks off; the signal's reason. */
export function uploadedPieces(request: Request, limits: UploadLimits): AsyncGenerator<Uint8Array> {
  return bodyPieces(request, { ...limits, slowest: SLOWEST });
}
