/**
 * Which refs of a scope have a name, so that one is found without reading all: `names/<scope>/<hash of the name>/<ref>@<created>`, an
 * empty file for each.
 *
 * An entry is there before a ref has the name, and goes after it: what dies in between leaves an entry too much, and never one
 * too few. So each is held against its ref before it counts. Where two change one ref's name at once, each looks again after it
 * took an entry away.
 * @module
 */
import { createHash } from "node:crypto";
import { lstat, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../../errors/storage.js";
import { objectOf } from "../../errors/arguments.js";
import { scopeKey } from "../scope.js";
import type { ArtifactPatch, ArtifactRef, StoredArtifact } from "../store.js";
import { idOf, nameOf, SCOPE_NAME, scopeName, type Folder } from "./folder.js";
import { FILE_MODE, isAbsent, namesIn, orNull, removeIfEmpty } from "./plain.js";
import { inOrder, listedRef, listedRefs, listRefs, readRef, updateRef, type Listed, type Recorded } from "./refs.js";

const NAME_FOLDER = /^[0-9a-f]{40}$/;
const ENTRY = /^(.+)@([0-9a-z]{1,12})$/;
/** Says that each ref with a name has an entry. */
const COMPLETE = "complete";
/** Milliseconds that an entry without a ref is left alone: whoever made it may be about to publish. */
const YOUNG = 60 * 60 * 1000;
const ATTEMPTS = 8;
const AT_ONCE = 16;

/** One ref's name. */
interface Entry {
  readonly scope: string;
  readonly id: string;
  readonly created: number;
  readonly filename: string;
}

function entryOf(key: string, { created, ref }: Recorded, filename: string): Entry {
  return { scope: scopeName(key), id: ref.id, created, filename };
}

/** Notes the name of a ref that is about to be published, where it has one. */
export async function noteName(folder: Folder, key: string, recorded: Recorded): Promise<void> {
  const { filename } = recorded.ref;
  if (filename !== null) await add(folder, entryOf(key, recorded, filename));
}

/** Takes the name back of one that was not published after all, or is gone. */
export async function dropName(folder: Folder, key: string, recorded: Recorded): Promise<void> {
  const { filename } = recorded.ref;
  // What cannot be removed now is passed over, and swept later.
  if (filename !== null) await drop(folder, entryOf(key, recorded, filename)).catch(() => undefined);
}

/** Does what may delete a ref; its name goes with it. */
export async function withoutName(
  folder: Folder,
  key: string,
  id: string,
  remove: () => Promise<boolean>,
): Promise<boolean> {
  const recorded = await readRef(folder, key, id).catch(() => null);
  const isGone = await remove();
  if (isGone && recorded) await dropName(folder, key, recorded);
  return isGone;
}

/** `updateRef`, with the ref found by its new name, and no longer by the old one. */
export async function renameRef(
  folder: Folder,
  key: string,
  id: string,
  patch: ArtifactPatch,
): Promise<ArtifactRef | null> {
  const { filename } = objectOf(patch, "patch");
  const before = filename === undefined ? null : await readRef(folder, key, id);
  if (before === null || before.ref.filename === filename) return updateRef(folder, key, id, patch);
  const [old, next] = [before.ref.filename, filename].map((name) =>
    typeof name === "string" ? entryOf(key, before, name) : undefined,
  );
  const isNow = async (entry: Entry): Promise<boolean> => {
    const now = await readRef(folder, key, id).catch(() => null);
    return now?.created === entry.created && now.ref.filename === entry.filename;
  };
  if (next !== undefined) await add(folder, next);
  const ref = await updateRef(folder, key, id, patch);
  // Somebody who renamed it back meanwhile may have taken the entry away.
  if (next !== undefined && ref !== null) await add(folder, next);
  if (old !== undefined && ref !== null) await dropUnless(folder, old, isNow);
  if (next !== undefined && !(await isNow(next))) await dropUnless(folder, next, isNow);
  return ref;
}

async function dropUnless(folder: Folder, entry: Entry, isNow: (entry: Entry) => Promise<boolean>): Promise<void> {
  await drop(folder, entry);
  if (await isNow(entry)) await add(folder, entry);
}

/** What a scope has of one name, in the order of being stored first. */
export async function refsNamed(folder: Folder, key: string, filename: string): Promise<readonly StoredArtifact[]> {
  if (!(await isComplete(folder))) return (await listRefs(folder, key)).filter((ref) => ref.filename === filename);
  const scope = scopeName(key);
  const place = placeOf(folder, { scope, filename });
  if (!(await folder.check(join(folder.at.names, scope)))) return [];
  const found: Listed[] = [];
  let reading: Promise<Listed | null>[] = [];
  const gather = async (): Promise<void> => {
    for (const listed of await Promise.all(reading)) if (listed) found.push(listed);
    reading = [];
  };
  for await (const name of namesIn(place, ENTRY)) {
    reading.push(refOfEntry(folder, { place, name, scope, filename }));
    if (reading.length === AT_ONCE) await gather();
  }
  await gather();
  return inOrder(found);
}

/** Removes entries older than an hour that lead to no ref of their name. */
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

function placeOf({ at }: Folder, { scope, filename }: Pick<Entry, "scope" | "filename">): string {
  return join(at.names, scope, hashOf(filename));
}

function hashOf(filename: string): string {
  // As JSON, which keeps lone halves of pairs apart.
  return createHash("sha256").update(JSON.stringify(filename)).digest("hex").slice(0, 40);
}

function pathOf(folder: Folder, entry: Entry): string {
  return join(placeOf(folder, entry), `${nameOf(entry.id)}@${entry.created.toString(36)}`);
}

async function add(folder: Folder, entry: Entry): Promise<void> {
  await folder.ready();
  const path = pathOf(folder, entry);
  const place = placeOf(folder, entry);
  for (let attempt = 1; ; attempt++) {
    try {
      await folder.make(join(folder.at.names, entry.scope));
      await folder.make(place);
      await written(path);
      await folder.sync(place);
      return;
    } catch (error) {
      // The last entry of a name takes its folder away.
      if (!isAbsent(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** One that is there is young again. */
async function written(path: string): Promise<void> {
  try {
    await writeFile(path, "", { flag: "wx", mode: FILE_MODE });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    const now = new Date();
    await utimes(path, now, now);
  }
}

async function drop(folder: Folder, entry: Entry): Promise<void> {
  await orNull(unlink(pathOf(folder, entry)));
  await removeIfEmpty(placeOf(folder, entry));
}

/** Where an entry is, and the name that it stands for; null where nobody asked for one. */
interface EntryPlace {
  readonly place: string;
  readonly name: string;
  readonly scope: string;
  readonly filename: string | null;
}

/** The ref that an entry leads to; null for one that has another name by now, or is gone. Such an entry goes in time. */
async function refOfEntry(folder: Folder, { place, name, scope, filename }: EntryPlace): Promise<Listed | null> {
  const [, refName = "", created = ""] = ENTRY.exec(name) ?? [];
  const listed = await listedRef(folder, scope, refName).catch(() => null);
  const found = listed?.stored.id === idOf(refName) && listed.created === parseInt(created, 36) ? listed : null;
  const isNamed = filename === null ? isAt(found, place) : found?.stored.filename === filename;
  if (found && isNamed) return found;
  const path = join(place, name);
  const entry = await orNull(lstat(path));
  if (entry && Math.abs(Date.now() - entry.mtimeMs) > YOUNG) await orNull(unlink(path)).catch(() => undefined);
  return null;
}

function isAt(found: Listed | null, place: string): boolean {
  const name = found?.stored.filename ?? null;
  return name !== null && place.endsWith(hashOf(name));
}

/** Folders of which it is known that each ref with a name has an entry. */
const known = new WeakSet<Folder>();

/**
 * Sees to it that each ref with a name has an entry: once for a store that was written before there were entries. False where nothing
 * can be written: then only a list of all tells.
 */
async function isComplete(folder: Folder): Promise<boolean> {
  const marker = join(folder.at.names, COMPLETE);
  if (!known.has(folder) && (await orNull(lstat(marker)))?.isFile() !== true) {
    try {
      for (const { created, stored } of await listedRefs(folder, undefined)) {
        const { filename, id, scope } = stored;
        if (filename !== null) await add(folder, { scope: scopeName(scopeKey(scope)), id, created, filename });
      }
      await folder.ready();
      await written(marker);
    } catch {
      return false;
    }
  }
  known.add(folder);
  return true;
}
