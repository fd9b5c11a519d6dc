/**
 * Names of users' files and folders: whatever somebody calls a file, what is kept is one name in one folder of any system.
 * @module
 */
import { sha256 } from "#hash";
import { nearest } from "../errors/arguments.js";
import type { FileOwner } from "./user-storage.js";

/** UTF-8 bytes: the least of what file systems take. */
const MAX_BYTES = 255;
/** UTF-8 bytes of an extension, its dot included; what is longer is none. */
const MAX_EXTENSION = 20;
/** The name of what has none. */
const NAMELESS = "file";

/** What cannot be seen, or moves what can: controls, joiners, direction marks, halves of letters, private letters. */
export const HIDDEN: RegExp = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;
/** What some system keeps for itself. */
const RESERVED = /[<>:"|?*]/g;
/** Names that Windows keeps for devices, whatever their extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])[ ]*(?:\.|$)/i;
/** What notes of ours begin with. */
const OURS = /^\[sluice\]/i;

/**
 * The name that a file is kept by: its last path component, of `/` and `\`, without a drive, hidden characters, reserved ones,
 * and dots or spaces at its ends; NFC; at most 255 UTF-8 bytes, with its extension. Never empty, never a device of Windows, and the
 * same for a name that came from here.
 */
export function fileName(name: string): string {
  const path = name.replaceAll("\\", "/").replace(/\/+$/, "");
  const last = path.slice(path.lastIndexOf("/") + 1).replace(/^[a-z]:(?=.)/i, "");
  const plain = last.replace(HIDDEN, "").replace(RESERVED, "_");
  const trimmed = trim(plain.normalize("NFC").replace(/\s+/gu, " "));
  const safe = DEVICE.test(trimmed) || OURS.test(trimmed) ? `_${trimmed}` : trimmed;
  return cut(safe) || NAMELESS;
}

/** Systems hide what begins with a dot, and lose dots and spaces at an end. */
function trim(name: string): string {
  return name.replace(/^[. ]+/, "").replace(/[. ]+$/, "");
}

/**
 * A file's name with a number behind its stem: `report (2).pdf`. A long stem is shortened, so that each number makes another name.
 *
 * @param name as `fileName` gives it.
 */
export function numberedName(name: string, number: number): string {
  const [stem, extension] = partsOf(name);
  const end = ` (${number})${extension}`;
  return fileName(begin(stem, MAX_BYTES - bytesOf(end)) + end);
}

function cut(name: string): string {
  if (bytesOf(name) <= MAX_BYTES) return name;
  const [stem, extension] = partsOf(name);
  return trim(begin(stem, MAX_BYTES - bytesOf(extension)) + extension);
}

/** A name's stem, and its extension with the dot, empty where there is none. */
function partsOf(name: string): readonly [stem: string, extension: string] {
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 && bytesOf(name.slice(dot)) <= MAX_EXTENSION ? name.slice(dot) : "";
  return [name.slice(0, name.length - extension.length), extension];
}

/** The beginning of a text, in whole code points. */
function begin(text: string, bytes: number): string {
  let [length, left] = [0, bytes];
  for (const point of text) {
    left -= bytesOf(point);
    if (left < 0) break;
    length += point.length;
  }
  return text.slice(0, length);
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Small letters alone: some file systems take `Ada` and `ada` for one. */
const PLAIN = /^[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9_-])?$/;
/** What a hashed name ends with: an id that does so itself is hashed as well. */
const HASHED = /-[0-9a-f]{24}$/;
/** So many that nobody finds an id which leads to another's folder. */
const HASH_DIGITS = 24;
const MAX_BEGINNING = 24;

/**
 * The folder name and `username` of an owner: the user's id itself where it is a plain name in small letters and there is neither
 * a tenant nor a session, else a plain beginning and 24 hex digits of a hash of all three. No two owners have one, also on file
 * systems that do not tell capitals from small letters.
 */
export async function workspaceName(owner: FileOwner): Promise<string> {
  const { tenant_id: tenant = null, user_id: user, session_id: session = null } = owner;
  if (tenant === null && session === null && PLAIN.test(user) && !DEVICE.test(user) && !HASHED.test(user)) return user;
  const digest = await sha256.whole(new TextEncoder().encode(JSON.stringify([tenant, user, session])));
  return `${beginning(user)}-${digest.slice(0, HASH_DIGITS)}`;
}

/** What a person recognises of an id. */
function beginning(user: string): string {
  const plain = user.slice(0, 256).normalize("NFKD").toLowerCase();
  const letters = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-/, "");
  return letters.slice(0, MAX_BEGINNING).replace(/-$/, "") || "user";
}

/** Names that are told. */
const MAX_TOLD = 3;
/** Names that are compared: each costs the square of its length. */
const MAX_COMPARED = 2000;

/** Names near to one that there is not, the nearest first; case counts for nothing. */
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
