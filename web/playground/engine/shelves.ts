/**
 * The shelves that bytes are on and the paths to them. The page and both workers share these.
 * @module
 */

/** The shelves in this browser: the session's artifacts and My Files. */
type OwnShelf = "session" | "files";

/** All shelves, with those at the page's server. */
export type Shelf = OwnShelf | ServedShelf;

/** A key for each shelf in this browser. A key grants access to all bytes on its shelf. */
export type Keys = Readonly<Record<OwnShelf, string>>;

/** The folder of archives. */
const ARCHIVES = "archives/";

/** The path of a shelf as a ZIP. */
export function archivePath(key: string): string {
  return `${ARCHIVES}${key}.zip`;
}

/** The key in the path of an archive; undefined for any other path. */
export function keyOfArchive(path: string): string | undefined {
  return /^archives\/([\w-]{22})\.zip$/.exec(path)?.[1];
}

/** The shelves at the page's server: the session's artifacts and the user's files. */
export type ServedShelf = "served" | "served-files";

const FOLDERS: Readonly<Record<ServedShelf, string>> = { served: "artifacts/", "served-files": "files/" };

/** Whether a shelf is at the page's server. */
export function isServed(shelf: string): shelf is ServedShelf {
  return Object.hasOwn(FOLDERS, shelf);
}

/** The path of an artifact, relative to the server's URL. */
export function toServedPath(shelf: ServedShelf, id: string): string {
  return `${FOLDERS[shelf]}${encodeURIComponent(id)}`;
}
