/**
 * Copies of artifacts for servers that want a path (design §6): read-only, in a private folder that goes at the end.
 * @module
 */
import { createWriteStream } from "node:fs";
import { chmod, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import type { ArtifactStore, StoredArtifact } from "./store.js";
import { SluiceError } from "../errors/error.js";
import { PrivateFolder } from "./private-folder.js";

/** Characters of a file's name that are kept. */
const MAX_NAME = 80;

/** Copies of one process. */
export class Copies implements AsyncDisposable {
  readonly #store: ArtifactStore;
  #folder: Promise<PrivateFolder> | undefined;

  constructor(store: ArtifactStore) {
    this.#store = store;
  }

  /** Writes a copy and gives its path. Throws E_NOT_FOUND, E_STORE_…. */
  async write({ id, scope, filename }: StoredArtifact): Promise<string> {
    const bytes = await this.#store.openReader(id, { scope });
    if (bytes === null)
      throw new SluiceError("E_NOT_FOUND", `There is no artifact ${id}: call the tool again that gave it.`);
    const { path: parent } = await (this.#folder ??= PrivateFolder.open("copies"));
    // A folder for each: two artifacts may have one name, and servers look at names.
    const folder = await mkdtemp(join(parent, "file-"));
    const path = join(folder, safeName(filename ?? id));
    await pipeline(
      Readable.fromWeb(bytes as ReadableStream<Uint8Array>),
      createWriteStream(path, { flags: "wx", mode: 0o600 }),
    );
    await chmod(path, 0o400);
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const folder = await this.#folder?.catch(() => undefined);
    await folder?.[Symbol.asyncDispose]();
  }
}

/** Letters, digits and a few signs: a name comes from a server. */
function safeName(name: string): string {
  const safe = name
    .replace(/[^\w.-]+/g, "_")
    .replace(/^[.-]+/, "")
    .slice(-MAX_NAME);
  return safe === "" ? "artifact" : safe;
}
