/**
 * A user's files over any artifact store: names in place of ids, and every version.
 * @module
 */
import { chunksOf, type Uploaded } from "../artifacts/bytes.js";
import { NoOpArtifactStore } from "../artifacts/no-op.js";
import { ScopedArtifacts } from "../artifacts/scoped.js";
import type {
  ArtifactFilter,
  ArtifactInfo,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ByteRange,
  Clock,
  StoredArtifact,
} from "../artifacts/store.js";
import { openedWriter } from "../artifacts/writer.js";
import { createSluiceOver, type WasmSource, type FileClaim, type FileLook, type Sluice } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import { KeyedQueue } from "../tools/keyed-work.js";
import { fileName, nearestNames } from "./names.js";
import { MAX_FILE_BYTES } from "./options.js";
import {
  isExpired,
  isFileId,
  markOf,
  newNamespace,
  sourceOf,
  userFile,
  type UserFile,
  type UserFileInfo,
} from "./user-file.js";
import { FileTooLargeError } from "./workspace/errors.js";

/** Whose files: a person, of a tenant where there are tenants, and of one session where files do not outlive it. */
export type FileOwner = Pick<ArtifactScope, "tenant_id" | "session_id"> & {
  /** Never empty. */
  readonly user_id: string;
};

/** What there may be beside a store and an owner. */
export interface UserStorageOptions {
  /** Looks at what is put; left out, nothing is known of bytes but what is said of them. */
  readonly describer?: (said: FileClaim) => Promise<FileLook>;
  /**
   * Bytes that a file may have; more is E_FILE_TOO_LARGE.
   * @defaultValue 50 GiB
   */
  readonly maxBytes?: number;
  /** For drafts, which expire; that of the system when left out. */
  readonly now?: Clock;
}

const MAX_VERSIONS = 100;

/**
 * What a user calls files, kept as artifacts of that user alone: no name, and no id, leads to another's. Names are made fit by
 * `fileName` wherever they are given. Putting a name that there is keeps what was there as an older version, of which there are
 * at most 100. A draft is gone when its time is over.
 *
 * A file is what has its name: of any number of processes that put a new name at once each adds a version to one file. Looking one
 * up reads that file's versions, whatever else the user has.
 *
 * Errors are those of the store, and SluiceError E_NOT_FOUND with the nearest name, E_INVALID_ARGUMENT.
 */
export class UserStorage {
  readonly #store: ArtifactStore;
  readonly #scope: ArtifactScope;
  readonly #artifacts: ScopedArtifacts;
  readonly #describer: UserStorageOptions["describer"];
  readonly #maxBytes: number;
  readonly #now: Clock;
  readonly #turns = new KeyedQueue();

  /** Throws SluiceError E_INVALID_ARGUMENT for a store or an owner that is none. */
  constructor(store: ArtifactStore, owner: FileOwner, options: UserStorageOptions = {}) {
    const { describer, maxBytes = MAX_FILE_BYTES, now = Date.now } = options;
    const { tenant_id = null, user_id, session_id = null } = owner;
    if (typeof user_id !== "string" || user_id === "") {
      throw new SluiceError("E_INVALID_ARGUMENT", "user_id must say whose the files are.", { path: "user_id" });
    }
    this.#store = store;
    this.#scope = { tenant_id, user_id, session_id };
    this.#artifacts = new ScopedArtifacts(store, this.#scope);
    this.#describer = describer;
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  /** All files, by name. */
  async list(): Promise<readonly UserFile[]> {
    const files = [...(await this.#all()).values()].map(({ file }) => file);
    return files.sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  /** A file, or null where there is none of that name. */
  async find(name: string): Promise<UserFile | null> {
    return (await this.#named(fileName(name)))?.file ?? null;
  }

  /** The file whose newest version an artifact is, by its id; null where there is none. */
  async findArtifact(id: string): Promise<UserFile | null> {
    const artifact = isFileId(id) ? await this.#store.stat(id, this.#scope).catch(nullIfExpired) : null;
    const file = artifact?.filename == null ? null : await this.find(artifact.filename);
    return file?.id === id ? file : null;
  }

  /** Keeps bytes, a text or a stream as the newest version of a file. Nothing is left of one that fails. */
  put(name: string, data: Uploaded, info: UserFileInfo = {}): Promise<UserFile> {
    const filename = fileName(name);
    // For its name alone: somebody's slow upload keeps no tool's result waiting.
    return this.#turns.take(filename, () => this.#put(filename, data, info));
  }

  /** The bytes of the newest version of that name, or of just the version that `versions` or `list` gave; or a range of them. */
  async open(
    file: string | UserFile,
    options: { readonly range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array>> {
    return this.#artifacts.open(await this.#idOf(file), options);
  }

  /** The artifact that keeps it, for hosts that show artifacts. */
  async artifact(file: string | UserFile): Promise<StoredArtifact> {
    return this.#artifacts.stat(await this.#idOf(file));
  }

  /** Every version of a file, the newest first. */
  async versions(name: string): Promise<readonly UserFile[]> {
    const { file, versions } = await this.#get(name);
    const each = versions.map((_, at) => userFile(file.name, versions.slice(0, at + 1)));
    return each.filter((version) => version !== undefined).toReversed();
  }

  /** Deletes a file with all of its versions; false where there is none of that name. */
  async remove(name: string): Promise<boolean> {
    const found = await this.#named(fileName(name));
    for (const { id } of found?.versions ?? []) await this.#artifacts.delete(id);
    return found !== undefined;
  }

  /** Deletes every file, with all versions. */
  async clear(): Promise<void> {
    for await (const artifact of this.#artifacts.list()) {
      if (markOf(artifact) !== undefined) await this.#artifacts.delete(artifact.id);
    }
  }

  /**
   * Calls a file otherwise; its versions go with it, the oldest first: where that ends half way, each version is under one of the two
   * names, and doing it again goes on. Throws E_INVALID_ARGUMENT where there is another file of that name.
   */
  rename(name: string, to: string): Promise<UserFile> {
    const filename = fileName(to);
    const rename = async (): Promise<UserFile> => {
      const { file, versions } = await this.#get(name);
      if (filename === file.name) return file;
      const there = await this.#named(filename);
      if (there !== undefined && !isBegun(versions, there.versions)) throw taken(filename);
      for (const { id } of versions) await this.#store.update(id, { filename }, this.#scope);
      return (await this.#get(filename)).file;
    };
    // In one order, whoever renames what: else two would wait for each other.
    const [first = filename, second = filename] = [filename, fileName(name)].sort();
    const both = (): Promise<UserFile> => this.#turns.take(second, rename);
    return first === second ? both() : this.#turns.take(first, both);
  }

  async #idOf(file: string | UserFile): Promise<string> {
    return typeof file === "string" ? (await this.#get(file)).file.id : file.id;
  }

  /** Throws SluiceError E_NOT_FOUND with the nearest name. */
  async #get(name: string): Promise<ListedFile> {
    const filename = fileName(name);
    const found = await this.#named(filename);
    if (found !== undefined) return found;
    throw missing(filename, [...(await this.#all()).keys()]);
  }

  #all(): Promise<ReadonlyMap<string, ListedFile>> {
    return this.#listed();
  }

  async #named(filename: string): Promise<ListedFile | undefined> {
    return (await this.#listed({ filename })).get(filename);
  }

  /** By name. Drafts whose time is over are deleted. */
  async #listed(only?: ArtifactFilter): Promise<ReadonlyMap<string, ListedFile>> {
    const now = this.#now();
    const found = new Map<string, StoredArtifact[]>();
    const over: StoredArtifact[] = [];
    for await (const artifact of this.#artifacts.list(only)) {
      const { filename } = artifact;
      if (markOf(artifact) === undefined || filename === null || fileName(filename) !== filename) continue;
      const versions = found.get(filename);
      if (isExpired(artifact, now)) over.push(artifact);
      else if (versions === undefined) found.set(filename, [artifact]);
      else versions.push(artifact);
    }
    for (const { id } of over) await this.#artifacts.delete(id);
    const files = new Map<string, ListedFile>();
    for (const [name, versions] of found) {
      // What was stored again is the newest.
      versions.sort((left, right) => left.stored_at - right.stored_at);
      files.set(name, madeFile(name, versions));
    }
    return files;
  }

  async #put(filename: string, data: Uploaded, info: UserFileInfo): Promise<UserFile> {
    const known = await this.#named(filename);
    const namespace = known?.versions.at(-1)?.namespace ?? newNamespace();
    const kept = await this.#putVersion({ namespace, filename, scope: this.#scope }, data, info);
    const before = known?.versions.filter(({ id }) => id !== kept.id) ?? [];
    const over = surplus(before);
    for (const { id } of over) await this.#artifacts.delete(id);
    const stay = before.filter((version) => !over.includes(version));
    return madeFile(filename, [...stay, await this.#artifacts.stat(kept.id)]).file;
  }

  /** One version, written and looked at in one pass. Nothing is left of one that fails. Throws FileTooLargeError. */
  async #putVersion(place: ArtifactInfo, data: Uploaded, info: UserFileInfo): Promise<ArtifactRef> {
    const { filename } = place;
    using looking = await this.#describer?.({ filename, mime_type: info.mime_type });
    await using writer = await openedWriter(this.#store, place);
    let size = 0;
    for await (const chunk of chunksOf(data)) {
      size += chunk.length;
      if (size > this.#maxBytes) throw new FileTooLargeError(size, this.#maxBytes);
      looking?.push(chunk);
      await writer.write(chunk);
    }
    const seen = looking?.finish();
    const mime_type = info.mime_type ?? seen?.mime_type ?? null;
    return await writer.close({ mime_type, source: sourceOf(info, seen?.description ?? "") });
  }
}

function missing(filename: string, names: readonly string[]): SluiceError {
  const [meant] = nearestNames(filename, names);
  const remedy = meant === undefined ? "see what there is by listing the files." : `did you mean ${quoted(meant)}?`;
  return new SluiceError("E_NOT_FOUND", `There is no file ${quoted(filename)}: ${remedy}`);
}

/** Whether what has the new name is of the very file that is renamed: somebody began, and did not end it. */
function isBegun(versions: readonly StoredArtifact[], there: readonly StoredArtifact[]): boolean {
  const namespaces = new Set(versions.map(({ namespace }) => namespace));
  return there.every(({ namespace }) => namespaces.has(namespace));
}

function nullIfExpired(error: unknown): null {
  if (error instanceof SluiceError && error.code === "E_EXPIRED") return null;
  throw error;
}

/** What goes where one more comes: what tools made before what the user uploaded, and the oldest first. */
function surplus(versions: readonly StoredArtifact[]): readonly StoredArtifact[] {
  const inOrder = [...versions.filter((version) => !isUploaded(version)), ...versions.filter(isUploaded)];
  return inOrder.slice(0, Math.max(0, versions.length + 1 - MAX_VERSIONS));
}

function isUploaded(version: StoredArtifact): boolean {
  return markOf(version)?.origin === "uploaded";
}

/** Of versions that are just there. */
function madeFile(name: string, versions: readonly StoredArtifact[]): ListedFile {
  const file = userFile(name, versions);
  if (file !== undefined) return { file, versions };
  throw new SluiceError("E_STORE_READ", "The store gave back a file otherwise than it took it: try again.");
}

function taken(name: string): SluiceError {
  return new SluiceError(
    "E_INVALID_ARGUMENT",
    `There is a file ${quoted(name)} already: remove it, or take another name.`,
  );
}

function quoted(name: string): string {
  return JSON.stringify(name);
}

interface ListedFile {
  readonly file: UserFile;
  /** Oldest first. */
  readonly versions: readonly StoredArtifact[];
}

/** Has a core look at each file, which is loaded for the first one. */
export function coreDescriber(wasm: WasmSource | undefined): (said?: FileClaim) => Promise<FileLook> {
  let core: Promise<Sluice> | undefined;
  return async (said) => {
    core ??= createSluiceOver({ store: new NoOpArtifactStore(), onFailure: "throw" }, {}, wasm);
    return (await core).look(said);
  };
}
