/**
 * What a store in a bucket is made of.
 * @module
 */
import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";
import { wrong, checkOptions, COUNT, FUNCTION, TEXT, type OptionTests } from "../../errors/arguments.js";
import { SluiceError } from "../../errors/error.js";
import type { Hashing } from "../hash.js";
import type { Clock } from "../store.js";

/** Which bucket, who speaks to it, and how patiently. */
export interface S3StoreOptions {
  /** The bucket, which has to be there: its name, or the ARN of an access point. */
  readonly bucket: string;
  /**
   * What all keys begin with, such as `files/prod`: parts of letters, digits, `-`, `_` and `.`, with `/` between them, at most
   * 200 characters. None when left out. Stores of one bucket and prefix share everything.
   */
  readonly prefix?: string;
  /** A client of the host's, who closes it: for proxies, roles, tracing. Instead of the four options that follow. */
  readonly client?: S3Client;
  /** Where the bucket is, such as `eu-central-1`. Left out: what the environment or the profile says. */
  readonly region?: string;
  /** The service, as `https://minio.example:9000`. Left out: what AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL says, else AWS. */
  readonly endpoint?: string;
  /** Put the bucket into the path and not into the host's name. Left out: where the service is another than AWS. */
  readonly forcePathStyle?: boolean;
  /** Left out: the SDK's default chain, which is environment, profile, container, instance. */
  readonly credentials?: S3ClientConfig["credentials"];
  /** Milliseconds until a service that gives no answer is given up, for each attempt; 10,000 when left out. */
  readonly timeoutMs?: number;
  /** How often a request is sent at most, with the SDK's pauses in between; 3 when left out. A `client` has its own number. */
  readonly maxAttempts?: number;
  /** Bytes a second that a service may be slow with, once `timeoutMs` have passed; 16,384 when left out. */
  readonly slowestBytesPerSecond?: number;
  /** Bytes of one part of a large artifact, 5 MiB to 512 MiB; 8 MiB when left out. Two of them are in memory for each writer. */
  readonly partBytes?: number;
  /**
   * Milliseconds until `gc` takes for left behind what no artifact names: longer than any upload takes. A day when left out.
   */
  readonly sweepAfter?: number;
  /** How contents are named; SHA-256 when left out. All users of a bucket must agree. */
  readonly hashing?: Hashing;
  /** What artifacts are dated by. */
  readonly clock?: Clock;
}

/** Bounds, in milliseconds and bytes. */
export interface S3Limits {
  readonly timeout: number;
  readonly attempts: number;
  readonly slowest: number;
  readonly part: number;
  readonly sweepAfter: number;
}

const MIB = 1024 * 1024;
/** What S3 itself takes but for the last part. */
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
    `parts of letters, digits, '-', '_' and '.' with '/' between them, of at most ${MAX_PREFIX} characters`,
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

/** Throws SluiceError E_INVALID_ARGUMENT with the name of the option, in which nothing of its value shows. */
export function checkS3Options(options: S3StoreOptions): void {
  checkOptions<S3StoreOptions>(options, TESTS, "an S3ArtifactStore", unfit, ["bucket"]);
}

/** The bounds that options set. */
export function limitsOf(options: S3StoreOptions): S3Limits {
  return {
    timeout: options.timeoutMs ?? 10_000,
    attempts: options.maxAttempts ?? 3,
    slowest: options.slowestBytesPerSecond ?? 16 * 1024,
    part: options.partBytes ?? 8 * MIB,
    sweepAfter: options.sweepAfter ?? DAY,
  };
}

/** What all keys begin with: nothing, or a prefix that ends with `/`. */
export function stemOf({ prefix = "" }: S3StoreOptions): string {
  const bare = prefix.replace(/\/$/, "");
  return bare === "" ? "" : `${bare}/`;
}

/** What `s3://bucket/prefix` says. Throws SluiceError E_INVALID_ARGUMENT, in which nothing of the URL shows. */
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
