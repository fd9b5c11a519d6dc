/**
 * My Files: what a person keeps and what tools make, by name, in a store without a time to live. Loaded when somebody has to do
 * with them.
 * @module
 */
import { SluiceError, type ArtifactStore, type StoredArtifact } from "mcp-sluice";
import { safeFilename } from "mcp-sluice/browser";
import { UserFiles, type UserFile, type UserFileHandling, type UserStorage } from "mcp-sluice/files";
import type { ShownFile } from "./contract.js";
import { VISITOR } from "./stores.js";

/** The files of the one person there is. */
export class MyFiles {
  /** What sources and planners are given. */
  readonly handling: UserFiles;
  readonly #store: ArtifactStore;

  /** `onMade` is told when a tool's files were stored. */
  constructor(store: ArtifactStore, onMade: () => void) {
    this.#store = store;
    this.handling = new ToldFiles(store, onMade);
  }

  /** The newest first. */
  async list(): Promise<readonly ShownFile[]> {
    const artifacts = await this.#artifacts();
    const files = await this.#storage.list();
    return files.map((file) => shownFile(file, artifacts)).toSorted((left, right) => right.stored_at - left.stored_at);
  }

  /** Every version of a file, the newest first. Throws E_NOT_FOUND. */
  async versions(id: string): Promise<readonly ShownFile[]> {
    const artifacts = await this.#artifacts();
    const versions = await this.#storage.versions(await this.#nameOf(id));
    return versions.map((file) => shownFile(file, artifacts));
  }

  /** Puts a file there as it is: the newest version, where there is one of that name. */
  async keep(file: File): Promise<ShownFile> {
    const mime_type = file.type === "" ? null : file.type;
    return this.#shown(await this.#storage.put(file.name, file.stream(), { mime_type }));
  }

  /** Keeps what a result stored. */
  async save(artifact: StoredArtifact, bytes: ReadableStream<Uint8Array>): Promise<ShownFile> {
    const { filename, mime_type } = artifact;
    const name = filename ?? safeFilename(artifact);
    return this.#shown(await this.#storage.put(name, bytes, { mime_type, origin: "generated" }));
  }

  /** Calls a file something else. Throws E_NOT_FOUND, and E_INVALID_ARGUMENT for a name that there is. */
  async rename(id: string, filename: string): Promise<void> {
    await this.#storage.rename(await this.#nameOf(id), filename);
  }

  /** With all of its versions; false when it was gone already. */
  async remove(id: string): Promise<boolean> {
    const file = (await this.#storage.list()).find((each) => each.id === id);
    return file !== undefined && this.#storage.remove(file.name);
  }

  get #storage(): UserStorage {
    return this.handling.storage(VISITOR);
  }

  async #nameOf(id: string): Promise<string> {
    const file = (await this.#storage.list()).find((each) => each.id === id);
    if (file !== undefined) return file.name;
    throw new SluiceError("E_NOT_FOUND", "The file is gone: it was deleted or replaced, perhaps in another tab.");
  }

  async #shown(file: UserFile): Promise<ShownFile> {
    return shownFile(file, await this.#artifacts());
  }

  async #artifacts(): Promise<ReadonlyMap<string, StoredArtifact>> {
    const artifacts = new Map<string, StoredArtifact>();
    for await (const artifact of this.#store.list(VISITOR)) artifacts.set(artifact.id, artifact);
    return artifacts;
  }
}

/** Tells of files as they come out of results. */
class ToldFiles extends UserFiles {
  readonly #onMade: () => void;

  constructor(store: ArtifactStore, onMade: () => void) {
    super({ store });
    this.#onMade = onMade;
  }

  override async receive(...asked: Parameters<UserFiles["receive"]>): ReturnType<UserFileHandling["receive"]> {
    const received = await super.receive(...asked);
    if (received !== undefined && "artifacts" in received && received.artifacts.length > 0) this.#onMade();
    return received;
  }
}

function shownFile(file: UserFile, artifacts: ReadonlyMap<string, StoredArtifact>): ShownFile {
  const { name: filename, id, mime_type, size_bytes, stored_at, ...said } = file;
  const { sha256, source } = artifacts.get(id) ?? {};
  return {
    ...said,
    id,
    filename,
    mime_type,
    size_bytes,
    stored_at,
    ...(sha256 !== undefined && { sha256 }),
    ...(source !== undefined && { source }),
  };
}
