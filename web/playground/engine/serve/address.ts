/**
 * Where things are at the server that the page comes from.
 * @module
 */

/** With the session's artifacts, or with the user's files. */
export type ServedShelf = "served" | "served-files";

const FOLDERS: Readonly<Record<ServedShelf, string>> = { served: "artifacts/", "served-files": "files/" };

/** Whether bytes are to be had from the server. */
export function isServed(shelf: string): shelf is ServedShelf {
  return Object.hasOwn(FOLDERS, shelf);
}

/** The address of what lies there, below that of the server. */
export function servedPath(shelf: ServedShelf, id: string): string {
  return `${FOLDERS[shelf]}${encodeURIComponent(id)}`;
}
