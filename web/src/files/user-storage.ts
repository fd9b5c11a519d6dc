/**
 * A user's files over any artifact store: names in place of ids, and every version (user storage §2).
 * @module
 */
import { ScopedArtifacts, type Uploaded } from "../artifacts/scoped.js";
import type { ArtifactScope, ArtifactStore, ByteRange, Clock, StoredArtifact } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import { Turns } from "../tools/auth/turns.js";
import type { OpenDescriber } from "./describing.js";
import { fileName } from "./file-name.js";
import { MAX_FILE_BYTES } from "./limits.js";
import { nearestNames } from "./nearest-names.js";
import { putVersion } from "./put-version.js";
import { isExpired, markOf, newNamespace, userFile, type UserFile, type UserFileInfo } from "./user-file.js";

/** Whose files: a person, of a tenant where there are tenants, and of one session where files do not outlive it. */
export type FileOwner = Pick<ArtifactScope, "tenant_id" | "session_id"> & {
  /** Never empty. */
  readonly user_id: string;
};

/** What there may be beside a store and an owner. */
export interface UserStorageOptions {
  /** Looks at what is put; left out, nothing is known of bytes but what is said of them. */
  readonly describer?: OpenDescriber;
  /**
   * Bytes that a file may have; more is E_FILE_TOO_LARGE.
   * @defaultValue 50 GiB
   */
  readonly maxBytes?: number;
  /** For drafts, which expire; that of the system when left out. */
  readonly now?: Clock;
}

/** Versions of one file. */
const MAX_VERSIONS = 100;

/** One file, found. */
interface Found {
  readonly file: UserFile;
  /** Oldest first. */
  readonly versions: readonly StoredArtifact[];
}

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
  readonly #describer: OpenDescriber | undefined;
  readonly #maxBytes: number;
  readonly #now: Clock;
  readonly #turns = new Turns();

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
    const filename = fileName(name);
    // For its name alone: somebody's slow upload keeps no tool's result waiting.
    return this.#turns.take(filename, async () => {
      const known = (await this.#all()).get(filename);
      const namespace = known?.versions[0]?.namespace ?? newNamespace();
      const place = { namespace, filename, scope: this.#scope };
      const terms = { place, info, describer: this.#describer, maxBytes: this.#maxBytes };
      const kept = await putVersion(this.#store, data, terms);
      const before = known?.versions.filter(({ id }) => id !== kept.id) ?? [];
      const over = surplus(before);
      for (const { id } of over) await this.#artifacts.delete(id);
      return madeFile(filename, [
        ...before.filter((version) => !over.includes(version)),
        await this.#artifacts.stat(kept.id),
      ]);
    });
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
    for (const { id } of found?.versions ?? []) await this.#artifacts.delete(id);
    return found !== undefined;
  }

  /** Deletes every file, with all versions. */
  async clear(): Promise<void> {
    for await (const artifact of this.#artifacts.list()) {
      if (markOf(artifact) !== undefined) await this.#artifacts.delete(artifact.id);
    }
  }

  /** Calls a file otherwise; its versions go with it. Throws E_INVALID_ARGUMENT where there is a file of that name. */
  rename(name: string, to: string): Promise<UserFile> {
    const filename = fileName(to);
    const rename = async (): Promise<UserFile> => {
      const { file, versions } = await this.#get(name);
      if (filename === file.name) return file;
      if ((await this.find(filename)) !== null) throw taken(filename);
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

  async #get(name: string): Promise<Found> {
    const filename = fileName(name);
    const all = await this.#all();
    const found = all.get(filename);
    if (found !== undefined) return found;
    const [meant] = nearestNames(filename, [...all.keys()]);
    const remedy = meant === undefined ? "see what there is by listing the files." : `did you mean ${quoted(meant)}?`;
    throw new SluiceError("E_NOT_FOUND", `There is no file ${quoted(filename)}: ${remedy}`);
  }

  /** By name, which is unique: of two files with one name the later one has a number. */
  async #all(): Promise<ReadonlyMap<string, Found>> {
    const found = new Map<string, Found>();
    for (const versions of (await this.#byNamespace()).values()) {
      // What was stored again is the newest.
      versions.sort((left, right) => left.stored_at - right.stored_at);
      const name = free(fileName(versions.at(-1)?.filename ?? ""), found);
      const file = userFile(name, versions);
      if (file !== undefined) found.set(name, { file, versions });
    }
    return found;
  }

  /** The versions of each file, without those whose time is over. */
  async #byNamespace(): Promise<ReadonlyMap<string, StoredArtifact[]>> {
    const byNamespace = new Map<string, StoredArtifact[]>();
    const over: StoredArtifact[] = [];
    for await (const artifact of this.#artifacts.list()) {
      if (markOf(artifact) === undefined) continue;
      if (isExpired(artifact, this.#now())) over.push(artifact);
      else byNamespace.set(artifact.namespace, [...(byNamespace.get(artifact.namespace) ?? []), artifact]);
    }
    for (const { id } of over) await this.#artifacts.delete(id);
    return byNamespace;
  }
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
function madeFile(name: string, versions: readonly StoredArtifact[]): UserFile {
  const file = userFile(name, versions);
  if (file !== undefined) return file;
  throw new SluiceError("E_STORE_READ", "The store gave back a file otherwise than it took it: try again.");
}

function free(name: string, others: ReadonlyMap<string, unknown>): string {
  const dot = name.lastIndexOf(".") > 0 ? name.lastIndexOf(".") : name.length;
  let own = name;
  for (let number = 2; others.has(own); number += 1) own = `${name.slice(0, dot)} (${number})${name.slice(dot)}`;
  return own;
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
