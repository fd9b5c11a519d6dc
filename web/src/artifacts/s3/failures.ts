/**
 * What an object storage refused, as a coded error.
 * @module
 */
import { SluiceError, type ErrorCode } from "../../errors/error.js";
import type { StorageAct } from "../../errors/storage.js";

const DENIED =
  "The object storage refused access: check the credentials, and that they may list, read, write and delete in the bucket.";
const NO_BUCKET = "There is no such bucket: check its name, its region and the endpoint.";
const FULL = "The object storage has no room left: raise the quota, delete artifacts, or name another store.";
const ELSEWHERE = "The bucket is in another region: name that region.";
const CLOCK = "The object storage refused the time of a request: set this machine's clock.";
const ARCHIVED = "The artifact was moved to an archive: restore it there, then try again.";
const LATE = "The object storage did not answer in time: try again, or allow it more time.";
const BUSY = "The object storage is busy: try again later.";

const KNOWN: Readonly<Record<string, readonly [ErrorCode | null, string]>> = {
  AccessDenied: ["E_STORE_DENIED", DENIED],
  AllAccessDisabled: ["E_STORE_DENIED", DENIED],
  AuthorizationHeaderMalformed: [null, ELSEWHERE],
  CredentialsProviderError: ["E_STORE_DENIED", DENIED],
  EntityTooLarge: ["E_TOO_LARGE", "The artifact is larger than the object storage takes."],
  ExpiredToken: ["E_STORE_DENIED", DENIED],
  InvalidAccessKeyId: ["E_STORE_DENIED", DENIED],
  InvalidObjectState: [null, ARCHIVED],
  InvalidToken: ["E_STORE_DENIED", DENIED],
  NoSuchBucket: [null, NO_BUCKET],
  PermanentRedirect: [null, ELSEWHERE],
  QuotaExceeded: ["E_STORE_FULL", FULL],
  RequestTimeTooSkewed: [null, CLOCK],
  SignatureDoesNotMatch: ["E_STORE_DENIED", DENIED],
  SlowDown: [null, BUSY],
  ServiceUnavailable: [null, BUSY],
  TimeoutError: [null, LATE],
  AbortError: [null, LATE],
  TooManyRequestsException: [null, BUSY],
  XMinioStorageFull: ["E_STORE_FULL", FULL],
};

const BY_STATUS: Readonly<Record<number, readonly [ErrorCode | null, string]>> = {
  301: [null, ELSEWHERE],
  401: ["E_STORE_DENIED", DENIED],
  403: ["E_STORE_DENIED", DENIED],
  413: ["E_TOO_LARGE", "The artifact is larger than the object storage takes."],
  429: [null, BUSY],
  503: [null, BUSY],
  507: ["E_STORE_FULL", FULL],
};

const MISSING: ReadonlySet<string> = new Set(["NoSuchKey", "NoSuchUpload"]);

const OTHER = {
  read: "The object storage could not be read: check that it can be reached, then try again.",
  write: "The object storage could not be written: check that it can be reached, then try again.",
} as const;

/** Characters of the name of an error. */
const NAME = /^[A-Za-z0-9]{1,60}$/;

/**
 * Wraps any failure of an object storage. Neither the message nor the cause names a bucket, a key, an endpoint or
 * credentials: the cause says the name and the HTTP status alone. A SluiceError is given back as it is.
 *
 * @returns E_STORE_DENIED, E_STORE_FULL, E_TOO_LARGE, else E_STORE_READ or E_STORE_WRITE.
 */
export function s3Error(error: unknown, act: StorageAct): SluiceError {
  if (error instanceof SluiceError) return error;
  const { name, status } = saidBy(error);
  if (isAboutRegion(error)) {
    const sentence = "The store needs a region: give it one, or set AWS_REGION.";
    return new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "region" });
  }
  const [code, message] = (Object.hasOwn(KNOWN, name) ? KNOWN[name] : BY_STATUS[status]) ?? [null, OTHER[act]];
  const fallback = act === "read" ? "E_STORE_READ" : "E_STORE_WRITE";
  const cause = new Error(`${NAME.test(name) ? name : "Error"}${status === 0 ? "" : ` (HTTP ${status})`}`);
  return new SluiceError(code ?? fallback, message, {}, { cause });
}

/** The error of a service that gives nothing, or next to nothing. */
export function late(act: StorageAct): SluiceError {
  return new SluiceError(act === "read" ? "E_STORE_READ" : "E_STORE_WRITE", LATE);
}

/** The error of work that others undo as fast as it is done. */
export function contended(act: StorageAct): SluiceError {
  const sentence = "Others change the same artifact all the time: try again.";
  return new SluiceError(act === "read" ? "E_STORE_READ" : "E_STORE_WRITE", sentence);
}

/** The error of bytes that somebody took away while they were read. */
export function takenAway(): SluiceError {
  return new SluiceError("E_STORE_READ", "The artifact was deleted while it was read: it is no longer there.");
}

/** The error of a store that was closed. */
export function closedStore(): SluiceError {
  return new SluiceError("E_STORE_CLOSED", "The store was closed: open another one.");
}

/** Whether a service says that there is no such object, or upload: in its own words, since anybody may answer 404. */
export function isMissing(error: unknown): boolean {
  return MISSING.has(saidBy(error).name);
}

/** The same of an answer without words, which is the one to HEAD. */
export function isWordlesslyMissing(error: unknown): boolean {
  return isMissing(error) || saidBy(error).name === "NotFound";
}

/** Whether a condition did not hold, or somebody else came first. */
export function isLost(error: unknown): boolean {
  const { status } = saidBy(error);
  return status === 412 || status === 409 || isMissing(error);
}

/** Whether a service does not know what it was asked for. */
export function isUnknownToIt(error: unknown): boolean {
  const { name, status } = saidBy(error);
  return status === 501 || name === "NotImplemented";
}

function saidBy(error: unknown): { readonly name: string; readonly status: number } {
  if (typeof error !== "object" || error === null) return { name: "", status: 0 };
  const { name, $metadata } = error as { readonly name?: unknown; readonly $metadata?: { httpStatusCode?: unknown } };
  const status = $metadata?.httpStatusCode;
  return { name: typeof name === "string" ? name : "", status: typeof status === "number" ? status : 0 };
}

function isAboutRegion(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Region is missing");
}

/** Does work, and turns what it throws into a coded error. Who writes reads as well, and is told of writing. */
export async function guarded<T>(act: StorageAct, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failure = s3Error(error, act);
    if (act === "read" || failure.code !== "E_STORE_READ") throw failure;
    const message = failure.message === OTHER.read ? OTHER.write : failure.message;
    throw new SluiceError("E_STORE_WRITE", message, {}, { cause: failure.cause });
  }
}
