/**
 * A user's files over any artifact store: by name, with versions.
 * @module
 */
import { toChunks, type Uploaded } from "../artifacts/bytes.js";
import { NoOpArtifactStore } from "../artifacts/no-op.js";
import { isArtifactId } from "../artifacts/reference.js";
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
import { openAnyWriter } from "../artifacts/writer.js";
import { createSluiceOver, type WasmSource } from "../core/sluice.js";
import type { FileClaim, FileLook, Sluice } from "../core/types.js";
import { SluiceError } from "../errors/error.js";
import { KeyedQueue } from "../core/keyed-work.js";
import { fileName, nearestNames, type FileOwner } from "./names.js";
import { MAX_FILE_BYTES } from "./options.js";
import {
  isExpired,
  isFile,
  isFileId,
  readMark,
  newNamespace,
  readOrder,
  makeSource,
  userFile,
  type UserFile,
  type UserFileInfo,
} from "./user-file.js";
import { FileTooLargeError } from "./workspace/errors.js";
import { nullIfExpired } from "../artifacts/tiered-store.js";
import { checkOptionNames } from "../errors/arguments.js";

/** Options of a `UserStorage`. */
export interface UserStorageOptions {
  /** Inspects new files. Without it, only what the caller says about a file is known. */
  readonly describer?: (said: FileClaim) => Promise<FileLook>;
  /**
   * Maximum size of a file in bytes. Larger ones are refused with E_FILE_TOO_LARGE.
   * @defaultValue 50 GiB
   */
  readonly maxBytes?: number;
  /** The clock by which drafts expire. Defaults to the system's. */
  readonly now?: Clock;
}

const MAX_VERSIONS = 100;

/**
 * A user's files, each stored as artifacts of that user. No name or id leads to another user's file. All names pass through
 * `fileName`. Putting an existing name keeps the earlier content as an older version, up to 100 versions. Drafts expire.
 *
 * A file is identified by its name: if several processes put a new name at once, each adds a version to the same file. Looking
 * a file up reads only that file's versions.
 *
 * Throws the store's errors, and SluiceError E_NOT_FOUND with the nearest name, E_INVALID_ARGUMENT.
 */
export class UserStorage {
  readonly #store: ArtifactStore;
  readonly #scope: ArtifactScope;
  readonly #artifacts: ScopedArtifacts;
  readonly #describer: UserStorageOptions["describer"];
  readonly #maxBytes: number;
  readonly #now: Clock;
  readonly #turns = new KeyedQueue();

  /** Throws SluiceError E_INVALID_ARGUMENT for an invalid store or owner. */
  constructor(store: ArtifactStore, owner: FileOwner, options: UserStorageOptions = {}) {
    checkOptionNames(options, "a UserStorage", ["describer", "maxBytes", "now"]);
    const { describer, maxBytes = MAX_FILE_BYTES, now = Date.now } = options;
    const { tenant_id = null, user_id, session_id = null } = owner;
    if (typeof user_id !== "string" || user_id === "") {
      throw new SluiceError("E_INVALID_ARGUMENT", "user_id must name the owner of the files.", { path: "user_id" });
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

  /** The file of that name, or null. */
  async find(name: string): Promise<UserFile | null> {
    return (await this.#findNamed(fileName(name)))?.file ?? null;
  }

  /** The file whose newest version is the artifact with this id, or null. */
  async findArtifact(id: string): Promise<UserFile | null> {
    if (isArtifactId(id) && !isFileId(id)) return null;
    const artifact = await this.#store.stat(id, this.#scope).catch(nullIfExpired);
    const file = artifact?.filename == null || !isFile(artifact) ? null : await this.find(artifact.filename);
    return file?.id === id ? file : null;
  }

  /** Stores bytes, a text or a stream as the newest version of a file. A failed put leaves nothing behind. */
  put(name: string, data: Uploaded, info: UserFileInfo = {}): Promise<UserFile> {
    const filename = fileName(name);
    // Queued per name, so that a slow upload delays no other file.
    return this.#turns.take(filename, () => this.#put(filename, data, info));
  }

  /** Opens the newest version of that name, or the given version, or a range of it. */
  async open(
    file: string | UserFile,
    options: { readonly range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array>> {
    return this.#artifacts.open(await this.#findId(file), options);
  }

  /** The artifact of a file, for hosts that show artifacts. */
  async artifact(file: string | UserFile): Promise<StoredArtifact> {
    return this.#artifacts.stat(await this.#findId(file));
  }

  /** All versions of a file, newest first. */
  async versions(name: string): Promise<readonly UserFile[]> {
    const { file, versions } = await this.#get(name);
    const each = versions.map((_, at) => userFile(file.name, versions.slice(0, at + 1)));
    return each.filter((version) => version !== undefined).toReversed();
  }

  /** Deletes a file with all versions. Returns false if there is none of that name. */
  async remove(name: string): Promise<boolean> {
    const found = await this.#findNamed(fileName(name));
    for (const { id } of found?.versions ?? []) await this.#artifacts.delete(id);
    return found !== undefined;
  }

  /** Deletes all files with all versions. */
  async clear(): Promise<void> {
    for await (const artifact of this.#artifacts.list()) {
      if (readMark(artifact) !== undefined) await this.#artifacts.delete(artifact.id);
    }
  }

  /**
   * Renames a file with all versions, oldest first. If that is interrupted, each version has one of the two names, and calling
   * it again continues. Throws E_INVALID_ARGUMENT if there is another file of the new name.
   */
  rename(name: string, to: string): Promise<UserFile> {
    const filename = fileName(to);
    const rename = async (): Promise<UserFile> => {
      const { file, versions } = await this.#get(name);
      if (filename === file.name) return file;
      const there = await this.#findNamed(filename);
      if (there !== undefined && !isBegun(versions, there.versions)) throw toTakenError(filename);
      for (const { id } of versions) await this.#store.update(id, { filename }, this.#scope);
      return (await this.#get(filename)).file;
    };
    // Always in the same order, so that two renames cannot deadlock.
    const [first = filename, second = filename] = [filename, fileName(name)].sort();
    const both = (): Promise<UserFile> => this.#turns.take(second, rename);
    return first === second ? both() : this.#turns.take(first, both);
  }

  async #findId(file: string | UserFile): Promise<string> {
    return typeof file === "string" ? (await this.#get(file)).file.id : file.id;
  }

  /** Throws SluiceError E_NOT_FOUND with the nearest name. */
  async #get(name: string): Promise<ListedFile> {
    const filename = fileName(name);
    const found = await this.#findNamed(filename);
    if (found !== undefined) return found;
    throw missing(filename, [...(await this.#all()).keys()]);
  }

  #all(): Promise<ReadonlyMap<string, ListedFile>> {
    return this.#listFiles();
  }

  async #findNamed(filename: string): Promise<ListedFile | undefined> {
    return (await this.#listFiles({ filename })).get(filename);
  }

  /** Files by name. Deletes expired drafts. */
  async #listFiles(only?: ArtifactFilter): Promise<ReadonlyMap<string, ListedFile>> {
    const now = this.#now();
    const found = new Map<string, StoredArtifact[]>();
    const over: StoredArtifact[] = [];
    for await (const artifact of this.#artifacts.list(only)) {
      const { filename } = artifact;
      if (readMark(artifact) === undefined || filename === null || fileName(filename) !== filename) continue;
      const versions = found.get(filename);
      if (isExpired(artifact, now)) over.push(artifact);
      else if (versions === undefined) found.set(filename, [artifact]);
      else versions.push(artifact);
    }
    for (const { id } of over) await this.#artifacts.delete(id);
    const files = new Map<string, ListedFile>();
    for (const [name, versions] of found) {
      // A version that was stored again is the newest.
      versions.sort((left, right) => readOrder(left) - readOrder(right));
      files.set(name, makeFile(name, versions));
    }
    return files;
  }

  async #put(filename: string, data: Uploaded, info: UserFileInfo): Promise<UserFile> {
    const known = await this.#findNamed(filename);
    const latest = known?.versions.at(-1);
    const namespace = latest?.namespace ?? newNamespace();
    const order = Math.max(this.#now(), latest === undefined ? 0 : readOrder(latest) + 1);
    const kept = await this.#putVersion({ namespace, filename, scope: this.#scope }, data, info, order);
    const before = known?.versions.filter(({ id }) => id !== kept.id) ?? [];
    const over = surplus(before);
    for (const { id } of over) await this.#artifacts.delete(id);
    const stay = before.filter((version) => !over.includes(version));
    return makeFile(filename, [...stay, await this.#artifacts.stat(kept.id)]).file;
  }

  /** Writes and inspects one version in one pass. Throws FileTooLargeError. */
  async #putVersion(place: ArtifactInfo, data: Uploaded, info: UserFileInfo, order: number): Promise<ArtifactRef> {
    const { filename } = place;
    using looking = await this.#describer?.({ filename, mime_type: info.mime_type });
    await using writer = await openAnyWriter(this.#store, place);
    let size = 0;
    for await (const chunk of toChunks(data)) {
      size += chunk.length;
      if (size > this.#maxBytes) throw new FileTooLargeError(size, this.#maxBytes);
      looking?.push(chunk);
      await writer.write(chunk);
    }
    const seen = await looking?.finish();
    const mime_type = info.mime_type ?? seen?.mime_type ?? null;
    return await writer.close({ mime_type, source: makeSource(info, seen?.description ?? "", order) });
  }
}

function missing(filename: string, names: readonly string[]): SluiceError {
  const [meant] = nearestNames(filename, names);
  const remedy = meant === undefined ? "list the files to see their names." : `did you mean ${quoteName(meant)}?`;
  return new SluiceError("E_NOT_FOUND", `There is no file ${quoteName(filename)}: ${remedy}`);
}

/** Whether the new name belongs to the same file: an earlier rename was interrupted. */
function isBegun(versions: readonly StoredArtifact[], there: readonly StoredArtifact[]): boolean {
  const namespaces = new Set(versions.map(({ namespace }) => namespace));
  return there.every(({ namespace }) => namespaces.has(namespace));
}

/** The versions to delete before another is added: those from tools before uploads, oldest first. */
function surplus(versions: readonly StoredArtifact[]): readonly StoredArtifact[] {
  const inOrder = [...versions.filter((version) => !isUploaded(version)), ...versions.filter(isUploaded)];
  return inOrder.slice(0, Math.max(0, versions.length + 1 - MAX_VERSIONS));
}

function isUploaded(version: StoredArtifact): boolean {
  return readMark(version)?.origin === "uploaded";
}

/** A file from versions that were just read. */
function makeFile(name: string, versions: readonly StoredArtifact[]): ListedFile {
  const file = userFile(name, versions);
  if (file !== undefined) return { file, versions };
  throw new SluiceError("E_STORE_READ", "The store returned a file that differs from the stored one: try again.");
}

function toTakenError(name: string): SluiceError {
  return new SluiceError(
    "E_INVALID_ARGUMENT",
    `There is already a file ${quoteName(name)}: delete it, or use another name.`,
  );
}

function quoteName(name: string): string {
  return JSON.stringify(name);
}

interface ListedFile {
  readonly file: UserFile;
  /** Oldest first. */
  readonly versions: readonly StoredArtifact[];
}

/** Creates a describer that uses the core, which is loaded for the first file. */
export function coreDescriber(wasm: WasmSource | undefined): (said?: FileClaim) => Promise<FileLook> {
  let core: Promise<Sluice> | undefined;
  return async (said) => {
    core ??= createSluiceOver({ store: new NoOpArtifactStore(), onFailure: "throw" }, {}, wasm);
    return (await core).look(said);
  };
}
