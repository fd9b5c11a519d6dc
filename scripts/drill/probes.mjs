/**
 * How long the shared services take to answer, and how busy the machine is, all the time: by this a slow request is explained.
 * @module
 */
import { readFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HeadBucketCommand } from "@aws-sdk/client-s3";
import { now } from "./client.mjs";
import { BUCKET } from "./services.mjs";

const EVERY = 250;

export class Probes {
  #stack;
  #timers = [];
  /** Each `{ from, to }`, in milliseconds, of one question; `to` is later while it is waited for. */
  redis = [];
  store = [];
  /** Each `{ at, busy }`, the share of all processors. */
  machine = [];

  constructor(stack) {
    this.#stack = stack;
    if (stack.redis) this.#probe(this.redis, () => stack.redis.command("PING"));
    this.#probe(this.store, stack.bucket ? () => this.#askBucket() : () => this.#askFolder());
    let last = ticks();
    this.#timers.push(
      setInterval(() => {
        const next = ticks();
        const all = next.all - last.all;
        this.machine.push({ at: now(), busy: all === 0 ? 0 : 1 - (next.idle - last.idle) / all });
        last = next;
      }, EVERY),
    );
  }

  #probe(series, ask) {
    let isAsking = false;
    const look = async () => {
      if (isAsking) return;
      isAsking = true;
      const one = { from: now(), to: Infinity };
      series.push(one);
      const isAnswered = await ask().then(
        () => true,
        () => false,
      );
      // Whoever refuses is away until the next question.
      one.to = isAnswered ? now() : now() + EVERY;
      isAsking = false;
    };
    this.#timers.push(setInterval(() => void look(), EVERY));
  }

  async #askBucket() {
    await this.#stack.bucket.client.send(new HeadBucketCommand({ Bucket: BUCKET }), {
      abortSignal: AbortSignal.timeout(10_000),
    });
  }

  async #askFolder() {
    const file = join(this.#stack.folder, "probe");
    await writeFile(file, "probe");
    await readFile(file);
    await rm(file);
  }

  [Symbol.dispose]() {
    for (const timer of this.#timers) clearInterval(timer);
  }
}

function ticks() {
  const numbers = readFileSync("/proc/stat", "utf8").split("\n", 1)[0].trim().split(/\s+/).slice(1).map(Number);
  return { all: numbers.reduce((sum, each) => sum + each, 0), idle: numbers[3] + numbers[4] };
}
