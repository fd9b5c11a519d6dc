/**
 * The client of the service: the host's, or one of the store's own that is made on first use. Errors of the service become coded
 * errors.
 * @module
 */
import type * as S3 from "@aws-sdk/client-s3";
import { SluiceError, type ErrorCode } from "../../errors/error.js";
import type { StorageAct } from "../../errors/storage.js";
import { toS3Limits, type S3Limits, type S3StoreOptions } from "./options.js";

/** The part of the SDK that is used. */
type Sdk = typeof S3;

/** How a command is sent. */
export interface Sending {
  readonly abortSignal: AbortSignal;
  readonly requestTimeout?: number;
}

/** A client and the classes of its commands. */
export interface Speaker {
  readonly sdk: Sdk;
  readonly client: S3.S3Client;
}

/** The region for services other than AWS, where it is only part of the signature. */
const ANY_REGION = "us-east-1";
/** Most milliseconds of a pause between two attempts. */
const PAUSE = 5000;
/** Milliseconds by which a service lets a clock differ. */
const MOST_SKEW = 5 * 60 * 1000;

/** Sends commands, each with a time limit. */
export class S3Connection {
  readonly limits: S3Limits;
  readonly #options: S3StoreOptions;
  #speaker: Promise<Speaker> | undefined;
  /** One for each command under way. */
  readonly #running = new Set<AbortController>();
  #isClosed = false;

  constructor(options: S3StoreOptions) {
    this.#options = options;
    this.limits = toS3Limits(options);
  }

  /** The address of the service that options or environment name. Undefined for the one that the SDK knows by itself. */
  get endpoint(): string | undefined {
    return findEndpoint(this.#options);
  }

  /** The client, for work that sends nothing. */
  async speaker(): Promise<Speaker> {
    if (this.#isClosed) throw toClosedError();
    this.#speaker ??= this.#make();
    return this.#speaker;
  }

  /**
   * Sends a command with a body of so many `bytes`.
   *
   * @throws what the SDK throws; SluiceError E_STORE_CLOSED after `close`, also for what it broke off, E_MISUSE if the SDK is not installed.
   */
  async send<T>(
    bytes: number,
    command: (speaker: Speaker, how: Sending) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const speaker = await this.speaker();
    const { timeout, attempts } = this.limits;
    const attempt = timeout + this.patience(bytes);
    const over = new AbortController();
    this.#running.add(over);
    const timer = setTimeout(() => over.abort(), attempts * (attempt + PAUSE));
    try {
      const abortSignal = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
      // A host's client may only warn about the limit, at every request.
      const requestTimeout = this.#options.client ? {} : { requestTimeout: attempt };
      const ask = (): Promise<T> => command(speaker, { abortSignal, ...requestTimeout });
      return await ask().catch((error: unknown) => {
        if (this.#isClosed) throw toClosedError();
        // When a clock jumps, the SDK corrects for it, and tries again only the request by which it learns of it.
        if (!isSignedLate(error)) throw error;
        return ask();
      });
    } finally {
      clearTimeout(timer);
      this.#running.delete(over);
    }
  }

  /** The same, and throws coded errors. */
  async coded<T>(act: StorageAct, bytes: number, command: (speaker: Speaker, how: Sending) => Promise<T>): Promise<T> {
    try {
      return await this.send(bytes, command);
    } catch (error) {
      throw s3Error(error, act);
    }
  }

  /** The time limit for so many bytes, in milliseconds. */
  patience(bytes: number): number {
    return Math.ceil((bytes / this.limits.slowest) * 1000);
  }

  /** Ends what is under way with E_STORE_CLOSED, and closes the store's own client. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const over of this.#running) over.abort();
    const speaker = await this.#speaker?.catch(() => undefined);
    this.#speaker = undefined;
    if (this.#options.client === undefined) speaker?.client.destroy();
  }

  async #make(): Promise<Speaker> {
    try {
      const sdk = await loadSdk();
      return { sdk, client: this.#options.client ?? new sdk.S3Client(toClientConfig(this.#options, this.limits)) };
    } catch (error) {
      this.#speaker = undefined;
      throw error;
    }
  }
}

function findEndpoint({ endpoint }: S3StoreOptions): string | undefined {
  return endpoint ?? process.env["AWS_ENDPOINT_URL_S3"] ?? process.env["AWS_ENDPOINT_URL"];
}

function toClientConfig(options: S3StoreOptions, { timeout, attempts }: S3Limits): S3.S3ClientConfig {
  // The SDK reads the environment by itself, but does not draw these conclusions.
  const { AWS_REGION } = process.env;
  const { credentials } = options;
  const endpoint = findEndpoint(options);
  const { region = endpoint === undefined ? undefined : (AWS_REGION ?? ANY_REGION) } = options;
  const { forcePathStyle = endpoint !== undefined } = options;
  return {
    maxAttempts: attempts,
    forcePathStyle,
    requestHandler: { connectionTimeout: timeout, requestTimeout: timeout, throwOnRequestTimeout: true },
    ...(region !== undefined && { region }),
    ...(credentials !== undefined && { credentials }),
    // Other services than AWS may refuse checksums that they do not know.
    ...(endpoint !== undefined && {
      endpoint,
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    }),
  };
}

async function loadSdk(): Promise<Sdk> {
  try {
    return await import("@aws-sdk/client-s3");
  } catch (error) {
    const sentence = "A store in a bucket needs the package @aws-sdk/client-s3: install it beside mcp-sluice.";
    throw new SluiceError("E_MISUSE", sentence, {}, { cause: error });
  }
}

const DENIED =
  "The object storage refused access: check the credentials, and that they allow listing, reading, writing and deleting in the bucket.";
const NO_BUCKET = "There is no such bucket: check its name, its region and the endpoint.";
const FULL = "The object storage is full: raise the quota, delete artifacts, or use another store.";
const ELSEWHERE = "The bucket is in another region: set that region.";
const CLOCK = "The object storage refused a request because of its time: correct this machine's clock.";
const ARCHIVED = "The artifact was moved to an archive: restore it there, then try again.";
const LATE = "The object storage did not answer in time: try again, or allow it more time.";
const BUSY = "The object storage is busy: try again later.";

const KNOWN: Readonly<Record<string, readonly [ErrorCode | null, string]>> = {
  AccessDenied: ["E_STORE_DENIED", DENIED],
  AllAccessDisabled: ["E_STORE_DENIED", DENIED],
  AuthorizationHeaderMalformed: [null, ELSEWHERE],
  CredentialsProviderError: ["E_STORE_DENIED", DENIED],
  EntityTooLarge: ["E_TOO_LARGE", "The artifact is larger than the object storage allows."],
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
  413: ["E_TOO_LARGE", "The artifact is larger than the object storage allows."],
  429: [null, BUSY],
  503: [null, BUSY],
  507: ["E_STORE_FULL", FULL],
};

const MISSING: ReadonlySet<string> = new Set(["NoSuchKey", "NoSuchUpload"]);

const OTHER = {
  read: "The object storage could not be read: check that it can be reached, then try again.",
  write: "The object storage could not be written to: check that it can be reached, then try again.",
} as const;

/** Most characters of the name of an error. */
const NAME = /^[A-Za-z0-9]{1,60}$/;

/**
 * Wraps a failure of an object storage. Neither the message nor the cause names a bucket, key, endpoint or credentials: the cause
 * has only the name of the error and the HTTP status. Returns a SluiceError as it is.
 *
 * @returns E_STORE_DENIED, E_STORE_FULL, E_TOO_LARGE, else E_STORE_READ or E_STORE_WRITE.
 */
export function s3Error(error: unknown, act: StorageAct): SluiceError {
  if (error instanceof SluiceError) return error;
  const { name, status } = readFailure(error);
  if (isAboutRegion(error)) {
    const sentence = "The store needs a region: give it one, or set AWS_REGION.";
    return new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "region" });
  }
  const [code, message] = (Object.hasOwn(KNOWN, name) ? KNOWN[name] : BY_STATUS[status]) ?? [null, OTHER[act]];
  const fallback = act === "read" ? "E_STORE_READ" : "E_STORE_WRITE";
  const cause = new Error(`${NAME.test(name) ? name : "Error"}${status === 0 ? "" : ` (HTTP ${status})`}`);
  return new SluiceError(code ?? fallback, message, {}, { cause });
}

/** The error for a service that sends nothing or is too slow. */
export function late(act: StorageAct): SluiceError {
  return new SluiceError(act === "read" ? "E_STORE_READ" : "E_STORE_WRITE", LATE);
}

/** The error for a change that other processes undo each time. */
export function toContendedError(act: StorageAct): SluiceError {
  const sentence = "Other processes keep changing the same artifact: try again.";
  return new SluiceError(act === "read" ? "E_STORE_READ" : "E_STORE_WRITE", sentence);
}

/** The error for bytes that were deleted while they were read. */
export function toTakenAwayError(): SluiceError {
  return new SluiceError("E_STORE_READ", "The artifact was deleted while it was being read.");
}

function toClosedError(): SluiceError {
  return new SluiceError("E_STORE_CLOSED", "The store was closed: open another one.");
}

/** Whether the service says that there is no such object or upload. Goes by the error code, since a proxy may also answer 404. */
export function isMissing(error: unknown): boolean {
  return MISSING.has(readFailure(error).name);
}

/** The same for responses to HEAD, which have no body. */
export function isWordlesslyMissing(error: unknown): boolean {
  return isMissing(error) || readFailure(error).name === "NotFound";
}

/** Whether the condition of a write did not hold. */
export function isLost(error: unknown): boolean {
  const { status } = readFailure(error);
  return status === 412 || status === 409 || isMissing(error);
}

/** Whether the service does not support a request. */
export function isUnknownToIt(error: unknown): boolean {
  const { name, status } = readFailure(error);
  return status === 501 || name === "NotImplemented";
}

function readFailure(error: unknown): { readonly name: string; readonly status: number } {
  if (typeof error !== "object" || error === null) return { name: "", status: 0 };
  const { name, $metadata } = error as { readonly name?: unknown; readonly $metadata?: { httpStatusCode?: unknown } };
  const status = $metadata?.httpStatusCode;
  return { name: typeof name === "string" ? name : "", status: typeof status === "number" ? status : 0 };
}

/** Whether a request was refused because of the time at which it was signed. */
function isSignedLate(error: unknown): boolean {
  const { name, status } = readFailure(error);
  if (status !== 403) return false;
  if (name === "RequestTimeTooSkewed") return true;
  // Responses to HEAD have no body that would say so.
  const { $response } = error as { readonly $response?: { readonly headers?: Readonly<Record<string, string>> } };
  return Math.abs(Date.parse($response?.headers?.["date"] ?? "") - Date.now()) > MOST_SKEW;
}

function isAboutRegion(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Region is missing");
}

/** Runs work and turns what it throws into a coded error. Reads within a write give the error of a write. */
export async function guardBucket<T>(act: StorageAct, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failure = s3Error(error, act);
    if (act === "read" || failure.code !== "E_STORE_READ") throw failure;
    const message = failure.message === OTHER.read ? OTHER.write : failure.message;
    throw new SluiceError("E_STORE_WRITE", message, {}, { cause: failure.cause });
  }
}
