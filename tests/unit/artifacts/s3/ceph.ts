/** A real S3 service in a folder of its own, for as long as a test file takes: Ceph's gateway over one disk in memory. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { CreateBucketCommand, ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { vi } from "vitest";
import { S3ArtifactStore } from "../../../../web/src/s3.js";
import type { S3StoreOptions } from "../../../../web/src/s3.js";
import { freePort } from "../../redis/redis-server.js";

const run = promisify(execFile);

/** Runs a server until standard input ends, which it does with this process, however that ends. */
const GUARDED = '"$@" >/dev/null 2>&1 & echo $!; cat >/dev/null; kill -9 $! 2>/dev/null; wait';

export const BUCKET = "sluice-tests";
export const CREDENTIALS = { accessKeyId: "tester", secretAccessKey: "not-a-secret" };

const config = (folder: string, fsid: string, monitor: number, gateway: number): string => `[global]
fsid = ${fsid}
mon host = [v2:127.0.0.1:${monitor}/0]
ms bind msgr1 = false
ms mon client mode = crc
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
mon data = ${folder}/mon
mon allow pool size one = true
mon data avail crit = 0
paxos propose interval = 0.05
paxos min wait = 0.01
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 4G
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd memory target = 939524096
run dir = ${folder}
pid file =
admin socket =
log file =
log to stderr = false
mon cluster log to file = false
rgw data = ${folder}/gateway
rgw frontends = beast endpoint=127.0.0.1:${gateway} tcp_nodelay=1
rgw thread pool size = 64
rgw gc max objs = 1
`;

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
    const [folder, fsid, disk] = [this.#folder, crypto.randomUUID(), crypto.randomUUID()];
    const file = join(folder, "ceph.conf");
    const all = ["--conf", file];
    await writeFile(file, config(folder, fsid, monitor, gateway));
    for (const name of ["mon", "osd"]) await mkdir(join(folder, name));
    const map = join(folder, "monmap");
    await run("monmaptool", [...all, "--create", "--fsid", fsid, "--addv", "a", `[v2:127.0.0.1:${monitor}]`, map]);
    await run("ceph-mon", [...all, "--id", "a", "--mkfs", "--monmap", map]);
    await this.#serve("ceph-mon", ...all, "--id", "a", "--foreground");
    await run("ceph", [...all, "--connect-timeout", "30", "osd", "new", disk]);
    await run("ceph-osd", [...all, "--id", "0", "--mkfs", "--osd-uuid", disk]);
    await this.#serve("ceph-osd", ...all, "--id", "0", "--foreground");
    await this.#serve("radosgw", ...all, "--name", "client.admin", "--foreground");
    const { accessKeyId, secretAccessKey } = CREDENTIALS;
    const keys = ["--access-key", accessKeyId, "--secret-key", secretAccessKey];
    await run("radosgw-admin", [...all, "user", "create", "--uid", "tester", "--display-name", "tester", ...keys]);
    const bucket = new CreateBucketCommand({ Bucket: BUCKET });
    await vi.waitFor(() => this.client.send(bucket), { timeout: 40_000, interval: 50 });
  }

  async #serve(...words: readonly string[]): Promise<void> {
    const guard = spawn("sh", ["-c", GUARDED, "sh", ...words], { stdio: ["pipe", "pipe", "inherit"] });
    this.#guards.push(guard);
    await once(createInterface(guard.stdout), "line");
  }
}
