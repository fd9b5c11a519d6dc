/**
 * What proxies saved: results of which something was kept out, what servers sent of them, what their host would have shown its model,
 * and what it shows now. Counted by namespace and host in the store's folder, told by `sluice doctor`.
 *
 * ```
 * savings/<namespace>.log        a line for each batch: {"host":"codex","calls":3,"bytes_in":5592990,"bytes_shown":36000,"bytes_out":936}
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
import { toId, toFileName } from "../../artifacts/file/folder.js";
import { objectOr, tryParse } from "../../jsonrpc/rpc.js";

/** Results of which something was kept out. */
export interface Savings {
  /** How many. */
  readonly calls: number;
  /** Bytes that servers sent. */
  readonly bytes_in: number;
  /** Bytes of text that hosts would have shown of them: they cut long results, and pictures are no text. */
  readonly bytes_shown: number;
  /** Bytes of text that they show now. */
  readonly bytes_out: number;
}

const NOTHING: Savings = { calls: 0, bytes_in: 0, bytes_shown: 0, bytes_out: 0 };

/** The host of a line that names none, as a Sluice before wrote them. */
const UNKNOWN = "unknown";

/** The longest word for a host, and the most hosts of a namespace. */
const MAX_WORD = 40;
const MAX_HOSTS = 64;

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
  readonly #unwritten = new Map<string, Savings>();
  #timer: NodeJS.Timeout | undefined;
  #written: Promise<void> = Promise.resolve();

  /** Counts for a namespace, in the folder of a store. */
  constructor(store: string, namespace: string) {
    this.#folder = join(store, "savings");
    this.#name = toFileName(namespace);
  }

  /** Counts results that went to a host. */
  add(host: string, savings: Savings): void {
    this.#unwritten.set(host, sum(this.#unwritten.get(host) ?? NOTHING, savings));
    this.#timer ??= setTimeout(() => this.#write(), BATCH).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#write();
    await this.#written;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counts = new Map(this.#unwritten);
    if (counts.size === 0) return;
    this.#unwritten.clear();
    this.#written = this.#written.then(() => this.#append(counts)).catch(() => undefined);
  }

  async #append(counts: ReadonlyMap<string, Savings>): Promise<void> {
    await mkdir(this.#folder, { mode: FOLDER_MODE, recursive: true });
    if (!(await isPlainFolder(this.#folder))) return;
    const path = join(this.#folder, `${this.#name}.log`);
    const size = await appendLine(path, counts);
    if (size > MAX_LOG) await this.#sumUp(path);
  }

  /**
   * Replaces the log that was set aside earlier, which is no longer written to, by one line, and sets the current log aside. A process
   * that opened it before can still append to it.
   */
  async #sumUp(path: string): Promise<void> {
    for await (const name of namesIn(this.#folder, LOG)) {
      if (namespaceOfLog(name) !== this.#name || name.endsWith(".log")) continue;
      const old = join(this.#folder, name);
      const counts = await readLog(old);
      // In this order, so that a process that is killed here counts nothing twice.
      await rm(old);
      await appendLine(path, counts);
    }
    await rename(path, join(this.#folder, `${this.#name}.${randomBytes(8).toString("hex")}`));
  }
}

/** Appends a line, and returns the size of the log. */
async function appendLine(path: string, counts: ReadonlyMap<string, Savings>): Promise<number> {
  const file = await open(path, APPEND, FILE_MODE);
  try {
    // One write, since others append too.
    await file.write([...counts].map(([host, savings]) => `${JSON.stringify({ host, ...savings })}\n`).join(""));
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/** What proxies saved, by namespace, and then by host. Logs that cannot be read count nothing. */
export async function savingsIn(store: string): Promise<ReadonlyMap<string, ReadonlyMap<string, Savings>>> {
  const folder = join(store, "savings");
  const found = new Map<string, Map<string, Savings>>();
  for await (const name of namesIn(folder, LOG)) {
    const namespace = toId(namespaceOfLog(name));
    const counts = await readLog(join(folder, name)).catch(() => new Map<string, Savings>());
    found.set(namespace, addAll(found.get(namespace) ?? new Map<string, Savings>(), counts));
  }
  return found;
}

function addAll(to: Map<string, Savings>, more: Iterable<readonly [string, Savings]>): Map<string, Savings> {
  for (const [host, savings] of more) {
    const known = to.has(host) || to.size < MAX_HOSTS ? host : UNKNOWN;
    to.set(known, sum(to.get(known) ?? NOTHING, savings));
  }
  return to;
}

/** What proxies saved, by host, whatever the namespace. */
export function sumByHost(all: Iterable<ReadonlyMap<string, Savings>>): ReadonlyMap<string, Savings> {
  const hosts = new Map<string, Savings>();
  for (const each of all) addAll(hosts, each);
  return hosts;
}

/** All of them together. */
export function totalSavings(all: Iterable<Savings>): Savings {
  return [...all].reduce(sum, NOTHING);
}

const namespaceOfLog = (name: string): string => LOG.exec(name)?.[1] ?? "";

async function readLog(path: string): Promise<ReadonlyMap<string, Savings>> {
  const lines = (await readPlain(path, MAX_READ)).split("\n");
  return addAll(new Map<string, Savings>(), lines.flatMap(readLine));
}

/** The host of a line and its counts; none where it is anything else. */
function readLine(line: string): readonly (readonly [string, Savings])[] {
  const { host = UNKNOWN, calls, bytes_in, bytes_shown = bytes_in, bytes_out } = objectOr(tryParse(line));
  if (typeof host !== "string" || host.length > MAX_WORD || !/^[a-z0-9-]+$/.test(host)) return [];
  if (!isCount(calls) || !isCount(bytes_in) || !isCount(bytes_shown) || !isCount(bytes_out)) return [];
  return [[host, { calls, bytes_in, bytes_shown, bytes_out }]];
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function sum(left: Savings, right: Savings): Savings {
  return {
    calls: left.calls + right.calls,
    bytes_in: left.bytes_in + right.bytes_in,
    bytes_shown: left.bytes_shown + right.bytes_shown,
    bytes_out: left.bytes_out + right.bytes_out,
  };
}
