/**
 * What is under way and must outlive the process that does it.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";

/** Chat runs, and calls of tools that wait for a person. */
export const WORK_KINDS = ["run", "call"] as const;

/** What kind of work it is. */
export type WorkKind = (typeof WORK_KINDS)[number];

/** Work of a session. */
export interface Work {
  readonly kind: WorkKind;
  /** The session's id. */
  readonly session: string;
  /** Its id in the session. */
  readonly id: string;
}

/** Seconds until another process may have the work of a dead one. */
export const LEASE_SECONDS = 15;

/** Milliseconds until work is due that its process does not hold again. */
export const WORK_LEASE_MS = LEASE_SECONDS * 1000;

/** Most work of a kind. Beyond that, what was held longest ago is dropped. */
export const MAX_WORK = 100_000;

/**
 * Remembers who does what, by the clock of the store. It says what to look at, and is not a lock: a process that takes up work
 * makes sure that no other does it. A `holder` is a process, by a unique name.
 *
 * All methods throw SluiceError E_STORE_READ or E_STORE_WRITE if the store fails.
 */
export interface WorkRegister {
  /** Adds work, or holds it for longer. It is the holder's then, even if another had it. */
  hold(holder: string, works: readonly Work[]): Promise<void>;
  /** Makes work due at once. Has no effect on work of other holders. */
  free(holder: string, works: readonly Work[]): Promise<void>;
  /** Removes work. Has no effect on work of other holders. */
  end(holder: string, works: readonly Work[]): Promise<void>;
  /** Gives the holder at most so much work whose lease is over, what is due longest first. No other holder gets the same. */
  due(holder: string, kind: WorkKind, most: number): Promise<readonly Work[]>;
}

interface Entry {
  readonly work: Work;
  holder: string;
  until: number;
}

/** Remembers work in the memory of this process. */
export class MemoryWorkRegister implements WorkRegister {
  /** By kind; those held last come last. */
  readonly #entries: Record<WorkKind, Map<string, Entry>> = { run: new Map(), call: new Map() };
  readonly #clock: Clock;
  readonly #most: number;

  /** The clock does not follow the machine's by default. `most` defaults to {@link MAX_WORK}. */
  constructor(clock: Clock = () => performance.now(), most: number = MAX_WORK) {
    this.#clock = clock;
    this.#most = most;
  }

  async hold(holder: string, works: readonly Work[]): Promise<void> {
    const until = this.#clock() + WORK_LEASE_MS;
    for (const { kind, session, id } of works) {
      const [entries, key] = [this.#entries[kind], keyOfWork({ session, id })];
      entries.delete(key);
      entries.set(key, { work: { kind, session, id }, holder, until });
      const [oldest] = entries.keys();
      if (entries.size > this.#most && oldest !== undefined) entries.delete(oldest);
    }
  }

  async free(holder: string, works: readonly Work[]): Promise<void> {
    for (const [entries, key] of this.#listHeld(holder, works)) {
      const entry = entries.get(key);
      if (entry !== undefined) Object.assign(entry, { holder: "", until: 0 });
    }
  }

  async end(holder: string, works: readonly Work[]): Promise<void> {
    for (const [entries, key] of this.#listHeld(holder, works)) entries.delete(key);
  }

  async due(holder: string, kind: WorkKind, most: number): Promise<readonly Work[]> {
    const now = this.#clock();
    const over = [...this.#entries[kind].values()].filter(({ until }) => until <= now);
    const taken = over.sort((left, right) => left.until - right.until).slice(0, most);
    const works = taken.map(({ work }) => work);
    if (works.length > 0) await this.hold(holder, works);
    return works;
  }

  *#listHeld(holder: string, works: readonly Work[]): Iterable<readonly [Map<string, Entry>, string]> {
    for (const work of works) {
      const [entries, key] = [this.#entries[work.kind], keyOfWork(work)];
      if (entries.get(key)?.holder === holder) yield [entries, key];
    }
  }
}

/** Work of a kind as one string. */
export function keyOfWork({ session, id }: Omit<Work, "kind">): string {
  return JSON.stringify([session, id]);
}
