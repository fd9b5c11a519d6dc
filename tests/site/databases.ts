/**
 * What a page has in IndexedDB, read past its own code.
 * @module
 */
import type { Page } from "playwright-core";

/** All entries of a database as JSON text, keys included; bytes are left out. */
export function stored(page: Page, name: string): Promise<string> {
  return page.evaluate(async (database) => {
    // oxlint-disable-next-line unicorn/consistent-function-scoping -- the page has only what is in here
    const answered = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.addEventListener("success", () => resolve(request.result));
        request.addEventListener("error", () => reject(request.error ?? new Error("It failed.")));
      });
    const db = await answered(indexedDB.open(database));
    const all: unknown[] = [];
    for (const store of db.objectStoreNames) {
      const entries = db.transaction(store).objectStore(store);
      all.push([store, await answered(entries.getAllKeys()), await answered(entries.getAll())]);
    }
    db.close();
    return JSON.stringify(all, (_, value: unknown) =>
      value instanceof Uint8Array || value instanceof ArrayBuffer || value instanceof Blob ? null : value,
    );
  }, name);
}
