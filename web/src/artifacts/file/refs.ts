/**
 * The records and times of artifacts in a folder: read, listed, changed and deleted.
 * @module
 */
import { lstat, lutimes, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { readAhead } from "../read-ahead.js";
import { isArtifactId, toClaim, MAX_RECORD_CHARS, applyPatch, toRef, inMilliseconds } from "../reference.js";
import { scopeKey } from "../scope.js";
import type { ArtifactPatch, ArtifactRef, StoredArtifact } from "../store.js";
import { BLOB, BLOB_NAME, toId, toFileName, REF, release, SCOPE_NAME, scopeName, type Folder } from "./folder.js";
import {
  folderModified,
  isAbsent,
  isPlainFolder,
  isTaken,
  movePath,
  namesIn,
  NEW_FILE,
  orNull,
  readDated,
  readPlain,
  removeIfEmpty,
} from "./plain-file.js";

/** A ref and when it was created, in microseconds since 1970. Unique within one store object. */
export interface Recorded {
  readonly created: number;
  readonly ref: ArtifactRef;
  /** The store from which a copy brought it, see `Carried`. A change of the record takes the mark away. */
  readonly origin?: string;
}

// Type, name and source have a limit each, and JSON may write a character as six.
const MAX_FILE = 24 * MAX_RECORD_CHARS;

/** The contents of `ref.json`. */
export function writeRecordText(recorded: Recorded): string {
  return `${JSON.stringify(recorded)}\n`;
}

/**
 * Reads a ref. Null if there is none.
 *
 * @throws SluiceError E_STORE_CORRUPT if the file is not one that this store wrote.
 */
export async function readRef(folder: Folder, key: string, id: string): Promise<Recorded | null> {
  return (await readStanding(folder, key, id))?.recorded ?? null;
}

async function readStanding(folder: Folder, key: string, id: string): Promise<Standing | null> {
  return isArtifactId(id) ? readRecord(folder, { scope: scopeName(key), name: toFileName(id) }) : null;
}

/** In microseconds, see `Stamps`. */
export interface Times {
  readonly stored: number;
  readonly used: number;
}

/** A ref as it stands in its folder. */
export interface Standing {
  readonly recorded: Recorded;
  readonly times: Times;
}

/** The same with its times, by the names of its folders, for lists and checks. */
export async function readRecord(folder: Folder, { scope, name }: RefFolder): Promise<Standing | null> {
  const scopeFolder = join(folder.at.refs, scope);
  const used = (await folder.check(scopeFolder)) ? await folderModified(join(scopeFolder, name)) : null;
  const file = used === null ? null : await orNull(readDated(join(scopeFolder, name, REF), MAX_FILE));
  if (used === null || file === null) return null;
  const recorded = parseRecord(file.text);
  if (recorded?.ref.id !== toId(name) || scopeName(scopeKey(recorded.ref.scope)) !== scope) throw toDamagedError();
  return { recorded, times: { stored: file.modified, used } };
}

/**
 * Changes the record of a ref, but not its times. Of two changes at once the later one stays. `origin` is the mark that it gets.
 *
 * @returns the new ref, or null if there is none.
 */
export async function updateRef(
  folder: Folder,
  key: string,
  id: string,
  patch: ArtifactPatch,
  origin?: string,
): Promise<ArtifactRef | null> {
  const standing = await readStanding(folder, key, id);
  if (!standing) return null;
  const { recorded, times } = standing;
  const ref = applyPatch(recorded.ref, patch);
  const refFolder = folder.at.refFolder(key, id);
  const next = { created: recorded.created, ref, ...(origin !== undefined && { origin }) };
  if (!(await publishRecord(folder, refFolder, next, times.stored))) return null;
  await stampPath(refFolder, times.used);
  return ref;
}

/** Before the digits of the hash in an id. */
const DIGITS = /_(?=[0-9a-f]+$)/;

/** Whether an id is that of a content. */
export function isNamedBy(id: string, sha256: string): boolean {
  return isArtifactId(id) && BLOB_NAME.test(sha256) && sha256.startsWith(id.split(DIGITS).at(-1) ?? "");
}

/**
 * Writes the lost record of a ref again, from its content and its id. Its name, type and source are gone. False if the
 * content is not the one that the id names, or the ref is gone.
 */
export async function rebuildRef(
  folder: Folder,
  { id, scope, sha256 }: Pick<ArtifactRef, "id" | "scope" | "sha256">,
): Promise<boolean> {
  if (!isNamedBy(id, sha256)) return false;
  const [namespace = ""] = id.split(DIGITS);
  const refFolder = folder.at.refFolder(scopeKey(scope), id);
  const blob = await orNull(lstat(join(refFolder, BLOB), { bigint: true }));
  if (blob === null) return false;
  const created = Number(blob.mtimeNs / 1000n);
  const ref = toRef(toClaim({ namespace, scope }), id, sha256, Number(blob.size));
  return keepUsedTime(refFolder, () => publishRecord(folder, refFolder, { created, ref }, created));
}

/** Runs work that changes a ref's folder, and gives the folder the time back at which the ref was used last. */
export async function keepUsedTime<T>(refFolder: string, work: () => Promise<T>): Promise<T> {
  const used = await folderModified(refFolder);
  const done = await work();
  if (used !== null) await stampPath(refFolder, used);
  return done;
}

/** Publishes a record that a ref gets in place of its own. False if the ref is gone. */
async function publishRecord(folder: Folder, refFolder: string, recorded: Recorded, stored: number): Promise<boolean> {
  await folder.ready();
  return folder.temporaries.aside(async (temporary) => {
    await writeFile(temporary, writeRecordText(recorded), NEW_FILE);
    await stampPath(temporary, stored);
    await folder.sync(temporary);
    // A delete moves the folder away first, so this rename fails then.
    return movePath(temporary, join(refFolder, REF));
  });
}

/**
 * The hash of the content in a ref's folder, wherever that is. Null if it cannot be read. Never throws.
 */
export async function readContentHash(refFolder: string): Promise<string | null> {
  const text = await readPlain(join(refFolder, REF), MAX_FILE).catch(() => null);
  return (text !== null && parseRecord(text)?.ref.sha256) || null;
}

function parseRecord(text: string): Recorded | null {
  try {
    const { created, ref, origin } = JSON.parse(text) as {
      created: unknown;
      ref: Record<string, unknown>;
      origin?: unknown;
    };
    const { id, sha256, size_bytes } = ref;
    if (!isArtifactId(id) || typeof sha256 !== "string" || !BLOB_NAME.test(sha256)) return null;
    if (!isCount(created) || !isCount(size_bytes)) return null;
    const isCopied = typeof origin === "string" && BLOB_NAME.test(origin);
    return { created, ref: toRef(toClaim(ref), id, sha256, size_bytes), ...(isCopied && { origin }) };
  } catch {
    return null;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function toDamagedError(): SluiceError {
  return new SluiceError("E_STORE_CORRUPT", "The record of this artifact is damaged: delete it and store it again.");
}

/** Records that an artifact was stored, first or again, and when it was used if that was later. False if it is not there. */
export async function noteStored(refFolder: string, stored: number, used: number = stored): Promise<boolean> {
  return (await stampPath(join(refFolder, REF), stored)) && stampPath(refFolder, used);
}

/** Records that an artifact was read. Ignores failures. */
export async function noteUsed(refFolder: string, stamp: number): Promise<void> {
  await stampPath(refFolder, stamp).catch(() => undefined);
}

async function stampPath(path: string, stamp: number): Promise<boolean> {
  // Plus a quarter of a microsecond: seconds in a double may be off by half of that, and Node may truncate or round.
  const seconds = (stamp + 0.25) / 1_000_000;
  try {
    await lutimes(path, seconds, seconds);
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** A ref with its times. */
export interface Listed {
  readonly created: number;
  readonly stored: StoredArtifact;
}

/** An artifact with its times. Null if there is none. */
export async function statRef(folder: Folder, key: string, id: string): Promise<StoredArtifact | null> {
  const standing = await readStanding(folder, key, id);
  return standing && toStored(standing);
}

/** The artifacts of the scope with this key, or of all. Leaves out damaged refs and those that are deleted meanwhile. */
export async function listRefs(folder: Folder, key: string | undefined): Promise<readonly StoredArtifact[]> {
  return inOrder(await listUnorderedRefs(folder, key));
}

/** The same in no order, each with the time of its creation. */
export async function listUnorderedRefs(folder: Folder, key: string | undefined): Promise<Listed[]> {
  const found: Listed[] = [];
  const read = (place: RefFolder): Promise<Listed | null> => readListedRef(folder, place).catch(() => null);
  for await (const listed of readAhead(refFolders(folder, key), read)) if (listed) found.push(listed);
  return found;
}

/** The names of a ref's folders. */
export interface RefFolder {
  readonly scope: string;
  readonly name: string;
}

/** The folders of the refs of the scope with this key, or of all. */
export async function* refFolders(folder: Folder, key?: string): AsyncGenerator<RefFolder, void, void> {
  const scopes = key === undefined ? namesIn(folder.at.refs, SCOPE_NAME) : [scopeName(key)];
  for await (const scope of scopes) {
    for await (const name of namesIn(join(folder.at.refs, scope), /./)) yield { scope, name };
  }
}

/** In the order in which they were first stored. */
export function inOrder(found: Listed[]): readonly StoredArtifact[] {
  found.sort((left, right) => left.created - right.created || (left.stored.id < right.stored.id ? -1 : 1));
  return found.map(({ stored }) => stored);
}

/** One by the names of its folders. Null if there is none. Throws E_STORE_CORRUPT. */
export async function readListedRef(folder: Folder, place: RefFolder): Promise<Listed | null> {
  const standing = await readRecord(folder, place);
  return standing && { created: standing.recorded.created, stored: toStored(standing) };
}

function toStored({ recorded, times }: Standing): StoredArtifact {
  return { ...recorded.ref, stored_at: inMilliseconds(times.stored), used_at: inMilliseconds(times.used) };
}

/**
 * Deletes a ref with this record, and the blob with its last ref. One rename removes the ref, so only one of two deletes gives true.
 * Without a record, deletes a damaged ref too; `gc` removes its blob.
 */
export async function removeRef(folder: Folder, key: string, id: string, recorded: Recorded | null): Promise<boolean> {
  if (recorded === null && !(await isThere(folder, key, id))) return false;
  return takeOut(folder, key, id, recorded?.ref.sha256, async () => true);
}

/**
 * Deletes a ref unless it was stored or read since it was seen. A rename first hides it from all processes, and its time is checked
 * after that. If it was used before the rename, it is moved back; a later put stores it again.
 */
export async function evictRef(folder: Folder, seen: StoredArtifact): Promise<boolean> {
  const key = scopeKey(seen.scope);
  if (!(await isThere(folder, key, seen.id))) return false;
  const refFolder = folder.at.refFolder(key, seen.id);
  if (!(await isUnused(refFolder, seen))) return false;
  return takeOut(folder, key, seen.id, seen.sha256, async (taken) => {
    if (await isUnused(taken, seen)) return true;
    await putBack(folder, taken, refFolder);
    return false;
  });
}

/** Deletes a ref that a copy brought from a store. A rename first hides it, and its mark is read after that. */
export async function removeCarried(folder: Folder, key: string, id: string, origin: string): Promise<boolean> {
  if (!(await isThere(folder, key, id))) return false;
  const recorded = await readRef(folder, key, id);
  if (recorded?.origin !== origin) return false;
  return takeOut(folder, key, id, recorded.ref.sha256, async (taken) => {
    const text = await readPlain(join(taken, REF), MAX_FILE).catch(() => "");
    if (parseRecord(text)?.origin === origin) return true;
    await putBack(folder, taken, folder.at.refFolder(key, id));
    return false;
  });
}

async function isThere(folder: Folder, key: string, id: string): Promise<boolean> {
  if (!isArtifactId(id) || !(await folder.check(folder.at.scopeFolder(key)))) return false;
  return isPlainFolder(folder.at.refFolder(key, id));
}

/** Hides a ref and deletes it if `confirm` agrees. False if not, or if another process was faster. */
async function takeOut(
  folder: Folder,
  key: string,
  id: string,
  sha256: string | undefined,
  confirm: (taken: string) => Promise<boolean>,
): Promise<boolean> {
  await folder.ready();
  const scopeFolder = folder.at.scopeFolder(key);
  const isGone = await folder.temporaries.aside(async (taken) => {
    const isMoved = (await orNull(rename(folder.at.refFolder(key, id), taken).then(() => true))) ?? false;
    if (!isMoved || !(await confirm(taken))) return false;
    await folder.sync(scopeFolder);
    return true;
  });
  if (!isGone) return false;
  if (sha256 !== undefined) await release(folder, sha256);
  await removeIfEmpty(scopeFolder);
  return true;
}

async function isUnused(refFolder: string, { used_at }: StoredArtifact): Promise<boolean> {
  const used = await folderModified(refFolder);
  return used !== null && inMilliseconds(used) === used_at;
}

/** Moves a ref back. If it was stored again meanwhile, that is not needed; any other failure is thrown. */
async function putBack(folder: Folder, taken: string, refFolder: string): Promise<void> {
  await folder.make(dirname(refFolder));
  try {
    await rename(taken, refFolder);
  } catch (error) {
    if (!isTaken(error)) throw error;
  }
}
