/**
 * A user's files over any artifact store: names in place of ids, and every version (user storage §2).
 * @module
 */
import { ScopedArtifacts, type Uploaded } from "../artifacts/scoped.js";
import type { ArtifactScope, ArtifactStore, ByteRange, StoredArtifact } from "../artifacts/store.js";
import { SluiceError } from "../errors/error.js";
import { nearest } from "../errors/nearest.js";
import { fileName } from "./file-name.js";
import { newNamespace, originOf, sourceOf, userFile, type UserFile, type UserFileInfo } from "./user-file.js";

/** Whose files: a person, of a tenant where there are tenants, and of one session where files do not outlive it. */
export type FileOwner = Pick<ArtifactScope, "tenant_id" | "session_id"> & { readonly user_id: string };

/** One file, found. */
interface Found {
  readonly file: UserFile;
  /** Oldest first. */
  readonly versions: readonly StoredArtifact[];
}

/**
 * What a user calls files, kept as artifacts of that user alone: no name, and no id, leads to another's. Names are made fit by
 * `fileName` wherever they are given. Putting a name that there is keeps what was there as an older version.
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

  /** Throws SluiceError E_INVALID_ARGUMENT for a store or an owner that is none. */
  constructor(store: ArtifactStore, owner: FileOwner) {
    const { tenant_id = null, user_id, session_id = null } = owner;
    if (typeof user_id !== "string" || user_id === "") {
      throw new SluiceError("E_INVALID_ARGUMENT", "user_id must say whose the files are.", { path: "user_id" });
    }
    this.#store = store;
    this.#scope = { tenant_id, user_id, session_id };
    this.#artifacts = new ScopedArtifacts(store, this.#scope);
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

  /** Keeps bytes, a text or a stream as the newest version of a file. */
  async put(name: string, data: Uploaded, info: UserFileInfo = {}): Promise<UserFile> {
    const filename = fileName(name);
    const { origin = "uploaded", mime_type = null } = info;
    const known = (await this.#all()).get(filename);
    const namespace = known?.versions[0]?.namespace ?? newNamespace();
    await this.#artifacts.upload(data, { namespace, filename, mime_type, source: sourceOf(origin) });
    return (await this.#get(filename)).file;
  }

  /** The bytes of the newest version, or a range of them. */
  async open(name: string, options: { readonly range?: ByteRange } = {}): Promise<ReadableStream<Uint8Array>> {
    return this.#artifacts.open((await this.#get(name)).file.id, options);
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

  /** Calls a file otherwise; its versions go with it. Throws E_INVALID_ARGUMENT where there is a file of that name. */
  async rename(name: string, to: string): Promise<UserFile> {
    const filename = fileName(to);
    const { versions } = await this.#get(name);
    if (filename === fileName(name)) return (await this.#get(name)).file;
    if ((await this.find(filename)) !== null) throw taken(filename);
    for (const { id } of versions) await this.#store.update(id, { filename }, this.#scope);
    return (await this.#get(filename)).file;
  }

  async #get(name: string): Promise<Found> {
    const filename = fileName(name);
    const all = await this.#all();
    const found = all.get(filename);
    if (found !== undefined) return found;
    const meant = nearest(filename, [...all.keys()]);
    const remedy = meant === undefined ? "see what there is by listing the files." : `did you mean ${quoted(meant)}?`;
    throw new SluiceError("E_NOT_FOUND", `There is no file ${quoted(filename)}: ${remedy}`);
  }

  /** By name, which is unique: of two files with one name the later one has a number. */
  async #all(): Promise<ReadonlyMap<string, Found>> {
    const byFile = new Map<string, StoredArtifact[]>();
    for await (const artifact of this.#artifacts.list()) {
      if (originOf(artifact) === undefined) continue;
      byFile.set(artifact.namespace, [...(byFile.get(artifact.namespace) ?? []), artifact]);
    }
    const found = new Map<string, Found>();
    for (const versions of byFile.values()) {
      // What was stored again is the newest.
      versions.sort((left, right) => left.stored_at - right.stored_at);
      const name = free(fileName(versions.at(-1)?.filename ?? ""), found);
      const file = userFile(name, versions);
      if (file !== undefined) found.set(name, { file, versions });
    }
    return found;
  }
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
