/**
 * Sessions that pages, workers and the service worker of one origin share.
 * @module
 */
import { openDB, type DBSchema, type IDBPDatabase, type IDBPTransaction } from "idb";
import { fullScope, type FullScope } from "../../artifacts/scope.js";
import type { ArtifactScope, Clock } from "../../artifacts/store.js";
import { guardStorage, type StorageAct } from "../../errors/storage.js";
import { MAX_SEEN } from "./handler.js";
import { isSessionKey, MAX_SESSIONS, sessionKey, type ArtifactSessions } from "./sessions.js";
import { checkOptionNames } from "../../errors/arguments.js";

interface Session {
  readonly key: string;
  readonly scope: FullScope;
  readonly begun_at: number;
  readonly ended: boolean;
  /** The number of remembered artifacts. Counting them again would take ever longer. */
  readonly noted: number;
}

interface Schema extends DBSchema {
  sessions: { key: string; value: Session; indexes: { begun_at: number } };
  seen: {
    key: [session: string, id: string];
    value: { readonly session: string; readonly id: string; readonly at: number };
    indexes: { at: [session: string, at: number] };
  };
}

type Database = IDBPDatabase<Schema>;
type Change = IDBPTransaction<Schema, ("sessions" | "seen")[], "readwrite">;

const VERSION = 1;

/** Options of {@link IndexedDbArtifactSessions}. */
export interface IndexedDbSessionsOptions {
  /** The name of the database. Defaults to `sluice-sessions`. */
  readonly name?: string;
  /** The clock for sessions. */
  readonly clock?: Clock;
}

/**
 * Stores sessions in IndexedDB, so that a service worker finds them whenever it starts. Nothing is cached: a session
 * that one page ends is over everywhere.
 *
 * @example
 * const sessions = new IndexedDbArtifactSessions();
 * const key = await sessions.begin({ session_id: "s1" });
 */
export class IndexedDbArtifactSessions implements ArtifactSessions, AsyncDisposable {
  readonly #name: string;
  readonly #clock: Clock;
  #opening: Promise<Database> | null = null;

  constructor(options: IndexedDbSessionsOptions = {}) {
    const { name = "sluice-sessions", clock = Date.now } = options;
    checkOptionNames(options, "an IndexedDbArtifactSessions", ["clock", "name"]);
    this.#name = name;
    this.#clock = clock;
  }

  async begin(scope: ArtifactScope): Promise<string> {
    const session: Session = {
      key: sessionKey(),
      scope: fullScope(scope),
      begun_at: this.#clock(),
      ended: false,
      noted: 0,
    };
    await this.#change(async (change) => {
      const sessions = change.objectStore("sessions");
      const oldest = sessions.index("begun_at");
      for (let count = await sessions.count(); count >= MAX_SESSIONS; count--) {
        const first = await oldest.getKey(anyTime());
        if (first !== undefined) await forgetIn(change, first);
      }
      await sessions.add(session);
    });
    return session.key;
  }

  async find(key: string): Promise<FullScope | null> {
    const session = await this.#session(key);
    return session === undefined || session.ended ? null : session.scope;
  }

  async end(key: string): Promise<FullScope | null> {
    if (!isSessionKey(key)) return null;
    return this.#change(async (change) => {
      const sessions = change.objectStore("sessions");
      const session = await sessions.get(key);
      if (session === undefined) return null;
      await sessions.put({ ...session, ended: true });
      return session.scope;
    });
  }

  async forget(key: string): Promise<void> {
    if (isSessionKey(key)) await this.#change((change) => forgetIn(change, key));
  }

  async note(key: string, id: string): Promise<void> {
    // It is usually there already, and reading blocks no other tab.
    if (!isSessionKey(key) || (await this.noted(key, id))) return;
    await this.#change(async (change) => {
      const sessions = change.objectStore("sessions");
      const seen = change.objectStore("seen");
      const session = await sessions.get(key);
      if (session === undefined || (await seen.getKey([key, id])) !== undefined) return;
      await seen.put({ session: key, id, at: this.#clock() });
      if (session.noted < MAX_SEEN) {
        await sessions.put({ ...session, noted: session.noted + 1 });
        return;
      }
      const first = await seen.index("at").getKey(getRange(key));
      if (first !== undefined) await seen.delete(first);
    });
  }

  async noted(key: string, id: string): Promise<boolean> {
    if (!isSessionKey(key)) return false;
    const found = await this.#use("read", (database) => database.getKey("seen", [key, id]));
    return found !== undefined;
  }

  /** Closes the database. The next call opens it again. */
  async [Symbol.asyncDispose](): Promise<void> {
    const opening = this.#opening;
    this.#opening = null;
    (await opening?.catch(() => null))?.close();
  }

  async #session(key: string): Promise<Session | undefined> {
    if (!isSessionKey(key)) return undefined;
    return this.#use("read", (database) => database.get("sessions", key));
  }

  #change<T>(work: (change: Change) => Promise<T>): Promise<T> {
    return this.#use("write", async (database) => {
      const change = database.transaction(["sessions", "seen"], "readwrite");
      const [result] = await Promise.all([work(change), change.done]);
      return result;
    });
  }

  #use<T>(act: StorageAct, work: (database: Database) => Promise<T>): Promise<T> {
    return guardStorage(act, async () => {
      const database = await this.#database();
      try {
        return await work(database);
      } catch (error) {
        // Closed by an upgrade or deletion of the database: nothing was started.
        if (!(error instanceof DOMException) || error.name !== "InvalidStateError") throw error;
        return work(await this.#database());
      }
    });
  }

  #database(): Promise<Database> {
    const known = this.#opening;
    if (known !== null) return known;
    const forgetOpening = (): void => {
      if (this.#opening === opening) this.#opening = null;
    };
    const opening = openDB<Schema>(this.#name, VERSION, {
      upgrade(database) {
        database.createObjectStore("sessions", { keyPath: "key" }).createIndex("begun_at", "begun_at");
        database.createObjectStore("seen", { keyPath: ["session", "id"] }).createIndex("at", ["session", "at"]);
      },
      // An upgrade or deletion of the database waits for this connection.
      blocking(_current, _blocked, event) {
        forgetOpening();
        (event.target as IDBDatabase).close();
      },
      terminated: forgetOpening,
    });
    this.#opening = opening;
    opening.catch(forgetOpening);
    return opening;
  }
}

function anyTime(): IDBKeyRange {
  return IDBKeyRange.lowerBound(Number.NEGATIVE_INFINITY);
}

/** All entries of one session, by id or by time: arrays sort after all other keys. */
function getRange(key: string): IDBKeyRange {
  return IDBKeyRange.bound([key], [key, []]);
}

async function forgetIn(change: Change, key: string): Promise<void> {
  await change.objectStore("sessions").delete(key);
  await change.objectStore("seen").delete(getRange(key));
}
