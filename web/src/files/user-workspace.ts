/**
 * Where tools read and write files, where there is a file system.
 * @module
 */

/** A file that a tool wrote, open. */
export interface OutputFile extends AsyncDisposable {
  /** As it was when it was opened and checked. */
  readonly size_bytes: number;
  /** Its bytes, once. */
  stream(): ReadableStream<Uint8Array>;
}

/** One user's folder: `<tmp>/<user>/` (user storage §3, §5). */
export interface UserWorkspace extends AsyncDisposable {
  /** `/tmp/ada/`, as tools know it. */
  readonly prefix: string;
  /** Puts a file where tools read it, unless that version is there; gives the path that a tool is told. */
  input(
    file: { readonly name: string; readonly id: string; readonly size_bytes: number },
    open: () => Promise<ReadableStream<Uint8Array>>,
    signal?: AbortSignal,
  ): Promise<string>;
  /** Opens what a tool says it wrote. Throws SluiceError E_INVALID_PATH, E_FILE_TOO_LARGE. */
  openOutput(path: string): Promise<OutputFile>;
  /** Empties it. */
  clear(): Promise<void>;
}

/**
 * Opens a user's folder.
 *
 * @param name what the user is called there, see `workspaceName`: plain, and nobody else's.
 */
export type OpenWorkspace = (name: string) => Promise<UserWorkspace>;
