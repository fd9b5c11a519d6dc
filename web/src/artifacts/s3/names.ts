/**
 * Which refs of a scope have a name, so that one is found without reading all: `…/names/{hash of the name}/{id}@{created}`, an empty
 * object for each.
 *
 * An entry is there before a ref has the name, and goes after it: what dies in between leaves an entry too much, and never one
 * too few. So each is held against its ref before it counts. Where two change one ref's name at once, each looks again after it
 * took an entry away.
 * @module
 */
import { sha256 } from "#hash";
import { isArtifactId } from "../reference.js";
import type { Bucket } from "./bucket.js";

const NOTHING = new Uint8Array(0);
/** 128 bits. */
const DIGITS = 32;
const NAME_KEY = /^scopes\/(?:[^/]+\/){4}names\/[0-9a-f]{32}\/([^/@]+)@([0-9a-z]{1,12})$/;
/** Says that each ref with a name has an entry. */
const COMPLETE = "names-complete";

/** The name of a ref that is there since then. */
export interface Named {
  /** Of its scope. */
  readonly folder: string;
  readonly id: string;
  readonly created: number;
  readonly filename: string | null;
}

/** The key of an entry; null for a ref without a name. */
export async function nameKey({ folder, id, created, filename }: Named): Promise<string | null> {
  return filename === null ? null : `${await namesIn(folder, filename)}${id}@${created.toString(36)}`;
}

/** Whether a key is that of an entry. */
export function isNameKey(key: string): boolean {
  return NAME_KEY.test(key);
}

/** Notes a name, where there is one. */
export async function addName(bucket: Bucket, named: Named): Promise<void> {
  const key = await nameKey(named);
  if (key !== null) await bucket.write(key, NOTHING);
}

/** Takes an entry away, where there is one. */
export async function dropName(bucket: Bucket, named: Named): Promise<void> {
  const key = await nameKey(named);
  if (key !== null) await bucket.remove(key);
}

/** Writes what gives a ref another name, unless somebody else comes first: null. `nameNow` says which it has then. */
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
  // Somebody who renamed it back meanwhile may have taken the entry away.
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

/** The refs that may have a name, by their ids and when they were made. */
export async function* entriesOf(
  bucket: Bucket,
  folder: string,
  filename: string,
): AsyncGenerator<{ readonly id: string; readonly created: number }, void, void> {
  for await (const { key } of bucket.list(await namesIn(folder, filename))) {
    const [, id = "", created = ""] = NAME_KEY.exec(key) ?? [];
    if (isArtifactId(id)) yield { id, created: parseInt(created, 36) };
  }
}

/** Buckets of which it is known that each ref with a name has an entry. */
const known = new WeakSet<Bucket>();

/**
 * Sees to it that each ref with a name has an entry: once for a bucket that was written to before there were entries. False where
 * nothing can be written: then only a list of all tells.
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
  // As JSON, which keeps lone halves of pairs apart.
  const hash = await sha256.whole(new TextEncoder().encode(JSON.stringify(filename)));
  return `${folder}names/${hash.slice(0, DIGITS)}/`;
}
