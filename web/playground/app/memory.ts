/**
 * What a tab remembers over a reload: its calls with their results, in IndexedDB. Loaded after the first result, or at once
 * if there is something to remember.
 * @module
 */
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { Remote } from "comlink";
import type { Engine } from "../engine/messages.js";
import type { StoredResult } from "../engine/results.js";
import type { ShownCall, Store } from "./state.js";

/** Limits of what a tab remembers. The oldest calls go first. */
const MAX_CALLS = 50;
const MAX_CHARS = 8 * 1024 * 1024;
/** Lists of closed tabs that are kept, for tabs that are opened again. */
const MAX_CLOSED = 3;

/** A call as it is remembered. */
export interface RememberedCall {
  readonly call: Omit<ShownCall, "file">;
  /** What the engine needs to gate it again; missing if it has no result. */
  readonly stored?: StoredResult;
}

interface CallRecord extends RememberedCall {
  readonly tab: string;
  readonly id: string;
  /** Characters of its JSON. */
  readonly size: number;
}

interface TabRecord {
  readonly tab: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Calls that did not fit, and of which the visitor was not told. */
  readonly dropped: number;
}

interface Schema extends DBSchema {
  calls: { key: [string, string]; value: CallRecord; indexes: { tab: string } };
  tabs: { key: string; value: TabRecord };
}

/** What is remembered, newest call first. */
export interface Recalled {
  readonly calls: readonly RememberedCall[];
  /** Calls that did not fit. */
  readonly dropped: number;
}

/** The memory of one tab. Each tab has a list of its own, so that two never write the same. */
export class Memory {
  readonly #db: IDBPDatabase<Schema>;
  readonly #tab: string;
  /** What was written, by id. */
  readonly #written = new Map<string, ShownCall>();

  private constructor(db: IDBPDatabase<Schema>, tab: string) {
    this.#db = db;
    this.#tab = tab;
  }

  /** Opens the memory of this tab; a new tab starts from the newest list. Throws what IndexedDB throws. */
  static async open(): Promise<Memory> {
    const db: IDBPDatabase<Schema> = await openDB<Schema>("sluice-playground", 1, {
      upgrade: (fresh) => {
        fresh.createObjectStore("calls", { keyPath: ["tab", "id"] }).createIndex("tab", "tab");
        fresh.createObjectStore("tabs", { keyPath: "tab" });
      },
      // A newer version of the page in another tab goes first: this one stops remembering.
      blocking: () => db.close(),
    });
    const known = sessionStorage.getItem(TAB);
    // A duplicated tab has the id of the first one.
    const tab = known !== null && (await isClaimed(known)) ? known : crypto.randomUUID();
    if (tab !== known) await isClaimed(tab);
    sessionStorage.setItem(TAB, tab);
    const memory = new Memory(db, tab);
    await memory.#begin();
    return memory;
  }

  /** The calls of this tab. */
  async recall(): Promise<Recalled> {
    const transaction = this.#db.transaction(["calls", "tabs"], "readwrite");
    const calls = await transaction.objectStore("calls").index("tab").getAll(this.#tab);
    const tabs = transaction.objectStore("tabs");
    const dropped = (await tabs.get(this.#tab))?.dropped ?? 0;
    await tabs.put({ tab: this.#tab, at: Date.now(), dropped: 0 });
    await transaction.done;
    calls.sort((left, right) => right.call.startedAt - left.call.startedAt);
    for (const { call } of calls) this.#written.set(call.id, call);
    return { calls: calls.map(({ tab: _, id: __, size: ___, ...kept }) => kept), dropped };
  }

  /** A call of any tab. */
  async find(id: string): Promise<RememberedCall | undefined> {
    const found = (await this.#db.getAll("calls")).find((record) => record.id === id);
    return found && { call: found.call, ...(found.stored !== undefined && { stored: found.stored }) };
  }

  /** Writes the ended calls that changed, and removes what does not fit. Throws what IndexedDB throws. */
  async keep(calls: readonly ShownCall[], stored: (result: string) => Promise<StoredResult | null>): Promise<void> {
    const records: CallRecord[] = [];
    for (const shown of calls) {
      if (shown.state === "running" || this.#written.get(shown.id) === shown) continue;
      const { file: _, progress: __, ...call } = shown;
      const kept = call.result === undefined ? null : await stored(call.result.id);
      const record = { tab: this.#tab, id: call.id, call, ...(kept !== null && { stored: kept }) };
      records.push({ ...record, size: JSON.stringify(record).length });
      this.#written.set(shown.id, shown);
    }
    if (records.length === 0) return;
    const transaction = this.#db.transaction(["calls", "tabs"], "readwrite");
    const [store, tabs] = [transaction.objectStore("calls"), transaction.objectStore("tabs")];
    const own = await tabs.get(this.#tab);
    // Another tab ended the session, and this one is about to hear of it.
    if (own === undefined) return transaction.done;
    for (const record of records) await store.put(record);
    const all = await store.index("tab").getAll(this.#tab);
    all.sort((left, right) => right.call.startedAt - left.call.startedAt);
    let [size, dropped] = [0, own.dropped];
    for (const [at, record] of all.entries()) {
      size += record.size;
      if (at < MAX_CALLS && size <= MAX_CHARS) continue;
      await store.delete([this.#tab, record.id]);
      dropped += 1;
    }
    await tabs.put({ tab: this.#tab, at: Date.now(), dropped });
    await transaction.done;
  }

  /** Forgets the calls of all tabs. */
  async clear(): Promise<void> {
    this.#written.clear();
    const transaction = this.#db.transaction(["calls", "tabs"], "readwrite");
    await transaction.objectStore("calls").clear();
    await transaction.objectStore("tabs").clear();
    await transaction.done;
  }

  /** Gives a new tab the newest list, and removes the lists of tabs that were closed long ago. */
  async #begin(): Promise<void> {
    const open = await openTabs();
    const transaction = this.#db.transaction(["calls", "tabs"], "readwrite");
    const [store, tabs] = [transaction.objectStore("calls"), transaction.objectStore("tabs")];
    const known = (await tabs.getAll()).toSorted((left, right) => right.at - left.at);
    const newest = known[0];
    if (!known.some(({ tab }) => tab === this.#tab)) {
      await tabs.put({ tab: this.#tab, at: Date.now(), dropped: 0 });
      const calls = newest === undefined ? [] : await store.index("tab").getAll(newest.tab);
      for (const record of calls) await store.put({ ...record, tab: this.#tab });
    }
    for (const { tab } of known.filter((each) => !open.has(each.tab) && each.tab !== this.#tab).slice(MAX_CLOSED)) {
      await tabs.delete(tab);
      for (const key of await store.index("tab").getAllKeys(tab)) await store.delete(key);
    }
    await transaction.done;
  }
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

/** Shows what a tab remembers, and writes what it shows. */
export class CallMemory {
  readonly #memory: Memory;
  readonly #store: Store;
  readonly #engine: Pick<Remote<Engine>, "kept" | "adopt">;
  readonly #tell: (sentence: string) => void;
  #stored: readonly StoredResult[] = [];
  #writing: Promise<void> = Promise.resolve();
  #isWaiting = false;
  #hasFailed = false;

  private constructor(memory: Memory, deps: CallMemoryDeps) {
    this.#memory = memory;
    this.#store = deps.store;
    this.#engine = deps.engine;
    this.#tell = deps.tell;
  }

  /** Opens the memory of this tab and shows its calls. Throws what IndexedDB throws. */
  static async open(deps: CallMemoryDeps): Promise<CallMemory> {
    const memory = new CallMemory(await Memory.open(), deps);
    await memory.#show();
    return memory;
  }

  /** Gives the engine the results, so that they can be gated again, and marks those whose artifacts are gone. */
  async adopt(): Promise<void> {
    const expired = new Set(await this.#engine.adopt(this.#stored));
    this.#stored = [];
    for (const { id, result } of this.#store.state.calls) {
      if (result !== undefined && expired.has(result.id)) this.#store.setCall(id, { isExpired: true });
    }
  }

  /** Writes calls from now on. */
  follow(): void {
    this.#store.listen(() => this.#changed());
    this.#changed();
  }

  /** Shows a call that another tab made; false if no tab remembers it. */
  async bring(id: string): Promise<boolean> {
    const found = await this.#memory.find(id);
    if (found === undefined) return false;
    this.#store.set({ calls: [found.call, ...this.#store.state.calls], call: id });
    this.#stored = found.stored === undefined ? [] : [found.stored];
    await this.adopt();
    return true;
  }

  /** Forgets everything, for all tabs. */
  async clear(): Promise<void> {
    await this.#memory.clear();
  }

  async #show(): Promise<void> {
    const { calls: recalled, dropped } = await this.#memory.recall();
    const { calls } = this.#store.state;
    const known = new Set(calls.map(({ id }) => id));
    const before = recalled.filter(({ call }) => !known.has(call.id));
    this.#stored = before.flatMap(({ stored }) => stored ?? []);
    const shown = [...calls, ...before.map(({ call }) => call)];
    this.#store.set({ calls: shown, call: this.#store.state.call ?? shown[0]?.id });
    if (dropped > 0) {
      const which = dropped === 1 ? "1 older call was" : `${dropped} older calls were`;
      this.#tell(`${which} dropped: a tab remembers ${MAX_CALLS} calls and 8 MB.`);
    }
  }

  #changed(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#writing = this.#writing.then(() => this.#write());
  }

  async #write(): Promise<void> {
    this.#isWaiting = false;
    try {
      await this.#memory.keep(this.#store.state.calls, (result) => this.#engine.kept(result));
    } catch {
      if (!this.#hasFailed) this.#tell(REFUSED);
      this.#hasFailed = true;
    }
  }
}

/** What is said when calls cannot be remembered. */
export const REFUSED = "This browser does not let the page remember calls: after a reload, new ones are gone.";

/** What a memory works with. */
export interface CallMemoryDeps {
  readonly store: Store;
  readonly engine: Pick<Remote<Engine>, "kept" | "adopt">;
  /** Adds a notification. */
  readonly tell: (sentence: string) => void;
}
