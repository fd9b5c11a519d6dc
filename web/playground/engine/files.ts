/**
 * My Files: what a person keeps, in a store without a time to live.
 * @module
 */
import { cleanNamespace, SluiceError, type ArtifactStore, type ArtifactInfo, type StoredArtifact } from "mcp-sluice";
import type { ShownFile } from "./contract.js";
import { VISITOR } from "./stores.js";

const NAMESPACE = "file";

/** A person's files. */
export class Files {
  readonly #store: ArtifactStore;

  constructor(store: ArtifactStore) {
    this.#store = store;
  }

  /** In the order in which they were kept. */
  async list(): Promise<readonly ShownFile[]> {
    const files: ShownFile[] = [];
    for await (const file of this.#store.list(VISITOR)) files.push(shownFile(file));
    return files;
  }

  /** Keeps bytes under a name. */
  async keep(bytes: ReadableStream<Uint8Array>, info: ArtifactInfo): Promise<ShownFile> {
    const namespace = cleanNamespace(info.namespace ?? NAMESPACE);
    await using writer = await this.#store.openWriter({ ...info, namespace, scope: VISITOR });
    for await (const chunk of bytes) await writer.write(chunk);
    const { id } = await writer.close();
    const stored = await this.#store.stat(id, VISITOR);
    if (stored === null) throw gone();
    return shownFile(stored);
  }

  /** Calls a file something else. Throws E_NOT_FOUND. */
  async rename(id: string, filename: string): Promise<void> {
    if ((await this.#store.update(id, { filename }, VISITOR)) === null) throw gone();
  }

  /** False when it was gone already. */
  async remove(id: string): Promise<boolean> {
    return this.#store.delete(id, VISITOR);
  }

  /** Null when it is gone. */
  async bytes(id: string, range?: { start: number; end?: number }): Promise<ReadableStream<Uint8Array> | null> {
    return this.#store.openReader(id, { scope: VISITOR, ...(range !== undefined && { range }) });
  }
}

function gone(): SluiceError {
  return new SluiceError("E_NOT_FOUND", "The file is gone: it was deleted, perhaps in another tab.");
}

function shownFile({ scope: _, ...file }: StoredArtifact): ShownFile {
  return { ...file, filename: file.filename ?? file.id };
}
