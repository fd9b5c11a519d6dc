/**
 * Opening the database, in bounded time.
 * @module
 */
import { openDB } from "idb";
import { SluiceError } from "../../errors/error.js";
import { noStorage } from "./failures.js";
import { createStores, isOurs, VERSION, type Database, type Schema } from "./schema.js";

/** Milliseconds after which opening is given up. */
const PATIENCE = 30_000;
/** The same once the browser said that another tab is in the way: tabs of ours make way at once. */
const PATIENCE_BLOCKED = 5_000;

/**
 * Opens the database, and makes it where it is none.
 *
 * @param onLost told when the connection is of no use any more: another tab wants to change or delete the database, for
 * which it is closed already, or the browser ended it
 * @throws SluiceError E_STORE_DENIED, E_STORE_CORRUPT when the name is that of another database, E_STORE_READ when it
 * does not open in time; else what the browser threw.
 */
export function opened(name: string, onLost: () => void): Promise<Database> {
  if ((globalThis.indexedDB as IDBFactory | undefined) == null) return Promise.reject(noStorage());
  return new Promise((resolve, reject) => {
    let given = false;
    const giveUp = (): void => {
      given = true;
      reject(stuck());
    };
    let timer = setTimeout(giveUp, PATIENCE);
    const opening = openDB<Schema>(name, VERSION, {
      upgrade: createStores,
      blocked: () => {
        clearTimeout(timer);
        timer = setTimeout(giveUp, PATIENCE_BLOCKED);
      },
      blocking: (_current, _wanted, event) => {
        (event.target as IDBDatabase).close();
        onLost();
      },
      terminated: onLost,
    });
    const settle = (database: Database): void => {
      clearTimeout(timer);
      if (!given && isOurs(database)) return resolve(database);
      database.close();
      reject(occupied());
    };
    opening.then(settle, (error: Error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

function stuck(): SluiceError {
  return new SluiceError(
    "E_STORE_READ",
    "The store did not open in time, another tab holds it: close the other tabs of this site, then try again.",
  );
}

function occupied(): SluiceError {
  return new SluiceError("E_STORE_CORRUPT", "The database of this name is not a Sluice store: name another one.");
}
