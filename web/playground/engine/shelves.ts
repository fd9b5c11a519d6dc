/**
 * Where bytes lie, and how they are named: what the page and the workers agree on.
 * @module
 */

import type { ServedShelf } from "./serve/address.js";

/** In this browser: with the session's artifacts, or in My Files. */
export type OwnShelf = "session" | "files";

/** Those, and what is had from the server that the page comes from. */
export type Shelf = OwnShelf | ServedShelf;

/** A key for each shelf of this browser's: who has one may read what lies there. */
export type Keys = Readonly<Record<OwnShelf, string>>;

/** The folder of archives, beside the page. */
const ARCHIVES = "archives/";

/** The path of a shelf as one file. */
export function archivePath(key: string): string {
  return `${ARCHIVES}${key}.zip`;
}

/** The key in such a path, below where the service worker is; undefined in any other. */
export function keyOfArchive(path: string): string | undefined {
  return /^archives\/([\w-]{22})\.zip$/.exec(path)?.[1];
}
