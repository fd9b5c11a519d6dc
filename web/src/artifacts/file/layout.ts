/**
 * Where things are inside a store folder.
 *
 * ```
 * sluice-store.json          the marker: this folder is a store, of this version
 * blobs/ab/<sha256>          a content, a hard link to the same file that its refs hold
 * refs/<scope>/<id>/blob     the content of one ref
 * refs/<scope>/<id>/ref.json what is said of it
 * tmp/<owner>-<random>       on its way in or out; swept when its owner is gone
 * collector.lock             held by the process that is making room
 * ```
 *
 * A ref is a folder, published and taken away by one rename, so it is there whole or not at all, whatever
 * dies when. The file system counts the links to a blob: while a ref holds one, no delete in any process
 * can take the bytes away.
 * @module
 */
import { createHash } from "node:crypto";
import { join } from "node:path";

/** Folders are for their owner alone. */
export const FOLDER_MODE = 0o700;
/** So are files. */
export const FILE_MODE = 0o600;
/** The content in a ref's folder. */
export const BLOB = "blob";
/** What is said of it. */
export const REF = "ref.json";

/** The name of a scope's folder. */
export const SCOPE_NAME: RegExp = /^[0-9a-f]{40}$/;
/** The name of a blob. */
export const BLOB_NAME: RegExp = /^[0-9a-f]{64}$/;

/** Paths below one folder. Gives names, touches nothing. */
export class Layout {
  readonly root: string;
  readonly marker: string;
  readonly blobs: string;
  readonly refs: string;
  readonly temporaries: string;
  readonly lock: string;

  constructor(root: string) {
    this.root = root;
    this.marker = join(root, "sluice-store.json");
    this.blobs = join(root, "blobs");
    this.refs = join(root, "refs");
    this.temporaries = join(root, "tmp");
    this.lock = join(root, "collector.lock");
  }

  /** The folders that a store is made of. */
  get rooms(): readonly string[] {
    return [this.blobs, this.refs, this.temporaries];
  }

  /** The folder of a blob: 256 of them, so that none grows long. */
  blobFolder(sha256: string): string {
    return join(this.blobs, sha256.slice(0, 2));
  }

  blob(sha256: string): string {
    return join(this.blobFolder(sha256), sha256);
  }

  /** The folder of a scope, by its key (`scopeKey`), which may hold anything and so is hashed. */
  scopeFolder(key: string): string {
    return join(this.refs, scopeName(key));
  }

  /** The folder of a ref. `id` must have passed `isArtifactId`. */
  refFolder(key: string, id: string): string {
    return join(this.scopeFolder(key), nameOf(id));
  }
}

/** The folder name of a scope's key. */
export function scopeName(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 40);
}

/** Ids that differ in case only must not meet on a file system that ignores it: `Ab_…` is `~ab_…`. */
export function nameOf(id: string): string {
  return id.replace(/[A-Z]/g, (letter) => `~${letter.toLowerCase()}`);
}

/** The id that {@link nameOf} made a name of. */
export function idOf(name: string): string {
  return name.replace(/~([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
