/**
 * The connection to the database: made when it is first needed, and again after it was lost.
 * @module
 */
import { unwrap } from "idb";
import type { StorageAct } from "../../errors/storage.js";
import { SluiceError } from "../../errors/error.js";
import { browserError, closedStore, nameOf } from "./failures.js";
import { opened } from "./opening.js";
import type { Database, Reading, StoreName, Writing } from "./schema.js";

/** How often a transaction is begun on a new connection, when another tab closes each. */
const ATTEMPTS = 4;

/** Runs transactions, each of them whole or not at all. */
export class Connection {
  readonly #name: string;
  #opening: Promise<Database> | undefined;
  #closed = false;

  constructor(name: string) {
    this.#name = name;
  }

  /** Whether nothing can be done here any more. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Opens it now. Throws as {@link Connection.read}. */
  async open(): Promise<void> {
    await guarded("read", () => this.#database());
  }

  /**
   * Runs work in a transaction that only reads.
   *
   * @throws SluiceError as {@link browserError} says, E_STORE_CLOSED after `close`; what the work throws.
   */
  read<T>(stores: readonly StoreName[], work: (transaction: Reading) => Promise<T>): Promise<T> {
    return guarded("read", async () => settled(await this.#begin(stores, "readonly"), work));
  }

  /** Runs work in a transaction of its own. What the work throws undoes it. Throws as {@link Connection.read}. */
  write<T>(stores: readonly StoreName[], work: (transaction: Writing) => Promise<T>): Promise<T> {
    return guarded("write", async () => settled(await this.#begin(stores, "readwrite"), work));
  }

  /** Ends it for good, after the transactions that are under way. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    const database = await this.#opening?.catch(() => undefined);
    this.#opening = undefined;
    database?.close();
  }

  async #begin<Mode extends "readonly" | "readwrite">(
    stores: readonly StoreName[],
    mode: Mode,
  ): Promise<Mode extends "readonly" ? Reading : Writing> {
    for (let attempt = 1; ; attempt++) {
      const database = await this.#database();
      try {
        return database.transaction([...stores], mode) as unknown as Mode extends "readonly" ? Reading : Writing;
      } catch (error) {
        // Closed since it was opened, for another tab.
        if (nameOf(error) !== "InvalidStateError" || attempt === ATTEMPTS) throw error;
        this.#opening = undefined;
      }
    }
  }

  async #database(): Promise<Database> {
    if (this.#closed) throw closedStore();
    const opening = (this.#opening ??= this.#open());
    const database = await opening;
    if (this.#closed as boolean) throw closedStore();
    return database;
  }

  #open(): Promise<Database> {
    const forget = (): void => {
      if (this.#opening === opening) this.#opening = undefined;
    };
    const opening: Promise<Database> = opened(this.#name, forget);
    opening.catch(forget);
    return opening;
  }
}

async function guarded<T>(act: StorageAct, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw browserError(error, act);
  }
}

/** What came of a transaction, when it is certain. */
async function settled<T, Transaction extends Reading | Writing>(
  transaction: Transaction,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const done = transaction.done.then(
    () => undefined,
    (error: unknown) => error,
  );
  try {
    const result = await work(transaction);
    const failure = await done;
    if (failure !== undefined) throw failure as Error;
    return result;
  } catch (error) {
    aborted(transaction);
    const failure = await done;
    if (error instanceof SluiceError) throw error;
    // Whoever was aborted says only that; another one of them says why.
    const told = [unwrap(transaction).error, error, failure];
    throw told.find((each) => each != null && nameOf(each) !== "AbortError") ?? error;
  }
}

function aborted(transaction: Reading | Writing): void {
  try {
    transaction.abort();
  } catch {
    // It has ended already.
  }
}
