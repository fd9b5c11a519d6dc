/**
 * Locks within one page or worker, for browsers without Web Locks.
 * @module
 */

/** The part of `LockManager` that is used. */
export interface LockSource {
  /** Runs a callback while a lock is held. With `ifAvailable`, runs it with null at once if the lock is not free. */
  request<T>(
    name: string,
    options: { readonly mode?: "exclusive" | "shared"; readonly ifAvailable?: boolean },
    callback: (lock: unknown) => Promise<T>,
  ): Promise<T>;
}

interface Held {
  readonly mode: "exclusive" | "shared";
  readonly until: Promise<unknown>;
}

/** Locks in memory. Waits only for holders, never for others that wait. */
export class LocalLocks implements LockSource {
  readonly #held = new Map<string, Set<Held>>();

  async request<T>(
    name: string,
    { mode = "exclusive", ifAvailable = false }: Parameters<LockSource["request"]>[1],
    callback: (lock: unknown) => Promise<T>,
  ): Promise<T> {
    for (let all = this.#held.get(name); all !== undefined; all = this.#held.get(name)) {
      const others = [...all].filter((held) => mode === "exclusive" || held.mode === "exclusive");
      if (others.length === 0) break;
      if (ifAvailable) return callback(null);
      await Promise.allSettled(others.map(({ until }) => until));
    }
    const running = beginWork(callback, { name, mode });
    const held: Held = { mode, until: running };
    const all = this.#held.get(name) ?? new Set<Held>();
    this.#held.set(name, all.add(held));
    try {
      return await running;
    } finally {
      all.delete(held);
      if (all.size === 0) this.#held.delete(name);
    }
  }
}

/** Begins work in a later microtask, when its lock is registered. */
async function beginWork<T>(callback: (lock: unknown) => Promise<T>, lock: unknown): Promise<T> {
  await Promise.resolve();
  return callback(lock);
}
