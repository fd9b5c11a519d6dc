/**
 * Calls under way over one connection: whom the server's questions are for, and which tasks end with it.
 * @module
 */
import type { Asker } from "./asker.js";

/** A task that goes on. */
interface Followed {
  readonly asker: Asker;
  /** Tells the server that nobody wants it any more. */
  readonly cancel: () => Promise<void>;
}

/** Keeps account of them. */
export class Calls {
  readonly #askers = new Set<Asker>();
  readonly #tasks = new Map<string, Followed>();

  /** Does a call's work; then nobody is asked for it any more. */
  async during<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    this.#askers.add(asker);
    try {
      return await work();
    } finally {
      this.#askers.delete(asker);
      asker.release();
    }
  }

  /** A task belongs to a call, until what is returned is called. */
  follow(taskId: string, followed: Followed): () => void {
    this.#tasks.set(taskId, followed);
    return () => void this.#tasks.delete(taskId);
  }

  /** Who is asked what is asked for a task. */
  askerOf(taskId: unknown): Asker | undefined {
    return typeof taskId === "string" ? this.#tasks.get(taskId)?.asker : undefined;
  }

  /**
   * Who is asked where the server does not say for which call: whoever alone can be. Where calls of several people are under
   * way it is nobody, since one would be shown what is another's.
   */
  get only(): Asker | undefined {
    const all = [...this.#askers];
    if (new Set(all.map(({ owner }) => owner)).size !== 1) return undefined;
    const able = all.filter(({ canAsk }) => canAsk);
    return able.length === 1 ? able[0] : undefined;
  }

  /** Nobody wants any of the tasks. */
  async cancel(): Promise<void> {
    await Promise.all([...this.#tasks.values()].map(({ cancel }) => cancel()));
  }
}
