/**
 * Everything that one part of the day runs on: shared services, two processes, a balancer, and the users in front of it.
 * @module
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Balancer } from "./balancer.mjs";
import { Program } from "./program.mjs";
import { Server } from "./server.mjs";
import { Bucket, BUCKET, CREDENTIALS, Redis } from "./services.mjs";

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The users. */
export class Load {
  #child;
  #waiting = new Map();

  constructor(child) {
    this.#child = child;
    child.on("message", ({ id, value, failed }) => {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (failed === undefined) resolve(value);
      else reject(new Error(failed));
    });
    child.once("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the users are gone"));
    });
  }

  static async started(port) {
    const child = fork(pathOf("load.mjs"), [String(port)]);
    await once(child, "message");
    return new Load(child);
  }

  /** Has it do something, and gives what comes of it. */
  async order(order, said = {}) {
    const id = crypto.randomUUID();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, order, said });
    });
  }

  /** What came of everything since the last report. */
  async report(folder) {
    const file = join(folder, "report.json");
    await this.order("report", { file });
    return JSON.parse(readFileSync(file, "utf8"));
  }

  async [Symbol.asyncDispose]() {
    if (this.#child.connected) this.#child.disconnect();
    if (this.#child.exitCode === null) await once(this.#child, "exit");
  }
}

/** A stack in a folder. What is started last is ended first. */
export class Stack {
  #ends = [];

  constructor(folder) {
    this.folder = folder;
  }

  /** @param store `folder` or `bucket` @param isShared whether there are two processes, which share their state in Redis */
  static async started(folder, { store, isShared = true, place = join(folder, "store"), retention }) {
    mkdirSync(folder, { recursive: true });
    const stack = new Stack(folder);
    try {
      await stack.#start({ store, isShared, place, retention });
      return stack;
    } catch (error) {
      await stack[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #start({ store, isShared, place, retention }) {
    const keep = (part) => {
      this.#ends.push(part);
      return part;
    };
    const outside = await Program.started([process.execPath, pathOf("outside.mjs")]);
    keep({ [Symbol.asyncDispose]: () => outside.kill() });
    const port = Number(await outside.line());
    if (isShared) this.redis = keep(await Redis.started(join(this.folder, "redis")));
    if (store === "bucket") this.bucket = keep(await Bucket.started(join(this.folder, "s3")));
    const { accessKeyId, secretAccessKey } = CREDENTIALS;
    const env = this.bucket && {
      AWS_ENDPOINT_URL: this.bucket.endpoint,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    };
    this.place = this.bucket ? `s3://${BUCKET}/day` : place;
    const deps = { folder: this.folder, store: this.place, state: this.redis?.url, outside: port, env, retention };
    this.servers = [];
    for (const name of isShared ? ["A", "B"] : ["A"]) this.servers.push(keep(await Server.started(name, deps)));
    this.balancer = keep(await Balancer.started(this.servers.map((server) => server.port)));
    this.load = keep(await Load.started(this.balancer.port));
  }

  async [Symbol.asyncDispose]() {
    for (const part of this.#ends.toReversed()) await part[Symbol.asyncDispose]();
    this.#ends = [];
  }
}
