/**
 * Where bytes lie, and how they are named: what the page and the workers agree on.
 * @module
 */

/** With the session's artifacts, or in My Files. */
export type Shelf = "session" | "files";

/** A key for each shelf: who has one may read what lies there. */
export type Keys = Readonly<Record<Shelf, string>>;

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
