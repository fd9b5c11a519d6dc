/**
 * The records of a store in a folder, for copies.
 * @module
 */
import { createHash } from "node:crypto";
import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { guardStorage } from "../../errors/storage.js";
import { sha256 } from "../hash-node.js";
import { readAhead } from "../read-ahead.js";
import { toClaim } from "../reference.js";
import {
  isAnother,
  type Carried,
  type RecordName,
  type RecordStore,
  type StoredRecord,
  type UnreadableRecord,
} from "../record-store.js";
import { scopeKey } from "../scope.js";
import { SinkWriter, writeWhole } from "../writer.js";
import { openArtifact, readSpan } from "./file-store.js";
import { Folder, toId, scopeName, toFileName } from "./folder.js";
import { renameRef, withoutName } from "./names.js";
import { noteStored, readRecord, refFolders, removeCarried } from "./refs.js";
import { folderPath, orNull } from "./plain-file.js";
import { Spool, type SpoolDeps } from "./spool.js";
import { sweepTemporaries } from "./sweep.js";
import { SWEEP_AFTER } from "./temporaries.js";

/** The records of a store in a folder. */
export class FolderRecords implements RecordStore {
  readonly #folder: Folder;
  readonly #spooling: SpoolDeps;

  /** Makes nothing. Throws SluiceError E_INVALID_ARGUMENT if `directory` is not a string. */
  constructor(directory: string) {
    this.#folder = new Folder(folderPath(directory), false);
    this.#spooling = { hashing: sha256, now: () => 0, unwritten: { bytes: 0 }, spare: [] };
  }

  origin(): Promise<string> {
    return guardStorage("read", async () => {
      const { root, marker } = this.#folder.at;
      // A path alone may be that of another folder on another machine, or in another container.
      const { ino, mtimeNs } = await lstat(marker, { bigint: true });
      const place = JSON.stringify(["folder", await realpath(root), String(ino), String(mtimeNs)]);
      return createHash("sha256").update(place).digest("hex");
    });
  }

  isThere(): Promise<boolean> {
    return guardStorage("read", () => this.#folder.present());
  }

  prepare(): Promise<void> {
    return guardStorage("write", async () => {
      await this.#folder.ready();
      await sweepTemporaries(this.#folder, SWEEP_AFTER);
    });
  }

  async *records(): AsyncGenerator<StoredRecord | UnreadableRecord, void, void> {
    const listed = readAhead(refFolders(this.#folder), ({ scope, name }) => this.#readListed(scope, name));
    for await (const record of listed) if (record !== null) yield record;
  }

  find({ id, scope }: RecordName): Promise<StoredRecord | null> {
    return guardStorage("read", () => this.#at(scopeName(scopeKey(scope)), toFileName(id)));
  }

  read({ id, scope }: RecordName): Promise<ReadableStream<Uint8Array> | null> {
    return guardStorage("read", async () => {
      const opened = await openArtifact(this.#folder, scopeKey(scope), id);
      const whole = opened && { start: 0, end: opened.ref.size_bytes };
      return opened && whole && readSpan(this.#folder, opened, whole, sha256);
    });
  }

  add(record: Carried, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    return guardStorage("write", async () => {
      const spool = new Spool(this.#folder, toClaim(record.ref), this.#spooling, record);
      await writeWhole(new SinkWriter(spool), bytes);
    });
  }

  change(record: Carried): Promise<boolean> {
    return guardStorage("write", async () => {
      const { ref, stored, used, origin } = record;
      const key = scopeKey(ref.scope);
      const there = await this.#at(scopeName(key), toFileName(ref.id));
      if (there?.origin !== origin || isAnother(there, record)) return false;
      const { mime_type, filename, source } = ref;
      const patch = { mime_type, filename, source };
      const isSame = JSON.stringify(there.ref) === JSON.stringify(ref);
      if (!isSame && (await renameRef(this.#folder, key, ref.id, patch, origin)) === null) return false;
      return noteStored(this.#folder.at.refFolder(key, ref.id), stored, used);
    });
  }

  remove({ ref, origin }: Carried): Promise<boolean> {
    return guardStorage("write", () => {
      const key = scopeKey(ref.scope);
      return withoutName(this.#folder, key, ref.id, () => removeCarried(this.#folder, key, ref.id, origin));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Nothing is open between two calls.
  }

  async #at(scope: string, name: string): Promise<StoredRecord | null> {
    const found = await readRecord(this.#folder, { scope, name });
    return found && { ...found.recorded, ...found.times, origin: found.recorded.origin ?? null };
  }

  /** The record in a folder; one that cannot be read if it still cannot a moment later, since it may just be deleted. */
  async #readListed(scope: string, name: string): Promise<StoredRecord | UnreadableRecord | null> {
    const look = (): Promise<StoredRecord | null> => guardStorage("read", () => this.#at(scope, name));
    try {
      const found = await look();
      // A folder without a record was moved away just now, or has lost it.
      if (found !== null || (await orNull(lstat(join(this.#folder.at.refs, scope, name)))) === null) return found;
      return (await look()) ?? { id: toId(name) };
    } catch (error) {
      if (!(error instanceof SluiceError) || (error.code !== "E_STORE_CORRUPT" && error.code !== "E_STORE_DENIED"))
        throw error;
      return { id: toId(name) };
    }
  }
}
