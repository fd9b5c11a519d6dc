/**
 * Unfinished writes and deletes in a folder. Their names say which process owns them, so that others see what was left behind.
 *
 * ```
 * tmp/<view>-<process>            a socket on which its owner listens while it has anything here
 * tmp/<view>-<process>-<random>   an unfinished write or delete
 * ```
 *
 * The kernel closes the sockets of a process when it ends, for whatever reason, so connecting fails then, also from other containers.
 * A process that is stopped or suspended keeps its socket, whatever the clocks say. A kernel knows only its own sockets, so this
 * works between processes with the same view of the folder: the same boot of the same machine, and the same mount. For all others,
 * and where sockets cannot be made, the age decides.
 * @module
 */
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readdir, readFile, rm, rmdir, unlink, writeFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemCode } from "../../errors/storage.js";
import { FILE_MODE, isAbsent, namesIn, orNull } from "./plain-file.js";

/** Milliseconds after which a temporary counts as left behind if its process cannot be asked. */
export const SWEEP_AFTER: number = 24 * 60 * 60 * 1000;

/** The owner, and the random part of its temporaries; its socket has none. */
const NAME = /^([0-9a-f]{12}-[0-9a-f]{16})(-[0-9a-f]{16})?$/;
/** The view of processes without a socket. */
const NO_VIEW = "0".repeat(12);

/** The state of the process in a name. `gone`: it ran under this kernel, and its socket is closed. */
type OwnerState = "running" | "ended" | "gone" | "unknown";

/** A unique path until it is released. */
export interface TemporaryPath {
  readonly path: string;
  /** The owner, by which {@link TemporaryFolder.stateOf} tells others whether this process still runs. */
  readonly owner: string;
  /** Call it when nothing is at the path any more. Idempotent. */
  readonly release: () => Promise<void>;
}

interface Held {
  readonly owner: Promise<Owner>;
  uses: number;
}

/** A folder of temporaries that any number of processes share. */
export class TemporaryFolder {
  readonly #folder: string;
  #held: Held | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Gives a path in the folder, which must exist. Makes nothing at the path. */
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

  /** Runs work with a path in the folder, and afterwards removes what is there. */
  async aside<T>(work: (path: string, owner: string) => Promise<T>): Promise<T> {
    const { path, owner, release } = await this.path();
    try {
      return await work(path, owner);
    } finally {
      await removePath(path);
      await release();
    }
  }

  /**
   * Removes what ended processes left, and what is older than `after` milliseconds of processes that cannot be asked. What `discard`
   * does not remove stays for the next time.
   */
  async sweep(after: number, discard: (path: string) => Promise<void> = removePath): Promise<void> {
    const found = new Map<string, string[]>();
    // All names are read before any socket is asked: a process listens before it makes anything, so each owner has listened by now.
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
      // The socket last: without it, others could not tell that the rest was left behind.
      const socket = join(this.#folder, owner);
      if (state === "ended" || (await isOlder(socket, after))) await removePath(socket);
    }
  }

  /** Asks the kernel for the process in a name. */
  async stateOf(owner: string): Promise<OwnerState> {
    if ((await this.#held?.owner)?.name === owner) return "running";
    const view = await readView(this.#folder);
    if (view === NO_VIEW || !owner.startsWith(`${view}-`) || !NAME.test(owner)) return "unknown";
    if ((await orNull(lstat(join(this.#folder, owner)))) === null) return "gone";
    return (await answers(this.#folder, owner)) ? "running" : "ended";
  }
}

/** Whether a word has the form of an owner. */
export function isOwner(word: string): boolean {
  return NAME.exec(word)?.[2] === undefined && NAME.test(word);
}

/** This process as an owner in a folder. */
class Owner {
  readonly name: string;
  readonly #socket: string;
  readonly #server: Server | undefined;

  private constructor(folder: string, name: string, server?: Server) {
    this.name = name;
    this.#socket = join(folder, name);
    this.#server = server;
  }

  /** Never fails. Without a socket, the age of the temporaries decides. */
  static async open(folder: string): Promise<Owner> {
    const view = await readView(folder);
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

/** Removes a file, or a folder with all that is in it. If that fails, it is swept later. */
async function removePath(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (isAbsent(error)) return;
    // Most are folders of two files, of which `rm` looks at each several times.
    const names = await readdir(path).catch(() => []);
    await Promise.all(names.map((name) => unlink(join(path, name)).catch(() => undefined)));
    await rmdir(path).catch(() => rm(path, { recursive: true, force: true }).catch(() => undefined));
  }
}

async function isOlder(path: string, after: number): Promise<boolean> {
  const written = await lastWritten(path);
  // Also if the clock was put back.
  return written !== null && Math.abs(Date.now() - written) >= after;
}

/** When a file was last written, or a folder or a file in it. */
async function lastWritten(path: string): Promise<number | null> {
  const own = await orNull(lstat(path));
  if (own?.isDirectory() !== true) return own && own.mtimeMs;
  const inside = ((await orNull(readdir(path))) ?? []).map((name) => orNull(lstat(join(path, name))));
  return Math.max(own.mtimeMs, ...(await Promise.all(inside)).map((stat) => stat?.mtimeMs ?? 0));
}

/** The view of a folder. Processes with the same view can connect to each other's sockets in it. */
async function readView(folder: string): Promise<string> {
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
  // Pipes are named per machine.
  win32: async () => hostname(),
};

let kernel: Promise<string> | undefined;

/** Identifies this boot of this machine. Rejects if nothing does. */
async function kernelId(): Promise<string> {
  kernel ??= KERNELS[process.platform]?.() ?? Promise.reject(new Error("nothing tells one boot from another"));
  try {
    return await kernel;
  } catch (error) {
    kernel = undefined;
    throw error;
  }
}

/** Most bytes of a socket's path. The limit is 104 in macOS and 108 elsewhere. */
const MAX_PATH = 100;

/** Runs `work` with the address of a socket in a folder. Rejects if the path is too long. */
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

/** Listens until the process ends. Sends nothing: that it accepts connections is enough. */
function listening(folder: string, name: string): Promise<Server> {
  return withAddress(folder, name, async (address) => {
    const server = createServer((socket) => socket.destroy()).unref();
    await new Promise<void>((resolve, reject) => {
      // Not shared with the primary process of a cluster, which outlives this one.
      server.once("error", reject).listen({ path: address, exclusive: true }, resolve);
    });
    // Lost connections do not matter.
    server.on("error", () => undefined);
    // Pipes of Windows have no file.
    if (process.platform === "win32") await writeFile(join(folder, name), "", { mode: FILE_MODE });
    return server;
  });
}

/** False only if the socket has no listener any more. */
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
    // Other errors say nothing: the process may have too many connections, or this one too many open files.
    return systemCode(error) !== refused;
  }
}
