/**
 * A user's files over any artifact store: names in place of ids, and every version (user storage §2).
 * @module
 */
import { chunksOf, type Uploaded } from "../artifacts/bytes.js";
import { NoOpArtifactStore } from "../artifacts/no-op.js";
import { ScopedArtifacts } from "../artifacts/scoped.js";
import type {
  ArtifactInfo,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ByteRange,
  Clock,
  StoredArtifact,
} from "../artifacts/store.js";
import { openedWriter } from "../artifacts/writer.js";
import { createSluiceOver, type WasmSource } from "../core/create.js";
import type { FileLook, Sluice } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import { Turns } from "../tools/auth/turns.js";
import { fileName, nearestNames } from "./names.js";
import { MAX_FILE_BYTES } from "./options.js";
import { isExpired, markOf, newNamespace, sourceOf, userFile, type UserFile, type UserFileInfo } from "./user-file.js";
import { FileTooLargeError } from "./workspace/errors.js";

/** Whose files: a person, of a tenant where there are tenants, and of one session where files do not outlive it. */
export type FileOwner = Pick<ArtifactScope, "tenant_id" | "session_id"> & {
  /** Never empty. */
  readonly user_id: string;
};

/** What there may be beside a store and an owner. */
export interface UserStorageOptions {
  /** Looks at what is put; left out, nothing is known of bytes but what is said of them. */
  readonly describer?: () => Promise<FileLook>;
  /**
   * Bytes that a file may have; more is E_FILE_TOO_LARGE.
   * @defaultValue 50 GiB
   */
  readonly maxBytes?: number;
  /** For drafts, which expire; that of the system when left out. */
  readonly now?: Clock;
}

/** Puts that belong together, such as the files of one result. */
export interface FileBatch {
  /** As `put` of {@link UserStorage}. */
  put(name: string, data: Uploaded, info?: UserFileInfo): Promise<UserFile>;
}

const MAX_VERSIONS = 100;

/**
 * What a user calls files, kept as artifacts of that user alone: no name, and no id, leads to another's. Names are made fit by
 * `fileName` wherever they are given. Putting a name that there is keeps what was there as an older version, of which there are
 * at most 100. A draft is gone when its time is over.
 *
 * One object at a time should put and rename a user's files: two that put a new name at once make two files, of which the
 * later one is listed with a number.
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
  readonly #turns = new Turns();
  /** How often something was put, renamed or deleted, or may have been. */
  #changes = 0;

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
    return (await this.#all()).get(fileName(name))?.file ?? null;
  }

  /** Keeps bytes, a text or a stream as the newest version of a file. Nothing is left of one that fails. */
  put(name: string, data: Uploaded, info: UserFileInfo = {}): Promise<UserFile> {
    return this.batch().put(name, data, info);
  }

  /**
   * For puts one after the other: what the user has is looked for once for all of them, and not for each. That counts where there are
   * many files, and most in a bucket. What another process calls by a name that there was not may be seen some seconds late: then
   * there are two files, as of two that put a new name at once.
   */
  batch(): FileBatch {
    const listing = new ReusedListing({
      list: () => this.#all(),
      stat: (id) => this.#store.stat(id, this.#scope),
      changes: () => this.#changes,
      now: this.#now,
    });
    return {
      put: (name, data, info = {}) => {
        const filename = fileName(name);
        // For its name alone: somebody's slow upload keeps no tool's result waiting.
        return this.#turns.take(filename, () => this.#put(filename, data, info, listing));
      },
    };
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
    const found = (await this.#all()).get(fileName(name));
    await this.#changing(async () => {
      for (const { id } of found?.versions ?? []) await this.#artifacts.delete(id);
    });
    return found !== undefined;
  }

  /** Deletes every file, with all versions. */
  async clear(): Promise<void> {
    await this.#changing(async () => {
      for await (const artifact of this.#artifacts.list()) {
        if (markOf(artifact) !== undefined) await this.#artifacts.delete(artifact.id);
      }
    });
  }

  /** Calls a file otherwise; its versions go with it. Throws E_INVALID_ARGUMENT where there is a file of that name. */
  rename(name: string, to: string): Promise<UserFile> {
    const filename = fileName(to);
    const rename = async (): Promise<UserFile> => {
      const all = await this.#all();
      const { file, versions } = named(name, all);
      if (filename === file.name) return file;
      if (all.has(filename)) throw taken(filename);
      await this.#changing(async () => {
        for (const { id } of versions) await this.#store.update(id, { filename }, this.#scope);
      });
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

  async #get(name: string): Promise<ListedFile> {
    return named(name, await this.#all());
  }

  #all(): Promise<ReadonlyMap<string, ListedFile>> {
    return listedFiles(this.#artifacts, this.#now());
  }

  async #put(filename: string, data: Uploaded, info: UserFileInfo, listing: ReusedListing): Promise<UserFile> {
    const known = await listing.find(filename);
    const namespace = known?.versions[0]?.namespace ?? newNamespace();
    const listed = await this.#changing(async () => {
      const kept = await this.#putVersion({ namespace, filename, scope: this.#scope }, data, info);
      const before = known?.versions.filter(({ id }) => id !== kept.id) ?? [];
      const over = surplus(before);
      for (const { id } of over) await this.#artifacts.delete(id);
      const stay = before.filter((version) => !over.includes(version));
      return madeFile(filename, [...stay, await this.#artifacts.stat(kept.id)]);
    });
    listing.note(filename, listed);
    return listed.file;
  }

  /** One version, written and looked at in one pass. Nothing is left of one that fails. Throws FileTooLargeError. */
  async #putVersion(place: ArtifactInfo, data: Uploaded, info: UserFileInfo): Promise<ArtifactRef> {
    using looking = await this.#describer?.();
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

  /** Counted also where it fails: something of it may have been done. */
  async #changing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      this.#changes += 1;
    }
  }
}

/** Throws SluiceError E_NOT_FOUND with the nearest name. */
function named(name: string, all: ReadonlyMap<string, ListedFile>): ListedFile {
  const filename = fileName(name);
  const found = all.get(filename);
  if (found !== undefined) return found;
  const [meant] = nearestNames(filename, [...all.keys()]);
  const remedy = meant === undefined ? "see what there is by listing the files." : `did you mean ${quoted(meant)}?`;
  throw new SluiceError("E_NOT_FOUND", `There is no file ${quoted(filename)}: ${remedy}`);
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

/** By name, which is unique: of two files with one name the later one has a number. Drafts whose time is over are deleted. */
async function listedFiles(artifacts: ScopedArtifacts, now: number): Promise<ReadonlyMap<string, ListedFile>> {
  const found = new Map<string, ListedFile>();
  for (const versions of (await byNamespace(artifacts, now)).values()) {
    // What was stored again is the newest.
    versions.sort((left, right) => left.stored_at - right.stored_at);
    const name = free(fileName(versions.at(-1)?.filename ?? ""), found);
    const file = userFile(name, versions);
    if (file !== undefined) found.set(name, { file, versions });
  }
  return found;
}

/** The versions of each file, without those whose time is over. */
async function byNamespace(artifacts: ScopedArtifacts, now: number): Promise<ReadonlyMap<string, StoredArtifact[]>> {
  const found = new Map<string, StoredArtifact[]>();
  const over: StoredArtifact[] = [];
  for await (const artifact of artifacts.list()) {
    if (markOf(artifact) === undefined) continue;
    const versions = found.get(artifact.namespace);
    if (isExpired(artifact, now)) over.push(artifact);
    else if (versions === undefined) found.set(artifact.namespace, [artifact]);
    else versions.push(artifact);
  }
  for (const { id } of over) await artifacts.delete(id);
  return found;
}

function free(name: string, others: ReadonlyMap<string, unknown>): string {
  const dot = name.lastIndexOf(".") > 0 ? name.lastIndexOf(".") : name.length;
  let own = name;
  for (let number = 2; others.has(own); number += 1) own = `${name.slice(0, dot)} (${number})${name.slice(dot)}`;
  return own;
}

/** Where a listing comes from, and what tells whether it still holds. */
interface ReusedListingTerms {
  readonly list: () => Promise<ReadonlyMap<string, ListedFile>>;
  /** What the store says of a version now; null where it is gone. */
  readonly stat: (id: string) => Promise<StoredArtifact | null>;
  /** Counts what this process does to the user's files. */
  readonly changes: () => number;
  readonly now: Clock;
}

/** Milliseconds after which it is made anew: for so long a name that another process gives may go unseen. */
const MAX_AGE = 5000;

/**
 * One listing, used for as long as it holds. What this process does shows at once. A file that is known is asked for before it counts,
 * so whatever another process renamed, deleted or put again makes for a new listing.
 */
class ReusedListing {
  readonly #terms: ReusedListingTerms;
  #files = new Map<string, ListedFile>();
  /** Of how many changes it knows; none was made yet. */
  #changes = -1;
  #listedAt = 0;

  constructor(terms: ReusedListingTerms) {
    this.#terms = terms;
  }

  /** The file of that name, which nobody else of this process puts or renames meanwhile; undefined where there is none. */
  async find(name: string): Promise<ListedFile | undefined> {
    if (this.#isCurrent()) {
      const known = this.#files.get(name);
      if (known === undefined || (await this.#isAsListed(known))) return known;
    }
    const changes = this.#terms.changes();
    const files = new Map(await this.#terms.list());
    [this.#files, this.#changes, this.#listedAt] = [files, changes, this.#terms.now()];
    return files.get(name);
  }

  /** Takes in the change that was counted last. */
  note(name: string, listed: ListedFile): void {
    const changes = this.#terms.changes();
    if (this.#changes !== changes - 1) return;
    this.#files.set(name, listed);
    this.#changes = changes;
  }

  #isCurrent(): boolean {
    const age = this.#terms.now() - this.#listedAt;
    return this.#changes === this.#terms.changes() && age >= 0 && age <= MAX_AGE;
  }

  async #isAsListed({ versions }: ListedFile): Promise<boolean> {
    const newest = versions.at(-1);
    if (newest === undefined || versions.some((version) => isExpired(version, this.#terms.now()))) return false;
    // What is wrong with a store that does not answer, its listing tells.
    const now = await this.#terms.stat(newest.id).catch(() => null);
    return now?.filename === newest.filename && now.stored_at === newest.stored_at;
  }
}

/** Has a core look at each file, which is loaded for the first one. */
export function coreDescriber(wasm: WasmSource | undefined): () => Promise<FileLook> {
  let core: Promise<Sluice> | undefined;
  return async () => {
    core ??= createSluiceOver({ store: new NoOpArtifactStore(), onFailure: "throw" }, {}, wasm);
    return (await core).look();
  };
}
