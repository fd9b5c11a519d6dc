/** A real S3 service in a folder of its own, for as long as a test file takes: Ceph's gateway over one disk in memory. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { CreateBucketCommand, ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { vi } from "vitest";
import { startCeph } from "../../../../scripts/ceph.mjs";
import { S3ArtifactStore } from "../../../../web/src/s3.js";
import type { S3StoreOptions } from "../../../../web/src/s3.js";
import { freePort } from "../../redis/redis-server.js";

const run = promisify(execFile);

/** Runs a server until standard input ends, which it does with this process, however that ends. */
const GUARDED = '"$@" >/dev/null 2>&1 & echo $!; cat >/dev/null; kill -9 $! 2>/dev/null; wait';

export const BUCKET = "sluice-tests";
export const CREDENTIALS = { accessKeyId: "tester", secretAccessKey: "not-a-secret" };

export class TestS3 implements AsyncDisposable {
  readonly endpoint: string;
  readonly client: S3Client;
  readonly #folder: string;
  readonly #guards: ChildProcess[] = [];
  #prefixes = 0;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.endpoint = `http://127.0.0.1:${port}`;
    this.client = new S3Client({
      endpoint: this.endpoint,
      region: "us-east-1",
      forcePathStyle: true,
      credentials: CREDENTIALS,
    });
  }

  /** A service with one bucket. Throws where it does not run. */
  static async started(): Promise<TestS3> {
    const folder = await mkdtemp(join(tmpdir(), "sluice-s3-"));
    const [monitor, gateway] = [await freePort(), await freePort()];
    const s3 = new TestS3(folder, gateway);
    try {
      await s3.#start(monitor, gateway);
      return s3;
    } catch (error) {
      await s3[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A prefix that nobody else has. */
  prefix(): string {
    return `test-${this.#prefixes++}`;
  }

  /** A store under a prefix of its own, unless it is named. */
  store(options: Partial<S3StoreOptions> = {}): S3ArtifactStore {
    return new S3ArtifactStore({
      bucket: BUCKET,
      prefix: this.prefix(),
      endpoint: this.endpoint,
      credentials: CREDENTIALS,
      ...options,
    });
  }

  /** Keys under a prefix, as somebody else sees them: all but the one that says that it is a store. */
  async keys(prefix: string): Promise<readonly string[]> {
    const said = { Bucket: BUCKET, Prefix: `${prefix}/` };
    const { Contents = [] } = await this.client.send(new ListObjectsV2Command(said));
    const keys = Contents.map(({ Key = "" }) => Key.slice(prefix.length + 1));
    return keys.filter((key) => key !== "sluice-store.json");
  }

  /** Uploads in parts that were not ended. */
  async uploads(prefix: string): Promise<number> {
    const said = { Bucket: BUCKET, Prefix: `${prefix}/` };
    return (await this.client.send(new ListMultipartUploadsCommand(said))).Uploads?.length ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.destroy();
    await Promise.all(
      this.#guards.map(async (guard) => {
        guard.stdin?.end();
        if (guard.exitCode === null) await once(guard, "close");
      }),
    );
    await rm(this.#folder, { recursive: true });
  }

  async #start(monitor: number, gateway: number): Promise<void> {
    await startCeph(this.#folder, {
      monitor,
      gateway: `127.0.0.1:${gateway}`,
      credentials: CREDENTIALS,
      run,
      serve: (program, args) => this.#serve(program, ...args),
    });
    const bucket = new CreateBucketCommand({ Bucket: BUCKET });
    await vi.waitFor(() => this.client.send(bucket), { timeout: 40_000, interval: 50 });
  }

  async #serve(...words: readonly string[]): Promise<void> {
    const guard = spawn("sh", ["-c", GUARDED, "sh", ...words], { stdio: ["pipe", "pipe", "inherit"] });
    this.#guards.push(guard);
    await once(createInterface(guard.stdout), "line");
  }
}
