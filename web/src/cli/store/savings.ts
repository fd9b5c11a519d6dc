/**
 * What proxies saved: results of which something was kept out, what servers sent of them, and what clients got. Counted by
 * namespace in the store's folder, told by `sluice doctor`.
 *
 * ```
 * savings/<namespace>.log        a line for each batch: {"calls":3,"bytes_in":5592990,"bytes_out":936}
 * savings/<namespace>.<random>   a log that grew too long, until the next one does
 * ```
 *
 * Any number of processes append at once. Counts of the last seconds are lost if a process is killed.
 * @module
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { FOLDER_MODE, FILE_MODE, namesIn, isPlainFolder, readPlain } from "../../artifacts/file/plain-file.js";
import { idOf, nameOf } from "../../artifacts/file/folder.js";
import { objectOr, parsedOr } from "../../jsonrpc/rpc.js";

/** Results of which something was kept out. */
export interface Savings {
  /** How many. */
  readonly calls: number;
  /** Bytes that servers sent. */
  readonly bytes_in: number;
  /** Bytes that clients got. */
  readonly bytes_out: number;
}

const NOTHING: Savings = { calls: 0, bytes_in: 0, bytes_out: 0 };

/** Milliseconds in which counts are gathered for one line. */
const BATCH = 5000;

/** Bytes after which a log is summed up. */
const MAX_LOG = 64 * 1024;

/** Logs of a namespace that can be read: what a log of the longest length has, and lines that were appended meanwhile. */
const MAX_READ = 16 * MAX_LOG;

const LOG = /^([a-z0-9_~-]{1,80})\.(?:log|[0-9a-f]{16})$/;

// Windows has no O_NOFOLLOW: there it is undefined, which `|` takes for 0.
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/** Counts what one proxy saves. Storing the counts never fails a call: what cannot be written is lost. */
export class SavingsCounter implements AsyncDisposable {
  readonly #folder: string;
  readonly #name: string;
  #unwritten: Savings = NOTHING;
  #timer: NodeJS.Timeout | undefined;
  #written: Promise<void> = Promise.resolve();

  /** Counts for a namespace, in the folder of a store. */
  constructor(store: string, namespace: string) {
    this.#folder = join(store, "savings");
    this.#name = nameOf(namespace);
  }

  /** Counts one result. */
  add(bytesIn: number, bytesOut: number): void {
    this.#unwritten = sum(this.#unwritten, { calls: 1, bytes_in: bytesIn, bytes_out: bytesOut });
    this.#timer ??= setTimeout(() => this.#write(), BATCH).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#write();
    await this.#written;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counts = this.#unwritten;
    if (counts.calls === 0) return;
    this.#unwritten = NOTHING;
    this.#written = this.#written.then(() => this.#append(counts)).catch(() => undefined);
  }

  async #append(counts: Savings): Promise<void> {
    await mkdir(this.#folder, { mode: FOLDER_MODE, recursive: true });
    if (!(await isPlainFolder(this.#folder))) return;
    const path = join(this.#folder, `${this.#name}.log`);
    const size = await appended(path, counts);
    if (size > MAX_LOG) await this.#sumUp(path);
  }

  /**
   * Replaces what was set aside earlier, which nobody writes to any more, by one line, and sets the log aside. Whoever opened
   * it before can still append to it.
   */
  async #sumUp(path: string): Promise<void> {
    for await (const name of namesIn(this.#folder, LOG)) {
      if (namespaceOfLog(name) !== this.#name || name.endsWith(".log")) continue;
      const old = join(this.#folder, name);
      const counts = await readLog(old);
      // In this order, so that a process that is killed here counts nothing twice.
      await rm(old);
      await appended(path, counts);
    }
    await rename(path, join(this.#folder, `${this.#name}.${randomBytes(8).toString("hex")}`));
  }
}

/** Appends a line, and returns the size of the log. */
async function appended(path: string, counts: Savings): Promise<number> {
  const file = await open(path, APPEND, FILE_MODE);
  try {
    // One write, since others append too.
    await file.write(`${JSON.stringify(counts)}\n`);
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/** What proxies saved, by namespace. Logs that cannot be read count nothing. */
export async function savingsIn(store: string): Promise<ReadonlyMap<string, Savings>> {
  const folder = join(store, "savings");
  const found = new Map<string, Savings>();
  for await (const name of namesIn(folder, LOG)) {
    const namespace = idOf(namespaceOfLog(name));
    const counts = await readLog(join(folder, name)).catch(() => NOTHING);
    found.set(namespace, sum(found.get(namespace) ?? NOTHING, counts));
  }
  return found;
}

/** All of them together. */
export function totalSavings(all: Iterable<Savings>): Savings {
  return [...all].reduce(sum, NOTHING);
}

const namespaceOfLog = (name: string): string => LOG.exec(name)?.[1] ?? "";

async function readLog(path: string): Promise<Savings> {
  const lines = (await readPlain(path, MAX_READ)).split("\n");
  return totalSavings(lines.map(savingsOf));
}

/** The counts of a line; none where it is anything else. */
function savingsOf(line: string): Savings {
  const { calls, bytes_in, bytes_out } = objectOr(parsedOr(line));
  return isCount(calls) && isCount(bytes_in) && isCount(bytes_out) ? { calls, bytes_in, bytes_out } : NOTHING;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function sum(left: Savings, right: Savings): Savings {
  return {
    calls: left.calls + right.calls,
    bytes_in: left.bytes_in + right.bytes_in,
    bytes_out: left.bytes_out + right.bytes_out,
  };
}
