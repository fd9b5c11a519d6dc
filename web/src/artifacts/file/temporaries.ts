/**
 * What is on its way into a folder or out of it, under names that say whose it is, and what of it was left behind.
 *
 * ```
 * tmp/<view>-<process>            a socket, on which its owner listens while it has anything in here
 * tmp/<view>-<process>-<random>   what is on its way
 * ```
 *
 * Nobody connects to the socket of a process that has ended: the kernel closes it with the process, whatever ended it, and says so
 * also to processes of other containers. One that is stopped or suspended, for however long, still has its socket, whatever
 * the clocks say. A kernel knows only its own sockets, each in the file system it was made in, so this holds for two processes
 * that have the same view of the folder: the same boot of the same machine, and the same mount. Of all others, and where there can be
 * no socket, the age decides.
 * @module
 */
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readdir, readFile, rm, unlink, writeFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemCode } from "../../errors/storage.js";
import { FILE_MODE, namesIn, orNull } from "./plain.js";

/** Milliseconds after which a temporary is left behind whose process cannot be asked. */
export const SWEEP_AFTER: number = 24 * 60 * 60 * 1000;

/** The owner, and whether it is something of theirs or their socket. */
const NAME = /^([0-9a-f]{12}-[0-9a-f]{16})(-[0-9a-f]{16})?$/;
/** The view of those that have no socket. */
const NO_VIEW = "0".repeat(12);

/** What is known of the process that a name is of; `gone` where it ran under this kernel, and its socket is no more. */
type OwnerState = "running" | "ended" | "gone" | "unknown";

/** A name that nobody else has, for as long as it is not given back. */
export interface TemporaryPath {
  readonly path: string;
  /** Tells others by {@link TemporaryFolder.stateOf} whether this process still runs. */
  readonly owner: string;
  /** To be called when nothing is at the path any more. Does nothing the second time. */
  readonly release: () => Promise<void>;
}

interface Held {
  readonly owner: Promise<Owner>;
  uses: number;
}

/** One folder of temporaries, for any number of processes. */
export class TemporaryFolder {
  readonly #folder: string;
  #held: Held | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Gives a path in the folder, which has to be there. Makes nothing at it. */
  async path(): Promise<TemporaryPath> {
    const held = (this.#held ??= { owner: Owner.open(this.#folder), uses: 0 });
    held.uses += 1;
    const owner = await held.owner;
    const path = join(this.#folder, `${owner.name}-${random()}`);
    let isHeld = true;
    const release = async (): Promise<void> => {
      if (!isHeld) return;
      isHeld = false;
      held.uses -= 1;
      if (held.uses > 0) return;
      if (this.#held === held) this.#held = undefined;
      await owner.close();
    };
    return { path, owner: owner.name, release };
  }

  /** Makes something aside, to move it from there, or moves something there. What is still there in the end is removed. */
  async aside<T>(work: (path: string, owner: string) => Promise<T>): Promise<T> {
    const { path, owner, release } = await this.path();
    try {
      return await work(path, owner);
    } finally {
      await removed(path);
      await release();
    }
  }

  /**
   * Removes what processes left that have ended, and of those that cannot be asked what is older than `after` milliseconds.
   * What `discard` leaves is there for the next time.
   */
  async sweep(after: number, discard: (path: string) => Promise<void> = removed): Promise<void> {
    const found = new Map<string, string[]>();
    // All names before anybody is asked: whoever made something listened before that, so one that listens later made none of these.
    for await (const name of namesIn(this.#folder, NAME)) {
      const owner = NAME.exec(name)?.[1] ?? "";
      const names = found.get(owner) ?? [];
      if (name !== owner) names.push(name);
      found.set(owner, names);
    }
    for (const [owner, names] of found) {
      const state = await this.stateOf(owner);
      if (state === "running") continue;
      for (const name of names) {
        const path = join(this.#folder, name);
        if (state === "ended" || (await isOlder(path, after))) await discard(path);
      }
      // The socket goes last: without it nobody could tell of the others that they were left.
      const socket = join(this.#folder, owner);
      if (state === "ended" || (await isOlder(socket, after))) await removed(socket);
    }
  }

  /** Asks the kernel for the process that a name is of. */
  async stateOf(owner: string): Promise<OwnerState> {
    if ((await this.#held?.owner)?.name === owner) return "running";
    const view = await viewOf(this.#folder);
    if (view === NO_VIEW || !owner.startsWith(`${view}-`) || !NAME.test(owner)) return "unknown";
    if ((await orNull(lstat(join(this.#folder, owner)))) === null) return "gone";
    return (await answers(this.#folder, owner)) ? "running" : "ended";
  }
}

/** Whether a word is a name that a {@link TemporaryFolder} gives its owners. */
export function isOwner(word: string): boolean {
  return NAME.exec(word)?.[2] === undefined && NAME.test(word);
}

/** What this process has in a folder, as others see it. */
class Owner {
  readonly name: string;
  readonly #socket: string;
  readonly #server: Server | undefined;

  private constructor(folder: string, name: string, server?: Server) {
    this.name = name;
    this.#socket = join(folder, name);
    this.#server = server;
  }

  /** Never fails: whoever can have no socket is known by the age of what is theirs. */
  static async open(folder: string): Promise<Owner> {
    const view = await viewOf(folder);
    const name = `${view}-${random()}`;
    const server = view === NO_VIEW ? undefined : await listening(folder, name).catch(() => undefined);
    return server === undefined ? new Owner(folder, `${NO_VIEW}-${random()}`) : new Owner(folder, name, server);
  }

  async close(): Promise<void> {
    if (this.#server === undefined) return;
    await unlink(this.#socket).catch(() => undefined);
    this.#server.close();
  }
}

function random(): string {
  return randomBytes(8).toString("hex");
}

async function removed(path: string): Promise<void> {
  // What cannot be removed now is swept later.
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

async function isOlder(path: string, after: number): Promise<boolean> {
  const written = await lastWritten(path);
  // Also where the clock was put back.
  return written !== null && Math.abs(Date.now() - written) >= after;
}

/** When a file was written, or a folder or a file in it. */
async function lastWritten(path: string): Promise<number | null> {
  const own = await orNull(lstat(path));
  if (own?.isDirectory() !== true) return own && own.mtimeMs;
  const inside = ((await orNull(readdir(path))) ?? []).map((name) => orNull(lstat(join(path, name))));
  return Math.max(own.mtimeMs, ...(await Promise.all(inside)).map((stat) => stat?.mtimeMs ?? 0));
}

/** Of two processes that have the same view of a folder, each can connect to the other's sockets in it. */
async function viewOf(folder: string): Promise<string> {
  try {
    const [id, { dev }] = await Promise.all([kernelId(), lstat(folder, { bigint: true })]);
    return createHash("sha256").update(`${id} ${dev}`).digest("hex").slice(0, 12);
  } catch {
    return NO_VIEW;
  }
}

const KERNELS: Partial<Record<NodeJS.Platform, () => Promise<string>>> = {
  linux: () => readFile("/proc/sys/kernel/random/boot_id", "utf8"),
  darwin: async () => (await promisify(execFile)("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"])).stdout,
  // Names of pipes are the machine's, and so is its name.
  win32: async () => hostname(),
};

let kernel: Promise<string> | undefined;

/** What tells this boot of this machine from every other. Rejects where nothing does. */
async function kernelId(): Promise<string> {
  kernel ??= KERNELS[process.platform]?.() ?? Promise.reject(new Error("nothing tells one boot from another"));
  try {
    return await kernel;
  } catch (error) {
    kernel = undefined;
    throw error;
  }
}

/** Bytes of a socket's path, of 104 in macOS and 108 elsewhere. */
const MAX_PATH = 100;

/** Runs `work` with the address of a socket in a folder. Rejects where its path is too long for one. */
async function withAddress<T>(folder: string, name: string, work: (address: string) => Promise<T>): Promise<T> {
  if (process.platform === "win32") return work(`\\\\.\\pipe\\sluice-${name}`);
  const path = join(folder, name);
  if (Buffer.byteLength(path) <= MAX_PATH) return work(path);
  if (process.platform !== "linux") throw new Error("the path is too long for a socket");
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await work(`/proc/self/fd/${handle.fd}/${name}`);
  } finally {
    await handle.close();
  }
}

/** Listens until the process ends. Nobody is told anything: to be there is enough. */
function listening(folder: string, name: string): Promise<Server> {
  return withAddress(folder, name, async (address) => {
    const server = createServer((socket) => socket.destroy()).unref();
    await new Promise<void>((resolve, reject) => {
      // Not that of a cluster's first process, which outlives this one.
      server.once("error", reject).listen({ path: address, exclusive: true }, resolve);
    });
    // A lost connection is of no account.
    server.on("error", () => undefined);
    // On Windows a pipe has no file.
    if (process.platform === "win32") await writeFile(join(folder, name), "", { mode: FILE_MODE });
    return server;
  });
}

/** False only where nobody listens any more. */
async function answers(folder: string, name: string): Promise<boolean> {
  const refused = process.platform === "win32" ? "ENOENT" : "ECONNREFUSED";
  try {
    await withAddress(folder, name, async (address) => {
      const socket = connect(address);
      try {
        await new Promise((resolve, reject) => socket.on("connect", resolve).on("error", reject));
      } finally {
        socket.destroy();
      }
    });
    return true;
  } catch (error) {
    // Whatever else went wrong says nothing: a process that has too many connections, or this one too many files.
    return systemCode(error) !== refused;
  }
}
