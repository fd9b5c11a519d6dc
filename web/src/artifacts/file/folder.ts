/**
 * A store folder: created by the first write, checked before it is used. Its layout:
 *
 * ```
 * sluice-store.json          the marker: this folder is a store, of this version
 * blobs/ab/<sha256>          a content, a hard link to the same file that its refs hold
 * refs/<scope>/<id>/blob     the content of one ref
 * refs/<scope>/<id>/ref.json its record
 * names/<scope>/<name>/<id>@… which refs of a scope have a name, by the name's hash, see `names.ts`
 * tmp/<owner>-<random>       unfinished writes and deletes; swept when their owner is gone, see `TemporaryFolder`
 * collector.lock             held by the process that evicts
 * ```
 *
 * A ref is a folder that one rename publishes and one rename removes, so it is there whole or not at all, even after a crash. The
 * file system counts the links to a blob: while a ref holds one, no process can delete the bytes.
 * @module
 */
import { createHash } from "node:crypto";
import { link, lstat, mkdir, open, rename, rm, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { STORE_MARKER } from "../../errors/layout.js";
import { systemCode } from "../../errors/storage.js";
import { MarkedFolder } from "./marked-folder.js";
import { FOLDER_MODE, isAbsent, orNull } from "./plain-file.js";
import { TemporaryFolder } from "./temporaries.js";

/** The content in a ref's folder. */
export const BLOB = "blob";
/** The record in it. */
export const REF = "ref.json";

/** The name of a scope's folder. */
export const SCOPE_NAME: RegExp = /^[0-9a-f]{40}$/;
/** The name of a blob. */
export const BLOB_NAME: RegExp = /^[0-9a-f]{64}$/;

/** The paths below one folder. Does no I/O. */
export class Layout {
  readonly root: string;
  readonly marker: string;
  readonly blobs: string;
  readonly refs: string;
  readonly names: string;
  readonly temporaries: string;
  readonly lock: string;

  constructor(root: string) {
    this.root = root;
    this.marker = join(root, STORE_MARKER);
    this.blobs = join(root, "blobs");
    this.refs = join(root, "refs");
    this.names = join(root, "names");
    this.temporaries = join(root, "tmp");
    this.lock = join(root, "collector.lock");
  }

  /** The folders that a store is made of. */
  get rooms(): readonly string[] {
    return [this.blobs, this.refs, this.names, this.temporaries];
  }

  /** The folder of a blob. There are 256, so that each stays short. */
  blobFolder(sha256: string): string {
    return join(this.blobs, sha256.slice(0, 2));
  }

  blob(sha256: string): string {
    return join(this.blobFolder(sha256), sha256);
  }

  /** The folder of a scope. Its key (`scopeKey`) is hashed, since it may have any characters. */
  scopeFolder(key: string): string {
    return join(this.refs, scopeName(key));
  }

  /** The folder of a ref. `id` must have passed `isArtifactId`. */
  refFolder(key: string, id: string): string {
    return join(this.scopeFolder(key), toFileName(id));
  }
}

/** The folder name of a scope's key. */
export function scopeName(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 40);
}

/** The file name of an id. Upper case is escaped for file systems that ignore case: `Ab_…` becomes `~ab_…`. */
export function toFileName(id: string): string {
  return id.replace(/[A-Z]/g, (letter) => `~${letter.toLowerCase()}`);
}

/** The inverse of {@link toFileName}. */
export function toId(name: string): string {
  return name.replace(/~([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Refused because `purge` would empty it. */
const OCCUPIED =
  "The folder is not a Sluice store and already has entries named blobs, refs, names or tmp: use a new or empty folder.";

/** A folder inside `tmp` that becomes a ref. */
export interface Temporary {
  readonly folder: string;
  readonly blob: string;
  readonly ref: string;
  /** See `TemporaryPath`. */
  readonly release: () => Promise<void>;
}

/** Layout and safety of one store folder. */
export class Folder extends MarkedFolder {
  readonly at: Layout;
  /** Whether to wait for the disk, see `FileStoreOptions.durable`. */
  readonly durable: boolean;
  /** Unfinished writes and deletes. Use it once the folder is ready. */
  readonly temporaries: TemporaryFolder;

  constructor(root: string, durable: boolean) {
    const at = new Layout(root);
    super({ marker: at.marker, kind: "artifact store", rooms: at.rooms, occupied: OCCUPIED });
    this.at = at;
    this.durable = durable;
    this.temporaries = new TemporaryFolder(at.temporaries);
  }

  /** Makes a folder inside. False if it exists. */
  override async make(path: string): Promise<boolean> {
    const isNew = await super.make(path);
    if (isNew) await this.sync(dirname(path));
    return isNew;
  }

  async temporary(): Promise<Temporary> {
    await this.ready();
    try {
      return await this.#temporary();
    } catch (error) {
      if (!isAbsent(error)) throw error;
      this.forget(); // another process purged the store
      await this.ready();
      return this.#temporary();
    }
  }

  async #temporary(): Promise<Temporary> {
    const { path: folder, release: freed } = await this.temporaries.path();
    try {
      await mkdir(folder, { mode: FOLDER_MODE });
    } catch (error) {
      await freed();
      throw error;
    }
    return { folder, blob: join(folder, BLOB), ref: join(folder, REF), release: freed };
  }

  /** Removes a temporary. If that fails, it is swept later. */
  async discard(temporary: Temporary): Promise<void> {
    await this.remove(temporary.folder);
    await temporary.release();
  }

  /** Removes a file or folder. Ignores failures. */
  async remove(path: string): Promise<void> {
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }

  /** Waits until files and folder entries are on the disk, if the store is durable. */
  async sync(...paths: readonly string[]): Promise<void> {
    if (!this.durable) return;
    for (const path of paths) {
      const handle = await open(path, "r").catch(unlessFolderOfWindows);
      if (!handle) continue;
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    }
  }

  protected override async prepare(): Promise<void> {
    await super.prepare();
    await this.sync(this.at.root);
  }
}

/** Windows needs no sync for folders and cannot open them. */
function unlessFolderOfWindows(error: unknown): null {
  if (process.platform === "win32" && systemCode(error) === "EISDIR") return null;
  throw error;
}

const SHARING_ATTEMPTS = 8;

type Linked = "linked" | "taken" | "absent" | "impossible";

/** Links to the bytes of a content that is stored already. False if there is none. */
export async function adopt(folder: Folder, temporary: Temporary, sha256: string, size: number): Promise<boolean> {
  if (!(await folder.check(folder.at.blobFolder(sha256)))) return false;
  if ((await linkFile(folder.at.blob(sha256), temporary.blob)) !== "linked") return false;
  // A crash of the machine can leave a shorter file under the right name.
  if (await isSound(temporary.blob, size)) return true;
  await unlink(temporary.blob);
  return false;
}

/**
 * Shares a written blob with all refs, or replaces it by the blob that is shared already.
 *
 * Without hard links, or at the limit of links for one file, the ref keeps a copy of its own, which only takes more space.
 */
export async function share(folder: Folder, temporary: Temporary, sha256: string, size: number): Promise<void> {
  const shared = folder.at.blob(sha256);
  await folder.make(folder.at.blobFolder(sha256));
  for (let attempt = 0; attempt < SHARING_ATTEMPTS; attempt++) {
    const offered = await linkFile(temporary.blob, shared);
    if (offered !== "taken") return;
    const twin = `${temporary.blob}.twin`;
    const adopted = await linkFile(shared, twin);
    if (adopted === "absent") continue; // its last ref was deleted meanwhile
    if (adopted === "linked" && (await isSound(twin, size))) return rename(twin, temporary.blob);
    await orNull(unlink(twin));
    return replace(temporary.blob, twin, shared);
  }
}

/** Deletes a blob that no ref and no writer holds. Gives the bytes that this freed, or null. */
export async function release(folder: Folder, sha256: string): Promise<number | null> {
  const stat = await orNull(lstat(folder.at.blob(sha256)));
  if (stat?.isFile() !== true || stat.nlink > 1) return null;
  // A writer may link to it between the two calls. Its ref keeps the file then, which is no longer shared.
  return orNull(unlink(folder.at.blob(sha256)).then(() => stat.size));
}

/** Stops sharing a damaged blob, so that the next put writes it again. */
export async function withdraw(folder: Folder, sha256: string): Promise<void> {
  await orNull(unlink(folder.at.blob(sha256)));
}

async function isSound(path: string, size: number): Promise<boolean> {
  const stat = await lstat(path);
  return stat.isFile() && stat.size === size;
}

async function replace(sound: string, twin: string, shared: string): Promise<void> {
  if ((await linkFile(sound, twin)) === "linked") await rename(twin, shared);
}

async function linkFile(from: string, to: string): Promise<Linked> {
  try {
    await link(from, to);
    return "linked";
  } catch (error) {
    if (isAbsent(error)) return "absent";
    switch (systemCode(error)) {
      case "EEXIST":
        return "taken";
      case "EPERM":
      case "EMLINK":
      case "ENOTSUP":
      case "EOPNOTSUPP":
      case "ENOSYS":
      case "EXDEV":
        return "impossible";
      default:
        throw error;
    }
  }
}
