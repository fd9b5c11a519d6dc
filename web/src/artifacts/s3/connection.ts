/**
 * Who speaks to the service: the host's client, or one of the store's own, made when it is first needed.
 * @module
 */
import type * as S3 from "@aws-sdk/client-s3";
import { SluiceError } from "../../errors/error.js";
import type { StorageAct } from "../../errors/storage.js";
import { closedStore, s3Error } from "./failures.js";
import { limitsOf, type S3Limits, type S3StoreOptions } from "./options.js";

/** What is used of the SDK. */
export type Sdk = typeof S3;

/** How a command is sent. */
export interface Sending {
  readonly abortSignal: AbortSignal;
  readonly requestTimeout?: number;
}

/** A client, and what its commands are made of. */
export interface Speaker {
  readonly sdk: Sdk;
  readonly client: S3.S3Client;
}

/** AWS has regions; elsewhere it is only a word that is signed. */
const ANY_REGION = "us-east-1";
/** Milliseconds that pauses between attempts may take, each. */
const PAUSE = 5000;

/** Sends commands, each of them for a bounded time. */
export class S3Connection {
  readonly limits: S3Limits;
  readonly #options: S3StoreOptions;
  #speaker: Promise<Speaker> | undefined;
  #isClosed = false;

  constructor(options: S3StoreOptions) {
    this.#options = options;
    this.limits = limitsOf(options);
  }

  /** The client, for what is not sent. */
  async speaker(): Promise<Speaker> {
    if (this.#isClosed) throw closedStore();
    this.#speaker ??= this.#made();
    return this.#speaker;
  }

  /**
   * Sends a command; `bytes` go with it.
   *
   * @throws what the SDK throws; SluiceError E_STORE_CLOSED after `close`, E_MISUSE where the SDK is not installed.
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
    const timer = setTimeout(() => over.abort(), attempts * (attempt + PAUSE));
    try {
      const abortSignal = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
      // Clients of others may only warn of it, at every request.
      const requestTimeout = this.#options.client ? {} : { requestTimeout: attempt };
      return await command(speaker, { abortSignal, ...requestTimeout });
    } finally {
      clearTimeout(timer);
    }
  }

  /** The same with coded errors. */
  async coded<T>(act: StorageAct, bytes: number, command: (speaker: Speaker, how: Sending) => Promise<T>): Promise<T> {
    try {
      return await this.send(bytes, command);
    } catch (error) {
      throw s3Error(error, act);
    }
  }

  /** Milliseconds that so many bytes may take. */
  patience(bytes: number): number {
    return Math.ceil((bytes / this.limits.slowest) * 1000);
  }

  /** Ends the store's own client for good. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const speaker = await this.#speaker?.catch(() => undefined);
    this.#speaker = undefined;
    if (this.#options.client === undefined) speaker?.client.destroy();
  }

  async #made(): Promise<Speaker> {
    try {
      const sdk = await installed();
      return { sdk, client: this.#options.client ?? new sdk.S3Client(configOf(this.#options, this.limits)) };
    } catch (error) {
      this.#speaker = undefined;
      throw error;
    }
  }
}

function configOf(options: S3StoreOptions, { timeout, attempts }: S3Limits): S3.S3ClientConfig {
  // What the environment says the SDK reads by itself, but not what follows from it.
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION } = process.env;
  const { endpoint = AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL, credentials } = options;
  const { region = endpoint === undefined ? undefined : (AWS_REGION ?? ANY_REGION) } = options;
  const { forcePathStyle = endpoint !== undefined } = options;
  return {
    maxAttempts: attempts,
    forcePathStyle,
    requestHandler: { connectionTimeout: timeout, requestTimeout: timeout, throwOnRequestTimeout: true },
    ...(region !== undefined && { region }),
    ...(credentials !== undefined && { credentials }),
    // Services other than AWS refuse checksums that they do not know.
    ...(endpoint !== undefined && {
      endpoint,
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    }),
  };
}

async function installed(): Promise<Sdk> {
  try {
    return await import("@aws-sdk/client-s3");
  } catch (error) {
    const sentence = "A store in a bucket needs the package @aws-sdk/client-s3: install it beside this one.";
    throw new SluiceError("E_MISUSE", sentence, {}, { cause: error });
  }
}
