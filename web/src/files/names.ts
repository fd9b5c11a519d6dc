/**
 * Names of users' files and folders, valid on every system.
 * @module
 */
import { sha256 } from "#hash";
import { nearest } from "../errors/arguments.js";
import type { ArtifactScope } from "../artifacts/store.js";

/** Longest name in UTF-8 bytes: the least limit of common file systems. */
const MAX_BYTES = 255;
/** Longest extension in UTF-8 bytes, including its dot. */
const MAX_EXTENSION = 20;
/** The name of a file without one. */
const NAMELESS = "file";

/** Characters that are invisible or change the order of others: controls, joiners, direction marks, surrogates, private use. */
export const HIDDEN: RegExp = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;
/** Characters that some system reserves. */
const RESERVED = /[<>:"|?*]/g;
/** Names that Windows reserves for devices, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])[ ]*(?:\.|$)/i;
/** The beginning of our own notes. */
const OURS = /^\[sluice\]/i;

/**
 * The name that a file is kept by: the last path component (separated by `/` or `\`), without a drive, hidden or reserved
 * characters, and dots or spaces at its ends; in NFC; at most 255 UTF-8 bytes including the extension. It is never empty and
 * never a device of Windows. Idempotent.
 */
export function fileName(name: string): string {
  const path = name.replaceAll("\\", "/").replace(/\/+$/, "");
  const last = path.slice(path.lastIndexOf("/") + 1).replace(/^[a-z]:(?=.)/i, "");
  const plain = last.replace(HIDDEN, "").replace(RESERVED, "_");
  const trimmed = trim(plain.normalize("NFC").replace(/\s+/gu, " "));
  const safe = DEVICE.test(trimmed) || OURS.test(trimmed) ? `_${trimmed}` : trimmed;
  return cut(safe) || NAMELESS;
}

/** Systems hide files that begin with a dot, and remove dots and spaces at the end. */
function trim(name: string): string {
  return name.replace(/^[. ]+/, "").replace(/[. ]+$/, "");
}

/**
 * Adds a number to the stem of a name: `report (2).pdf`. Shortens a long stem, so that each number gives a different name.
 *
 * @param name a result of `fileName`.
 */
export function numberName(name: string, number: number): string {
  const [stem, extension] = splitName(name);
  const end = ` (${number})${extension}`;
  return fileName(begin(stem, MAX_BYTES - countBytes(end)) + end);
}

function cut(name: string): string {
  if (countBytes(name) <= MAX_BYTES) return name;
  const [stem, extension] = splitName(name);
  return trim(begin(stem, MAX_BYTES - countBytes(extension)) + extension);
}

/** A name's stem and its extension with the dot; an empty extension if it has none. */
function splitName(name: string): readonly [stem: string, extension: string] {
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 && countBytes(name.slice(dot)) <= MAX_EXTENSION ? name.slice(dot) : "";
  return [name.slice(0, name.length - extension.length), extension];
}

/** The beginning of a text, at most `bytes` long, in whole code points. */
function begin(text: string, bytes: number): string {
  let [length, left] = [0, bytes];
  for (const point of text) {
    left -= countBytes(point);
    if (left < 0) break;
    length += point.length;
  }
  return text.slice(0, length);
}

function countBytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Lower case only: some file systems treat `Ada` and `ada` as one name. */
const PLAIN = /^[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9_-])?$/;
/** The end of a hashed name. An id that ends so is hashed as well. */
const HASHED = /-[0-9a-f]{24}$/;
/** Enough digits that an id with the same hash cannot be found. */
const HASH_DIGITS = 24;
const MAX_BEGINNING = 24;

/**
 * The folder name and `username` of an owner: the user's id if it is a plain name in lower case and the owner has neither
 * tenant nor session; else a plain beginning and 24 hex digits of a hash of all three. Names are unique, even on file systems
 * that ignore case.
 */
export async function workspaceName(owner: FileOwner): Promise<string> {
  const { tenant_id: tenant = null, user_id: user, session_id: session = null } = owner;
  if (tenant === null && session === null && PLAIN.test(user) && !DEVICE.test(user) && !HASHED.test(user)) return user;
  const digest = await sha256.whole(new TextEncoder().encode(JSON.stringify([tenant, user, session])));
  return `${beginning(user)}-${digest.slice(0, HASH_DIGITS)}`;
}

/** The part of an id that a person recognises. */
function beginning(user: string): string {
  const plain = user.slice(0, 256).normalize("NFKD").toLowerCase();
  const letters = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-/, "");
  return letters.slice(0, MAX_BEGINNING).replace(/-$/, "") || "user";
}

/** Most names that are suggested. */
const MAX_TOLD = 3;
/** Most names that are compared: each takes time quadratic in its length. */
const MAX_COMPARED = 2000;

/** Names similar to a missing one, nearest first, ignoring case. */
export function nearestNames(name: string, names: readonly string[]): readonly string[] {
  const byKey = new Map(names.slice(0, MAX_COMPARED).map((each) => [each.toLowerCase(), each]));
  const told: string[] = [];
  while (told.length < MAX_TOLD) {
    const key = nearest(name.toLowerCase(), byKey.keys());
    if (key === undefined) break;
    told.push(byKey.get(key) as string);
    byKey.delete(key);
  }
  return told;
}

/** The owner of files: a user, with a tenant if there are tenants, and a session if files do not outlive it. */
export type FileOwner = Pick<ArtifactScope, "tenant_id" | "session_id"> & {
  /** Never empty. */
  readonly user_id: string;
};
