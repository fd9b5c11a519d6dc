/**
 * An index of file names, so that a ref is found by its name without reading all refs of a scope. Each entry is an empty object,
 * `…/names/{hash of the name}/{id}@{created}`.
 *
 * An entry is written before its ref gets the name and removed after, so a crash may leave an extra entry but never loses one.
 * Each entry is therefore checked against its ref. After removing an entry, a rename looks at the ref again, since another process
 * may have renamed it back.
 * @module
 */
import { sha256 } from "#hash";
import { isArtifactId } from "../reference.js";
import type { Bucket } from "./bucket.js";

const NOTHING = new Uint8Array(0);
/** 128 bits. */
const DIGITS = 32;
const NAME_KEY = /^scopes\/(?:[^/]+\/){4}names\/[0-9a-f]{32}\/([^/@]+)@([0-9a-z]{1,12})$/;
/** Marks that each ref with a name has an entry. */
const COMPLETE = "names-complete";

/** The name of a ref that was created at that time. */
export interface Named {
  /** The folder of its scope. */
  readonly folder: string;
  readonly id: string;
  readonly created: number;
  readonly filename: string | null;
}

/** The key of an entry. Null for a ref without a name. */
export async function nameKey({ folder, id, created, filename }: Named): Promise<string | null> {
  return filename === null ? null : `${await namesIn(folder, filename)}${id}@${created.toString(36)}`;
}

/** Whether a key is that of an entry. */
export function isNameKey(key: string): boolean {
  return NAME_KEY.test(key);
}

/** Writes an entry, if the ref has a name. */
export async function addName(bucket: Bucket, named: Named): Promise<void> {
  const key = await nameKey(named);
  if (key !== null) await bucket.write(key, NOTHING);
}

/** Deletes an entry, if the ref has a name. */
export async function dropName(bucket: Bucket, named: Named): Promise<void> {
  const key = await nameKey(named);
  if (key !== null) await bucket.remove(key);
}

/** Runs a write that renames a ref. Null if another process came first. `nameNow` reads the name that the ref has then. */
export async function renaming(
  bucket: Bucket,
  { before, filename }: { readonly before: Named; readonly filename: string | null },
  write: () => Promise<string | null>,
  nameNow: () => Promise<Named | null>,
): Promise<string | null> {
  if (before.filename === filename) return write();
  const next = { ...before, filename };
  await addName(bucket, next);
  const done = await write();
  // Another process may have renamed it back meanwhile and removed the entry.
  if (done !== null) await addName(bucket, next);
  if (done !== null) await dropUnlessNamed(bucket, before, nameNow);
  const now = await nameNow();
  if (!isSame(now, next)) await dropUnlessNamed(bucket, next, nameNow);
  return done;
}

async function dropUnlessNamed(bucket: Bucket, named: Named, nameNow: () => Promise<Named | null>): Promise<void> {
  await dropName(bucket, named);
  if (isSame(await nameNow(), named)) await addName(bucket, named);
}

function isSame(now: Named | null, { created, filename }: Named): boolean {
  return now?.created === created && now.filename === filename;
}

/** The refs that may have a name, by id and time of creation. */
export async function* listEntries(
  bucket: Bucket,
  folder: string,
  filename: string,
): AsyncGenerator<{ readonly id: string; readonly created: number }, void, void> {
  for await (const { key } of bucket.list(await namesIn(folder, filename))) {
    const [, id = "", created = ""] = NAME_KEY.exec(key) ?? [];
    if (isArtifactId(id)) yield { id, created: parseInt(created, 36) };
  }
}

/** Buckets that are known to have an entry for each ref with a name. */
const known = new WeakSet<Bucket>();

/**
 * Writes the missing entries of a bucket that is older than this index, once. False if nothing can be written: all refs must be read
 * then.
 */
export async function isComplete(bucket: Bucket, all: () => AsyncIterable<Named>): Promise<boolean> {
  if (!known.has(bucket) && (await bucket.size(COMPLETE)) === null) {
    try {
      for await (const named of all()) await addName(bucket, named);
      await bucket.write(COMPLETE, NOTHING);
    } catch {
      return false;
    }
  }
  known.add(bucket);
  return true;
}

async function namesIn(folder: string, filename: string): Promise<string> {
  // As JSON, since UTF-8 would make all lone surrogates the same.
  const hash = await sha256.whole(new TextEncoder().encode(JSON.stringify(filename)));
  return `${folder}names/${hash.slice(0, DIGITS)}/`;
}
