/**
 * My Files: files by name, in a store that nothing expires from. Loaded when they are first used.
 * @module
 */
import { SluiceError, type ArtifactStore, type StoredArtifact } from "mcp-sluice";
import { safeFilename } from "mcp-sluice/browser";
import { UserFiles, type UserFile, type UserStorage } from "mcp-sluice/files";
import type { ShownFile } from "./messages.js";
import { VISITOR } from "./stores.js";

/** The files of the visitor. */
export class MyFiles {
  /** For sources and planners. */
  readonly handling: UserFiles;
  readonly #store: ArtifactStore;

  /** `onMade` is called when files of a tool were stored. */
  constructor(store: ArtifactStore, onMade: () => void) {
    this.#store = store;
    this.handling = new ObservedUserFiles(store, onMade);
  }

  /** Newest first. */
  async list(): Promise<readonly ShownFile[]> {
    const artifacts = await this.#artifacts();
    const files = await this.#storage.list();
    return files
      .map((file) => toShownFile(file, artifacts.get(file.id)))
      .toSorted((left, right) => right.stored_at - left.stored_at);
  }

  /** All versions of a file, newest first. Throws E_NOT_FOUND. */
  async versions(id: string): Promise<readonly ShownFile[]> {
    const artifacts = await this.#artifacts();
    const versions = await this.#storage.versions(await this.#findName(id));
    return versions.map((file) => toShownFile(file, artifacts.get(file.id)));
  }

  /** Adds a file, as a new version if its name exists. */
  async keep(file: File): Promise<ShownFile> {
    const mime_type = file.type === "" ? null : file.type;
    return this.#toShown(await this.#storage.put(file.name, file.stream(), { mime_type }));
  }

  /** Adds the bytes of an artifact. */
  async save(artifact: StoredArtifact, bytes: ReadableStream<Uint8Array>): Promise<ShownFile> {
    const { filename, mime_type } = artifact;
    const name = filename ?? safeFilename(artifact);
    return this.#toShown(await this.#storage.put(name, bytes, { mime_type, origin: "generated" }));
  }

  /** Renames a file. Throws E_NOT_FOUND, and E_INVALID_ARGUMENT if the name is taken. */
  async rename(id: string, filename: string): Promise<void> {
    await this.#storage.rename(await this.#findName(id), filename);
  }

  /** Deletes a file with all its versions; false if it was already gone. */
  async remove(id: string): Promise<boolean> {
    const file = (await this.#storage.list()).find((each) => each.id === id);
    return file !== undefined && this.#storage.remove(file.name);
  }

  get #storage(): UserStorage {
    return this.handling.storage(VISITOR);
  }

  async #findName(id: string): Promise<string> {
    const file = (await this.#storage.list()).find((each) => each.id === id);
    if (file !== undefined) return file.name;
    throw new SluiceError("E_NOT_FOUND", "The file is gone: it was deleted or replaced, perhaps in another tab.");
  }

  async #toShown(file: UserFile): Promise<ShownFile> {
    return toShownFile(file, (await this.#store.stat(file.id, VISITOR)) ?? undefined);
  }

  async #artifacts(): Promise<ReadonlyMap<string, StoredArtifact>> {
    const artifacts = new Map<string, StoredArtifact>();
    for await (const artifact of this.#store.list(VISITOR)) artifacts.set(artifact.id, artifact);
    return artifacts;
  }
}

/** Reports when files of a result were stored. */
class ObservedUserFiles extends UserFiles {
  readonly #onMade: () => void;

  constructor(store: ArtifactStore, onMade: () => void) {
    super({ store });
    this.#onMade = onMade;
  }

  override async receive(
    ...asked: Parameters<UserFiles["receive"]>
  ): Promise<Awaited<ReturnType<UserFiles["receive"]>>> {
    const received = await super.receive(...asked);
    if (received !== undefined && "artifacts" in received && received.artifacts.length > 0) this.#onMade();
    return received;
  }
}

function toShownFile(file: UserFile, { sha256, source }: Partial<StoredArtifact> = {}): ShownFile {
  const { name: filename, id, mime_type, size_bytes, stored_at, ...said } = file;
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
