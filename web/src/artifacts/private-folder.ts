/**
 * Folders of this process alone, which go when it does, and copies of artifacts in them.
 * @module
 */
import { createWriteStream } from "node:fs";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { SluiceError } from "../errors/error.js";
import type { ArtifactStore, StoredArtifact } from "./store.js";

/** What a folder is for: a part of its name. */
type FolderUse = "session" | "copies";

/** A folder that only this user may look into. */
export class PrivateFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Makes one, and removes what processes left behind that were killed. */
  static async open(use: FolderUse): Promise<PrivateFolder> {
    await removeLeftovers();
    return new PrivateFolder(await mkdtemp(join(tmpdir(), `sluice-${use}-${process.pid}-`)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeFolder(this.path);
  }
}

async function removeLeftovers(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const pid = /^sluice-(?:session|copies)-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) await removeFolder(join(tmpdir(), name));
  }
}

/** Folders of other users cannot be removed, and are theirs to remove. */
async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Characters of a file's name that are kept. */
const MAX_NAME = 80;

/** Copies that are kept at a time: of more the oldest goes. */
const MAX_COPIES = 1000;

/** Copies of one process. */
export class Copies implements AsyncDisposable {
  readonly #store: ArtifactStore;
  readonly #over = new AbortController();
  /** Folders of copies, oldest first. */
  readonly #written = new Set<string>();
  #folder: Promise<PrivateFolder> | undefined;

  constructor(store: ArtifactStore) {
    this.#store = store;
  }

  /** Writes a copy and gives its path. Throws E_NOT_FOUND, E_STORE_…, the signal's reason; nothing once it is closed. */
  async write({ id, scope, filename, size_bytes }: StoredArtifact, given?: AbortSignal): Promise<string> {
    const signal = given === undefined ? this.#over.signal : AbortSignal.any([given, this.#over.signal]);
    signal.throwIfAborted();
    const { path: parent } = await (this.#folder ??= PrivateFolder.open("copies"));
    signal.throwIfAborted();
    const bytes = await this.#store.openReader(id, { scope, range: { start: 0, end: size_bytes } });
    if (bytes === null) throw new SluiceError("E_NOT_FOUND", `There is no artifact ${id}: call the tool that made it.`);
    signal.throwIfAborted();
    // A folder for each: two artifacts may have one name, and servers look at names.
    const folder = await mkdtemp(join(parent, "file-"));
    const path = join(folder, safeName(filename ?? id));
    await pipeline(
      Readable.fromWeb(bytes as ReadableStream<Uint8Array>),
      (chunks: AsyncIterable<Uint8Array>) => atMost(chunks, size_bytes),
      createWriteStream(path, { flags: "wx", mode: 0o600 }),
      { signal },
    );
    await chmod(path, 0o400);
    await this.#note(folder);
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new SluiceError("E_MISUSE", "Copies can no longer be written: the proxy or source was closed."));
    const folder = await this.#folder?.catch(() => undefined);
    await folder?.[Symbol.asyncDispose]();
  }

  async #note(folder: string): Promise<void> {
    this.#written.add(folder);
    const [oldest] = this.#written;
    if (this.#written.size <= MAX_COPIES || oldest === undefined) return;
    this.#written.delete(oldest);
    await rm(oldest, { recursive: true, force: true });
  }
}

/** A store that gives more than it said is not believed. */
async function* atMost(chunks: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let left = size;
  for await (const chunk of chunks) {
    left -= chunk.byteLength;
    if (left < 0) throw new SluiceError("E_STORE_READ", "The store returned more bytes than the artifact has.");
    yield chunk;
  }
}

/** Letters, digits and a few signs: a name comes from a server. */
function safeName(name: string): string {
  const safe = name
    .replace(/[^\w.-]+/g, "_")
    .replace(/^[.-]+/, "")
    .slice(-MAX_NAME);
  return safe === "" ? "artifact" : safe;
}
