/**
 * The options of a store in a bucket.
 * @module
 */
import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";
import { wrong, checkOptions, COUNT, FUNCTION, TEXT, type OptionTests } from "../../errors/arguments.js";
import { SluiceError } from "../../errors/error.js";
import type { Hashing } from "../hash.js";
import type { Clock } from "../store.js";

/** The bucket, its client and the time limits. */
export interface S3StoreOptions {
  /** The name of the bucket, which must exist, or the ARN of an access point. */
  readonly bucket: string;
  /**
   * The prefix of all keys, such as `files/prod`: segments of letters, digits, `-`, `_` and `.`, separated by `/`, at most 200
   * characters. Defaults to none. Stores with the same bucket and prefix share everything.
   */
  readonly prefix?: string;
  /** The host's own client, for proxies, roles or tracing. Replaces the next four options. The host closes it. */
  readonly client?: S3Client;
  /** The region, such as `eu-central-1`. Defaults to that of the environment or profile. */
  readonly region?: string;
  /** The service, such as `https://minio.example:9000`. Defaults to AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else AWS. */
  readonly endpoint?: string;
  /** Whether the bucket is in the path of URLs instead of the host name. Defaults to true for services other than AWS. */
  readonly forcePathStyle?: boolean;
  /** Defaults to the SDK's chain: environment, profile, container, instance. */
  readonly credentials?: S3ClientConfig["credentials"];
  /** Milliseconds to wait for a response, for each attempt. Defaults to 10,000. */
  readonly timeoutMs?: number;
  /** Most attempts of a request, with the SDK's pauses in between. Defaults to 3. A `client` has its own number. */
  readonly maxAttempts?: number;
  /** The least bytes per second of a service, once `timeoutMs` have passed. Defaults to 16,384. */
  readonly slowestBytesPerSecond?: number;
  /** Bytes of one part of a large artifact, 5 MiB to 512 MiB. Defaults to 8 MiB. Each writer holds two parts in memory. */
  readonly partBytes?: number;
  /**
   * Milliseconds after which `gc` removes what no artifact names. Must be longer than any upload takes. Defaults to a day.
   */
  readonly sweepAfter?: number;
  /** The hash that names contents. Defaults to SHA-256. All users of a bucket must use the same. */
  readonly hashing?: Hashing;
  /** The clock that dates artifacts. */
  readonly clock?: Clock;
}

/** Limits in milliseconds and bytes. */
export interface S3Limits {
  readonly timeout: number;
  readonly attempts: number;
  readonly slowest: number;
  readonly part: number;
  readonly sweepAfter: number;
}

const MIB = 1024 * 1024;
/** The sizes of a part that S3 takes. The last part may be smaller. */
const LEAST_PART = 5 * MIB;
const MOST_PART = 512 * MIB;
const DAY = 24 * 60 * 60 * 1000;
const MOST_ATTEMPTS = 20;
const MAX_PREFIX = 200;
const MAX_BUCKET = 255;
const PART_OF_PREFIX = /^(?!\.{1,2}$)[A-Za-z0-9._-]+$/;
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._:/-]*$/;
const URL_OF_STORE = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]*)(?:\/([^?#]*))?$/;

const TESTS: OptionTests<S3StoreOptions> = {
  bucket: ["the name of a bucket", (value) => typeof value === "string" && isBucket(value)],
  prefix: [
    `parts of letters, digits, '-', '_' and '.', separated by '/', of at most ${MAX_PREFIX} characters`,
    (value) => typeof value === "string" && isPrefix(value),
  ],
  client: ["an S3Client", (value) => typeof (value as Partial<S3Client> | null)?.send === "function"],
  region: TEXT,
  endpoint: ["an http or https URL", (value) => typeof value === "string" && isHttp(value)],
  forcePathStyle: ["true or false", (value) => typeof value === "boolean"],
  credentials: ["an object or a function", (value) => typeof value === "function" || Object(value) === value],
  timeoutMs: COUNT,
  maxAttempts: [`a whole number from 1 to ${MOST_ATTEMPTS}`, (value) => isWithin(value, 1, MOST_ATTEMPTS)],
  slowestBytesPerSecond: COUNT,
  partBytes: [`a whole number from ${LEAST_PART} to ${MOST_PART}`, (value) => isWithin(value, LEAST_PART, MOST_PART)],
  sweepAfter: COUNT,
  hashing: [
    "an object with whole and stream",
    (value) => typeof (value as Partial<Hashing> | null)?.whole === "function",
  ],
  clock: FUNCTION,
};

/** Throws E_INVALID_ARGUMENT with the name of the wrong option. The message never shows its value. */
export function checkS3Options(options: S3StoreOptions): void {
  checkOptions<S3StoreOptions>(options, TESTS, "an S3ArtifactStore", unfit, ["bucket"]);
}

/** The limits that options set. */
export function toS3Limits(options: S3StoreOptions): S3Limits {
  return {
    timeout: options.timeoutMs ?? 10_000,
    attempts: options.maxAttempts ?? 3,
    slowest: options.slowestBytesPerSecond ?? 16 * 1024,
    part: options.partBytes ?? 8 * MIB,
    sweepAfter: options.sweepAfter ?? DAY,
  };
}

/** The prefix of all keys: empty, or ending with `/`. */
export function toStem({ prefix = "" }: S3StoreOptions): string {
  const bare = prefix.replace(/\/$/, "");
  return bare === "" ? "" : `${bare}/`;
}

/** Parses `s3://bucket/prefix`. Throws E_INVALID_ARGUMENT. The message never shows the URL. */
export function optionsFrom(url: string): S3StoreOptions {
  const found = typeof url === "string" ? URL_OF_STORE.exec(url) : null;
  const [, bucket, prefix = ""] = found ?? [];
  if (bucket === undefined) throw wrong("url", "s3://bucket or s3://bucket/prefix");
  return { bucket, ...(prefix !== "" && { prefix }) };
}

function isBucket(name: string): boolean {
  return name.length >= 3 && name.length <= MAX_BUCKET && BUCKET.test(name);
}

function isPrefix(prefix: string): boolean {
  const bare = prefix.replace(/\/$/, "");
  return prefix.length <= MAX_PREFIX && (bare === "" || bare.split("/").every((part) => PART_OF_PREFIX.test(part)));
}

function isHttp(url: string): boolean {
  return /^https?:\/\/[^/?#]/.test(url) && URL.canParse(url);
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}

function unfit(sentence: string, path: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}
