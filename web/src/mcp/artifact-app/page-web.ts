/**
 * The page of the app in browsers and workers, where the package has no files: there is none.
 * @module
 */

/** Nothing: interceptors in browsers offer no app. */
export async function readPage(): Promise<string | undefined> {
  return undefined;
}
