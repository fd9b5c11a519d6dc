/**
 * A real service with a proxy in front of it that loses, twists and withholds, for the tests of one file.
 * @module
 */
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { S3ArtifactStore } from "../../../../web/src/s3.js";
import { BUCKET, CREDENTIALS, TestS3 } from "./ceph.js";
import { FaultyProxy, type Asked, type Fault } from "./faulty-proxy.js";

type StoreOptions = Parameters<TestS3["store"]>[0];

/** What tests have of it; each has a prefix of its own. */
export class FaultyS3 {
  readonly #stores: S3ArtifactStore[] = [];
  #s3: TestS3 | undefined;
  #proxy: FaultyProxy | undefined;
  prefix = "";

  /** Started before the first test of the file that asks for it, and ended behind the last. */
  static forTests(): FaultyS3 {
    const service = new FaultyS3();
    beforeAll(() => service.#start());
    beforeEach(() => service.#begin());
    afterEach(() => service.#end());
    afterAll(() => service.#stop());
    return service;
  }

  get s3(): TestS3 {
    return this.#s3 as TestS3;
  }

  get proxy(): FaultyProxy {
    return this.#proxy as FaultyProxy;
  }

  /** A store through the proxy, which is closed when the test ends. */
  store(options: StoreOptions = {}): S3ArtifactStore {
    return this.#opened({ endpoint: this.proxy.endpoint, maxAttempts: 2, ...options });
  }

  /** A store around it. */
  direct(): S3ArtifactStore {
    return this.#opened({});
  }

  #opened(options: StoreOptions): S3ArtifactStore {
    const store = this.s3.store({ prefix: this.prefix, ...options });
    this.#stores.push(store);
    return store;
  }

  async #start(): Promise<void> {
    this.#s3 = await TestS3.started();
    this.#proxy = await FaultyProxy.before(this.#s3.endpoint);
  }

  #begin(): void {
    this.proxy.set({});
    this.prefix = this.s3.prefix();
  }

  async #end(): Promise<void> {
    await Promise.all(this.#stores.splice(0).map((store) => store.close()));
  }

  async #stop(): Promise<void> {
    await this.#proxy?.[Symbol.asyncDispose]();
    await this.#s3?.[Symbol.asyncDispose]();
  }

  /** What work fails with, which tells no secret. */
  async failure(work: Promise<unknown>): Promise<unknown> {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expectNoSecret(error, this.prefix);
    return error;
  }
}

/** Nothing of what it is about shows in an error, however deep one looks. */
function expectNoSecret(error: unknown, prefix: string): void {
  const shown = inspect(error, { depth: 20, showHidden: true });
  const secrets = [BUCKET, prefix, "127.0.0.1", CREDENTIALS.accessKeyId, CREDENTIALS.secretAccessKey, "ada"];
  for (const secret of secrets) expect(shown).not.toContain(secret);
}

/** Where a blob is asked for. */
export const isBlob = ({ path }: Asked): boolean => path.includes("/blobs/");

/** Where its bytes are. */
export const isReadOfBlob = (asked: Asked): boolean => asked.method === "GET" && isBlob(asked);

/** The service does what it was asked once, and nobody hears of it. */
export function deaf(which: (asked: Asked) => boolean): Fault {
  let done = false;
  return {
    after: (asked, { answer, response }) => {
      if (done || !which(asked)) return false;
      done = true;
      answer.resume();
      response.destroy();
      return true;
    },
  };
}

/** Whole answers with other bytes. */
export function twisted(make: (bytes: Buffer) => Buffer): Fault {
  return {
    after: (asked, { answer, response }) => {
      if (!isReadOfBlob(asked)) return false;
      const pieces: Buffer[] = [];
      answer.on("data", (piece: Buffer) => pieces.push(piece));
      answer.on("end", () => {
        const bytes = make(Buffer.concat(pieces));
        response.writeHead(answer.statusCode ?? 500, { ...answer.headers, "content-length": bytes.byteLength });
        response.end(bytes);
      });
      return true;
    },
  };
}
