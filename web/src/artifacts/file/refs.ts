/**
 * Reading and changing what is said of artifacts.
 * @module
 */
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { isArtifactId } from "../ids.js";
import { claimOf, MAX_RECORD_CHARS, patched, refOf } from "../record.js";
import { scopeKey } from "../scope.js";
import type { ArtifactPatch, ArtifactRef } from "../store.js";
import type { Folder } from "./folder.js";
import { BLOB_NAME, FILE_MODE, idOf, nameOf, REF, scopeName } from "./layout.js";
import { temporaryName } from "./owner.js";
import { orNull, readPlain } from "./plain.js";
import { stamped, timesOf } from "./times.js";

/** A ref, and when it was made: microseconds since 1970, never twice the same in one store object. */
export interface Recorded {
  readonly created: number;
  readonly ref: ArtifactRef;
}

// Type, name and source have a limit each, and JSON may write a character as six.
const MAX_FILE = 24 * MAX_RECORD_CHARS;

/** What a ref's file holds. */
export function written(recorded: Recorded): string {
  return `${JSON.stringify(recorded)}\n`;
}

/**
 * Reads a ref; null when there is none.
 *
 * @throws SluiceError E_STORE_CORRUPT when the file is not what this store wrote there.
 */
export async function readRef(folder: Folder, key: string, id: string): Promise<Recorded | null> {
  return isArtifactId(id) ? readFrom(folder, scopeName(key), nameOf(id)) : null;
}

/** The same by the names of the folders, for listing. */
export async function readFrom(folder: Folder, scope: string, name: string): Promise<Recorded | null> {
  const scopeFolder = join(folder.at.refs, scope);
  if (!(await folder.check(scopeFolder)) || !(await folder.glance(join(scopeFolder, name)))) return null;
  const text = await orNull(readPlain(join(scopeFolder, name, REF), MAX_FILE));
  if (text === null) return null;
  const recorded = parsed(text);
  if (recorded?.ref.id !== idOf(name) || scopeName(scopeKey(recorded.ref.scope)) !== scope) throw damaged();
  return recorded;
}

/**
 * Changes what is said of a ref, and not its times. Two changes at once do not mix: the later one stays.
 *
 * @returns the new ref, or null when there is none, or none any more.
 */
export async function updateRef(
  folder: Folder,
  key: string,
  id: string,
  patch: ArtifactPatch,
): Promise<ArtifactRef | null> {
  const recorded = await readRef(folder, key, id);
  if (!recorded) return null;
  const ref = patched(recorded.ref, patch);
  const refFolder = folder.at.refFolder(key, id);
  const times = await orNull(timesOf(refFolder));
  if (!times) return null;
  await folder.ready();
  const temporary = join(folder.at.temporaries, temporaryName());
  await writeFile(temporary, written({ created: recorded.created, ref }), { flag: "wx", mode: FILE_MODE });
  await stamped(temporary, times.stored);
  await folder.sync(temporary);
  // A delete takes the whole folder away first, and then there is nothing to rename into.
  const moved = await orNull(rename(temporary, join(refFolder, REF)).then(() => true));
  if (moved === null) await folder.discard(temporary);
  else await stamped(refFolder, times.used);
  return moved === null ? null : ref;
}

function parsed(text: string): Recorded | null {
  try {
    const { created, ref } = JSON.parse(text) as { created: unknown; ref: Record<string, unknown> };
    const { id, sha256, size_bytes } = ref;
    if (!isArtifactId(id) || typeof sha256 !== "string" || !BLOB_NAME.test(sha256)) return null;
    if (!isCount(created) || !isCount(size_bytes)) return null;
    return { created, ref: refOf(claimOf(ref), id, sha256, size_bytes) };
  } catch {
    return null;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function damaged(): SluiceError {
  return new SluiceError("E_STORE_CORRUPT", "What was said of this artifact is damaged: delete it and store it again.");
}
