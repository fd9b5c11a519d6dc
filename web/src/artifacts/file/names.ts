/**
 * An index of file names, so that a ref is found by its name without reading all refs of a scope. Each entry is an empty file,
 * `names/<scope>/<hash of the name>/<ref>@<created>`.
 *
 * An entry is written before its ref gets the name and removed after, so a crash may leave an extra entry but never loses one.
 * Each entry is therefore checked against its ref. After removing an entry, a rename looks at the ref again, since another process
 * may have renamed it back.
 * @module
 */
import { createHash } from "node:crypto";
import { lstat, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { checkObject } from "../../errors/arguments.js";
import { readAhead } from "../read-ahead.js";
import { scopeKey } from "../scope.js";
import type { ArtifactPatch, ArtifactRef, StoredArtifact } from "../store.js";
import { toId, toFileName, SCOPE_NAME, scopeName, type Folder } from "./folder.js";
import { createFile, isAbsent, namesIn, orNull, removeIfEmpty } from "./plain-file.js";
import {
  inOrder,
  readListedRef,
  listUnorderedRefs,
  listRefs,
  readRef,
  updateRef,
  type Listed,
  type Recorded,
} from "./refs.js";

const NAME_FOLDER = /^[0-9a-f]{40}$/;
const ENTRY = /^(.+)@([0-9a-z]{1,12})$/;
/** Marks that each ref with a name has an entry. */
const COMPLETE = "complete";
/** Milliseconds that an entry without a ref is kept: its ref may be about to be published. */
const YOUNG = 60 * 60 * 1000;
const ATTEMPTS = 8;

/** One ref's name. */
interface Entry {
  readonly scope: string;
  readonly id: string;
  readonly created: number;
  readonly filename: string;
}

function toEntry(key: string, { created, ref }: Recorded, filename: string): Entry {
  return { scope: scopeName(key), id: ref.id, created, filename };
}

/** Adds the entry of a ref that is about to be published, if it has a name. */
export async function noteName(folder: Folder, key: string, recorded: Recorded): Promise<void> {
  const { filename } = recorded.ref;
  if (filename !== null) await add(folder, toEntry(key, recorded, filename));
}

/** Removes the entry of a ref that was not published, or is gone. */
export async function dropName(folder: Folder, key: string, recorded: Recorded): Promise<void> {
  const { filename } = recorded.ref;
  // If that fails, it is ignored in lists and swept later.
  if (filename !== null) await drop(folder, toEntry(key, recorded, filename)).catch(() => undefined);
}

/** Whether a ref is found by its name. One without a name is, and so are all of a store without an index, which is made when asked. */
export async function isFoundByName(folder: Folder, key: string, recorded: Recorded): Promise<boolean> {
  const { filename } = recorded.ref;
  if (filename === null || (await orNull(lstat(join(folder.at.names, COMPLETE))))?.isFile() !== true) return true;
  return (await orNull(lstat(toPath(folder, toEntry(key, recorded, filename)))))?.isFile() === true;
}

/** Runs work that may delete a ref, whose record it gets if that can be read, and then removes its entry. */
export async function withoutName(
  folder: Folder,
  key: string,
  id: string,
  remove: (recorded: Recorded | null) => Promise<boolean>,
): Promise<boolean> {
  const recorded = await readRef(folder, key, id).catch(() => null);
  const isGone = await remove(recorded);
  if (isGone && recorded) await dropName(folder, key, recorded);
  return isGone;
}

/** The same as `updateRef`, and moves the entry of the ref. */
export async function renameRef(
  folder: Folder,
  key: string,
  id: string,
  patch: ArtifactPatch,
  origin?: string,
): Promise<ArtifactRef | null> {
  const { filename } = checkObject(patch, "patch");
  const before = filename === undefined ? null : await readRef(folder, key, id);
  if (before === null) return updateRef(folder, key, id, patch, origin);
  // Also a name that it has already: another process may take it away before this one has written it.
  const [old, next] = [before.ref.filename === filename ? null : before.ref.filename, filename].map((name) =>
    typeof name === "string" ? toEntry(key, before, name) : undefined,
  );
  const isNow = async (entry: Entry): Promise<boolean> => {
    const now = await readRef(folder, key, id).catch(() => null);
    return now?.created === entry.created && now.ref.filename === entry.filename;
  };
  if (next !== undefined) await add(folder, next);
  const ref = await updateRef(folder, key, id, patch, origin);
  // Another process may have renamed it back meanwhile and removed the entry.
  if (next !== undefined && ref !== null) await add(folder, next);
  if (old !== undefined && ref !== null) await dropUnless(folder, old, isNow);
  if (next !== undefined && !(await isNow(next))) await dropUnless(folder, next, isNow);
  return ref;
}

async function dropUnless(folder: Folder, entry: Entry, isNow: (entry: Entry) => Promise<boolean>): Promise<void> {
  await drop(folder, entry);
  if (await isNow(entry)) await add(folder, entry);
}

/** The artifacts of a scope with one name, in the order in which they were first stored. */
export async function refsNamed(folder: Folder, key: string, filename: string): Promise<readonly StoredArtifact[]> {
  if (!(await isComplete(folder))) return (await listRefs(folder, key)).filter((ref) => ref.filename === filename);
  const scope = scopeName(key);
  const place = toPlace(folder, { scope, filename });
  if (!(await folder.check(join(folder.at.names, scope)))) return [];
  const found: Listed[] = [];
  const read = (name: string): Promise<Listed | null> => refOfEntry(folder, { place, name, scope, filename });
  for await (const listed of readAhead(namesIn(place, ENTRY), read)) if (listed) found.push(listed);
  return inOrder(found);
}

/** Removes entries older than an hour whose ref is gone or has another name. */
export async function sweepNames(folder: Folder): Promise<void> {
  for await (const scope of namesIn(folder.at.names, SCOPE_NAME)) {
    const scopeFolder = join(folder.at.names, scope);
    if (!(await folder.check(scopeFolder))) continue;
    for await (const hash of namesIn(scopeFolder, NAME_FOLDER)) {
      const place = join(scopeFolder, hash);
      for await (const name of namesIn(place, ENTRY)) await refOfEntry(folder, { place, name, scope, filename: null });
      await removeIfEmpty(place);
    }
    await removeIfEmpty(scopeFolder);
  }
}

function toPlace({ at }: Folder, { scope, filename }: Pick<Entry, "scope" | "filename">): string {
  return join(at.names, scope, hashFilename(filename));
}

function hashFilename(filename: string): string {
  // As JSON, since UTF-8 would make all lone surrogates the same.
  return createHash("sha256").update(JSON.stringify(filename)).digest("hex").slice(0, 40);
}

function toPath(folder: Folder, entry: Entry): string {
  return join(toPlace(folder, entry), `${toFileName(entry.id)}@${entry.created.toString(36)}`);
}

async function add(folder: Folder, entry: Entry): Promise<void> {
  await folder.ready();
  const path = toPath(folder, entry);
  const place = toPlace(folder, entry);
  for (let attempt = 1; ; attempt++) {
    try {
      await folder.make(join(folder.at.names, entry.scope));
      await folder.make(place);
      await writeEntry(path);
      await folder.sync(place);
      return;
    } catch (error) {
      // The folder is removed with its last entry.
      if (!isAbsent(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Writes an entry, or renews the time of one that exists. */
async function writeEntry(path: string): Promise<void> {
  const now = new Date();
  if (!(await createFile(path, ""))) await utimes(path, now, now);
}

async function drop(folder: Folder, entry: Entry): Promise<void> {
  await orNull(unlink(toPath(folder, entry)));
  await removeIfEmpty(toPlace(folder, entry));
}

/** An entry and its name. Null if no name was asked for. */
interface EntryPlace {
  readonly place: string;
  readonly name: string;
  readonly scope: string;
  readonly filename: string | null;
}

/** The ref of an entry. Null if it is gone or has another name; such an entry is swept later. */
async function refOfEntry(folder: Folder, { place, name, scope, filename }: EntryPlace): Promise<Listed | null> {
  const [, refName = "", created = ""] = ENTRY.exec(name) ?? [];
  const listed = await readListedRef(folder, { scope, name: refName }).catch(() => null);
  const found = listed?.stored.id === toId(refName) && listed.created === parseInt(created, 36) ? listed : null;
  const isNamed = filename === null ? isAt(found, place) : found?.stored.filename === filename;
  if (found && isNamed) return found;
  const path = join(place, name);
  const entry = await orNull(lstat(path));
  if (entry && Math.abs(Date.now() - entry.mtimeMs) > YOUNG) await orNull(unlink(path)).catch(() => undefined);
  return null;
}

function isAt(found: Listed | null, place: string): boolean {
  const name = found?.stored.filename ?? null;
  return name !== null && place.endsWith(hashFilename(name));
}

/** Folders that are known to have an entry for each ref with a name. */
const known = new WeakSet<Folder>();

/**
 * Writes the missing entries of a store that is older than this index, once. False if nothing can be written: all refs must be read
 * then.
 */
async function isComplete(folder: Folder): Promise<boolean> {
  const marker = join(folder.at.names, COMPLETE);
  if (!known.has(folder) && (await orNull(lstat(marker)))?.isFile() !== true) {
    try {
      for (const { created, stored } of await listUnorderedRefs(folder, undefined)) {
        const { filename, id, scope } = stored;
        if (filename !== null) await add(folder, { scope: scopeName(scopeKey(scope)), id, created, filename });
      }
      await folder.ready();
      await writeEntry(marker);
    } catch {
      return false;
    }
  }
  known.add(folder);
  return true;
}
