/**
 * The lists that a tab remembers over a reload, in IndexedDB. Each tab has lists of its own, so that two never write the same.
 * @module
 */
import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB } from "idb";

/** What is remembered: calls, questions of the chat, and servers. */
export type ListName = "calls" | "turns" | "servers";

/** An entry of a list. */
export interface Entry<T = unknown> {
  readonly id: string;
  /** Milliseconds since 1970. The oldest entries go first. */
  readonly at: number;
  readonly value: T;
}

/** A list, the newest entry first. */
export interface Recalled<T> {
  readonly entries: readonly Entry<T>[];
  /** Entries that did not fit, and that were not reported yet. */
  readonly dropped: number;
}

/** How much of a list is remembered. */
interface Limits {
  readonly entries: number;
  /** Characters of JSON. */
  readonly chars: number;
}

/** The limits of each list. */
export const LIMITS: Readonly<Record<ListName, Limits>> = {
  calls: { entries: 50, chars: 8 * 1024 * 1024 },
  turns: { entries: 50, chars: 8 * 1024 * 1024 },
  servers: { entries: 20, chars: 64 * 1024 },
};

/** Lists of closed tabs that are kept, for tabs that are opened again. */
const MAX_CLOSED = 3;

interface Row extends Entry {
  readonly tab: string;
  readonly list: ListName;
  /** Characters of its JSON. */
  readonly size: number;
}

interface TabRow {
  readonly tab: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Entries that did not fit, by list. */
  readonly dropped: Partial<Record<ListName, number>>;
}

interface Schema extends DBSchema {
  entries: {
    key: [string, ListName, string];
    value: Row;
    indexes: { list: [string, ListName]; tab: string; id: string };
  };
  tabs: { key: string; value: TabRow };
}

const NAME = "sluice-playground";
const VERSION = 2;

/** Another tab has the page in another version, which has another form of the memory. */
export class OtherVersion extends Error {
  override readonly name = "OtherVersion";
}

/** The memory of one tab. Its methods throw what IndexedDB throws, and OtherVersion. */
export class TabMemory {
  readonly #db: IDBPDatabase<Schema>;
  readonly #tab: string;
  /** Whether a tab with a newer version of the page has taken the database over. */
  readonly #isClosed: () => boolean;
  /** Size and age of what is in the lists of this tab, which only this tab writes. */
  readonly #held = new Map<ListName, Map<string, Pick<Row, "at" | "size">>>();

  private constructor(db: IDBPDatabase<Schema>, tab: string, isClosed: () => boolean) {
    this.#db = db;
    this.#tab = tab;
    this.#isClosed = isClosed;
  }

  /** Opens the memory of this tab; a new tab starts from the newest lists. */
  static async open(): Promise<TabMemory> {
    let isClosed = false;
    const db = await openDatabase(() => (isClosed = true));
    const known = sessionStorage.getItem(TAB);
    // A duplicated tab has the id of the first one.
    const tab = known !== null && (await isClaimed(known)) ? known : crypto.randomUUID();
    if (tab !== known) await isClaimed(tab);
    sessionStorage.setItem(TAB, tab);
    const memory = new TabMemory(db, tab, () => isClosed);
    await memory.#begin();
    return memory;
  }

  /** A list of this tab. What is said of dropped entries is said once. */
  async read<T>(list: ListName): Promise<Recalled<T>> {
    const transaction = this.#transaction();
    const [entries, tabs] = [transaction.objectStore("entries"), transaction.objectStore("tabs")];
    const rows = await entries.index("list").getAll([this.#tab, list]);
    const own = await tabs.get(this.#tab);
    const dropped = own?.dropped[list] ?? 0;
    if (own !== undefined) await tabs.put({ ...own, at: Date.now(), dropped: { ...own.dropped, [list]: 0 } });
    await transaction.done;
    this.#held.set(list, new Map(rows.map(({ id, at, size }) => [id, { at, size }])));
    rows.sort((left, right) => right.at - left.at);
    return { entries: rows.map(({ id, at, value }) => ({ id, at, value: value as T })), dropped };
  }

  /** An entry of any tab. */
  async find<T>(list: ListName, id: string): Promise<T | undefined> {
    const rows = await this.#db.getAllFromIndex("entries", "id", id);
    return rows.find((row) => row.list === list)?.value as T | undefined;
  }

  /**
   * Writes entries that changed, and removes those that are not among `ids`, and the oldest that do not fit. Where the
   * browser has no room, the older half is given up for the new ones.
   */
  async write(list: ListName, changed: readonly Entry[], ids: ReadonlySet<string>): Promise<void> {
    try {
      await this.#put(list, changed, ids, LIMITS[list]);
    } catch (error) {
      if (!isFull(error)) throw error;
      const held = this.#held.get(list)?.size ?? 0;
      await this.#put(list, changed, ids, { ...LIMITS[list], entries: Math.max(1, Math.floor(held / 2)) });
    }
  }

  /** Starts lists again, after the end of a session. Forgets those of all tabs, unless another tab has done so. */
  async restart(isByOther: boolean): Promise<void> {
    this.#held.clear();
    const transaction = this.#transaction();
    if (!isByOther) {
      await transaction.objectStore("entries").clear();
      await transaction.objectStore("tabs").clear();
    }
    await transaction.objectStore("tabs").put({ tab: this.#tab, at: Date.now(), dropped: {} });
    await transaction.done;
  }

  async #put(list: ListName, changed: readonly Entry[], ids: ReadonlySet<string>, limits: Limits): Promise<void> {
    const rows = changed.map((entry) => this.#row(list, entry));
    const held = new Map(this.#held.get(list));
    const left = [...held.keys()].filter((id) => !ids.has(id));
    for (const id of left) held.delete(id);
    for (const { id, at, size } of rows) held.set(id, { at, size });
    const gone = beyond(held, limits);
    for (const id of gone) held.delete(id);
    // The page drops entries by itself when its own list is full.
    const running = new Set(rows.filter(({ value }) => isRunning(value)).map(({ id }) => id));
    // One that is too large is counted when it has ended, and once.
    const told = gone.filter((id) => ids.has(id) && !running.has(id));
    const dropped = told.length + (ids.size >= LIMITS[list].entries ? left.length : 0);

    const transaction = this.#transaction();
    const [entries, tabs] = [transaction.objectStore("entries"), transaction.objectStore("tabs")];
    const own = await tabs.get(this.#tab);
    // Another tab ended the session, and this one is about to hear of it.
    if (own === undefined) return transaction.done;
    const before = own.dropped[list] ?? 0;
    const steps: Promise<unknown>[] = [];
    const add = (step: Promise<unknown>): void => {
      // When one fails, so do all others.
      step.catch(() => undefined);
      steps.push(step);
    };
    add(transaction.done);
    try {
      for (const id of [...left, ...gone]) add(entries.delete([this.#tab, list, id]));
      for (const row of rows) if (held.has(row.id)) add(entries.put(row));
      add(tabs.put({ ...own, at: Date.now(), dropped: { ...own.dropped, [list]: before + dropped } }));
      await Promise.all(steps);
    } catch (error) {
      // All of it or nothing: a browser without room may refuse in the middle.
      abort(transaction);
      throw error;
    }
    this.#held.set(list, held);
  }

  #row(list: ListName, { id, at, value }: Entry): Row {
    return { tab: this.#tab, list, id, at, value, size: JSON.stringify(value).length };
  }

  #transaction(): IDBPTransaction<Schema, ("entries" | "tabs")[], "readwrite"> {
    if (this.#isClosed()) throw new OtherVersion();
    return this.#db.transaction(["entries", "tabs"], "readwrite");
  }

  /** Gives a new tab the newest lists, and removes the lists of tabs that were closed long ago. */
  async #begin(): Promise<void> {
    const open = await openTabs();
    const transaction = this.#transaction();
    const [entries, tabs] = [transaction.objectStore("entries"), transaction.objectStore("tabs")];
    const known = (await tabs.getAll()).toSorted((left, right) => right.at - left.at);
    const newest = known[0];
    if (!known.some(({ tab }) => tab === this.#tab)) {
      await tabs.put({ tab: this.#tab, at: Date.now(), dropped: {} });
      const rows = newest === undefined ? [] : await entries.index("tab").getAll(newest.tab);
      // What runs in an open tab ends there.
      const isOpen = newest !== undefined && open.has(newest.tab);
      for (const row of rows) if (!isOpen || !isRunning(row.value)) await entries.put({ ...row, tab: this.#tab });
    }
    for (const { tab } of known.filter((each) => !open.has(each.tab) && each.tab !== this.#tab).slice(MAX_CLOSED)) {
      await tabs.delete(tab);
      for (const key of await entries.index("tab").getAllKeys(tab)) await entries.delete(key);
    }
    await transaction.done;
  }
}

function abort(transaction: { abort(): void }): void {
  try {
    transaction.abort();
  } catch {
    // It has ended already.
  }
}

/** Whether an entry was written before it ended. */
export function isRunning(value: unknown): boolean {
  const { state } = value as { readonly state?: unknown };
  return state === "running";
}

/** Whether the browser has no more room. */
export function isFull(error: unknown): boolean {
  return error instanceof DOMException && error.name === "QuotaExceededError";
}

/** Ids of the oldest entries, which do not fit. */
function beyond(held: ReadonlyMap<string, Pick<Row, "at" | "size">>, limits: Limits): readonly string[] {
  const newest = [...held].toSorted(([, left], [, right]) => right.at - left.at);
  let size = 0;
  return newest.flatMap(([id, entry], index) => {
    // One that does not fit by itself takes nothing from the others.
    if (entry.size > limits.chars) return [id];
    size += entry.size;
    return index < limits.entries && size <= limits.chars ? [] : [id];
  });
}

/** Opens the database. Throws OtherVersion instead of waiting for a tab that has an older version of the page. */
async function openDatabase(onClosed: () => void): Promise<IDBPDatabase<Schema>> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const opening: Promise<IDBPDatabase<Schema>> = openDB<Schema>(NAME, VERSION, {
      upgrade: (db) => {
        // No release had another form of it.
        for (const name of db.objectStoreNames) db.deleteObjectStore(name);
        const entries = db.createObjectStore("entries", { keyPath: ["tab", "list", "id"] });
        entries.createIndex("list", ["tab", "list"]);
        entries.createIndex("tab", "tab");
        entries.createIndex("id", "id");
        db.createObjectStore("tabs", { keyPath: "tab" });
      },
      blocked: () => {
        isLate = true;
        reject(new OtherVersion());
      },
      // A newer version of the page in another tab goes first: this one stops remembering.
      blocking: (_from, _to, event) => {
        onClosed();
        (event.target as IDBDatabase).close();
      },
      terminated: onClosed,
    });
    opening.then(
      (db) => (isLate ? db.close() : resolve(db)),
      (error: unknown) => reject(isNewer(error) ? new OtherVersion() : (error as Error)),
    );
  });
}

/** Whether the database has the form of a newer version of the page. */
function isNewer(error: unknown): boolean {
  return error instanceof DOMException && error.name === "VersionError";
}

/** The name in session storage, and of the locks of open tabs. */
const TAB = "sluice.tab";

/** Claims an id for as long as the tab is open; false if another tab has it. */
async function isClaimed(tab: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(`${TAB} ${tab}`, { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        return lock === null ? undefined : new Promise(() => undefined);
      })
      .catch(reject);
  });
}

async function openTabs(): Promise<ReadonlySet<string>> {
  const { held = [] } = await navigator.locks.query();
  return new Set(held.flatMap(({ name = "" }) => (name.startsWith(TAB) ? [name.slice(TAB.length + 1)] : [])));
}
