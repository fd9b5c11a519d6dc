/**
 * What the processes share: a Redis server whose every write is on its disk before it answers, and a bucket of a real S3 service.
 * @module
 */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { createClient } from "@redis/client";
import { ACCOUNT, startCeph } from "../ceph.mjs";
import { freePort, Program, until } from "./program.mjs";

const run = promisify(execFile);

const DURABLE = ["--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"];

/** A Redis server in a folder. */
export class Redis {
  #folder;
  #program;
  #client;
  /** What the processes before this one have done. */
  #before = { commands: 0, input: 0, output: 0, cpu: 0 };

  constructor(folder, port) {
    this.#folder = folder;
    this.port = port;
    this.url = `redis://127.0.0.1:${port}`;
  }

  static async started(folder) {
    mkdirSync(folder);
    const redis = new Redis(folder, await freePort());
    await redis.start();
    return redis;
  }

  /** Again, with what is in its folder. */
  async start() {
    const words = ["--port", String(this.port), "--dir", this.#folder, "--bind", "127.0.0.1", "--save", "", ...DURABLE];
    this.#program = await Program.started(["redis-server", ...words, "--logfile", join(this.#folder, "log")]);
    await until("Redis", 60, async () => (await this.command("PING")) === "PONG");
  }

  /** As `kill -9`. What it has done is counted on. */
  async kill() {
    this.#before = await this.counts();
    await this.#end();
  }

  async #end() {
    this.#client?.destroy();
    this.#client = undefined;
    await this.#program.kill();
  }

  signal(name) {
    this.#program.signal(name);
  }

  get seen() {
    return this.#program.seen;
  }

  /** The reply to a command, as somebody else gets it. */
  async command(...words) {
    if (this.#client === undefined) {
      const client = createClient({ url: this.url, RESP: 2, disableClientInfo: true });
      client.on("error", () => undefined);
      await client.connect();
      this.#client = client;
    }
    return this.#client.sendCommand(words);
  }

  /** A number of `INFO`. */
  async info(name) {
    return Number(new RegExp(`^${name}:(\\d+)`, "m").exec(await this.command("INFO", "all"))?.[1]);
  }

  /** How many keys there are, bytes in use, and what it has done so far. */
  async counts() {
    const names = ["used_memory", "total_commands_processed", "total_net_input_bytes", "total_net_output_bytes"];
    const [used, commands, input, output] = await Promise.all(names.map((name) => this.info(name)));
    const done = { commands, input, output, cpu: this.seen.cpu };
    for (const name of Object.keys(done)) done[name] += this.#before[name];
    return { keys: Number(await this.command("DBSIZE")), used, ...done };
  }

  /**
   * How many sessions there are, and seconds until the last key of anything else is gone by itself: Infinity if one stays. The
   * version of the layout is to stay.
   */
  async kept() {
    let [cursor, longest, sessions] = ["0", 0, 0];
    do {
      const [next, keys] = await this.command("SCAN", cursor, "COUNT", "1000");
      cursor = String(next);
      sessions += keys.filter((key) => /:sessions:[^:]+$/.test(key)).length;
      const others = keys.filter((key) => !/:(?:sessions|users|version)(?::|$)/.test(key));
      for (const left of await Promise.all(others.map((key) => this.command("PTTL", key))))
        longest = Math.max(longest, left === -1 ? Infinity : left / 1000);
    } while (cursor !== "0");
    return { sessions, longest };
  }

  async [Symbol.asyncDispose]() {
    await this.#end();
  }
}

export const BUCKET = "drill";
export const CREDENTIALS = { accessKeyId: "drill", secretAccessKey: "not-a-secret" };

/** It counts the requests that it answers. */
const COUNTED = [
  "rgw enable usage log = true",
  "rgw usage log tick interval = 1",
  "rgw usage log flush threshold = 64",
];

/** Ceph's gateway over one disk in memory, with one bucket. The gateway is what is stopped and killed; the disk stays. */
export class Bucket {
  #folder;
  #programs = [];
  #gateway;
  #startGateway = async () => undefined;

  constructor(folder, port) {
    this.#folder = folder;
    this.endpoint = `http://127.0.0.1:${port}`;
    const credentials = CREDENTIALS;
    this.client = new S3Client({ endpoint: this.endpoint, region: "us-east-1", forcePathStyle: true, credentials });
  }

  static async started(folder) {
    mkdirSync(folder);
    const [monitor, gateway] = [await freePort(), await freePort()];
    const bucket = new Bucket(folder, gateway);
    const credentials = CREDENTIALS;
    const serve = (program, args) => bucket.#serve(program, args);
    await startCeph(folder, { monitor, gateway: `127.0.0.1:${gateway}`, credentials, run, serve, settings: COUNTED });
    await until("the bucket", 60, async () => bucket.client.send(new CreateBucketCommand({ Bucket: BUCKET })));
    return bucket;
  }

  async #serve(program, args) {
    const start = () => Program.started([program, ...args]);
    if (program !== "radosgw") return this.#programs.push(await start());
    this.#startGateway = async () => {
      this.#gateway = await start();
    };
    return this.#startGateway();
  }

  signal(name) {
    this.#gateway.signal(name);
  }

  /** As `kill -9`. */
  async kill() {
    await this.#gateway.kill();
  }

  /** The gateway again, over the same disk. */
  async start() {
    await this.#startGateway();
    await until("the bucket", 60, () => this.keys("", 1));
  }

  get seen() {
    return this.#gateway.seen;
  }

  /** How many objects there are below a prefix, at most so many. */
  async keys(Prefix, most = Infinity) {
    let count = 0;
    /** @type {string | undefined} */
    let ContinuationToken;
    do {
      const said = { Bucket: BUCKET, Prefix, MaxKeys: Math.min(1000, most), ContinuationToken };
      const page = await this.client.send(new ListObjectsV2Command(said));
      count += page.KeyCount ?? 0;
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined && count < most);
    return count;
  }

  /** Requests so far by kind, and bytes in and out, as the service itself counts them. */
  async usage() {
    const words = ["--conf", join(this.#folder, "ceph.conf"), "usage", "show", "--uid", ACCOUNT];
    const { stdout } = await run("radosgw-admin", [...words, "--show-log-entries=false"]);
    const categories = JSON.parse(stdout).summary.flatMap((each) => each.categories);
    const found = { sent: 0, received: 0 };
    for (const { category, ops, bytes_sent: sent, bytes_received: received } of categories) {
      found[category] = (found[category] ?? 0) + ops;
      found.sent += sent;
      found.received += received;
    }
    return found;
  }

  async [Symbol.asyncDispose]() {
    this.client.destroy();
    await this.#gateway?.kill();
    for (const program of this.#programs.toReversed()) await program.kill();
  }
}
