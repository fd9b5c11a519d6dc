/**
 * Who is using what, over all tabs and workers of a site.
 *
 * Web Locks go when the tab does that holds them, however it ends. Where there are none, as on pages that are no secure
 * context, locks hold within one page or worker, and what others may be using is told by its age.
 * @module
 */
import { LocalLocks, type LockSource } from "../local-locks.js";

/** Something that is being used. */
export interface Lease {
  /** Ends it; settles when others see that. Idempotent, and never rejects. */
  release(): Promise<void>;
}

const local = new LocalLocks();

/** Locks of one store. */
export class Locks {
  readonly #source: LockSource;
  readonly #prefix: string;
  /** Whether they hold over all tabs and workers. */
  readonly shared: boolean;

  constructor(store: string, source: LockSource | null = webLocks()) {
    this.#source = source ?? local;
    this.#prefix = `sluice/${store}/`;
    this.shared = source !== null;
  }

  /** Says that a thing is in use, by as many as like to, until the lease is released. */
  hold(name: string): Promise<Lease> {
    return new Promise((resolve, reject) => {
      const held = (): Promise<void> =>
        new Promise((end) => {
          const release = async (): Promise<void> => {
            end();
            await released.catch(() => undefined);
          };
          resolve({ release });
        });
      const released = this.#source.request(this.#prefix + name, { mode: "shared" }, held);
      released.catch(reject);
    });
  }

  /** Runs work while nobody else uses a thing; null, and the work is not run, when somebody does. */
  async alone<T>(name: string, work: () => Promise<T>): Promise<T | null> {
    const run = async (lock: unknown): Promise<T | null> => (lock === null ? null : work());
    return this.#source.request(this.#prefix + name, { ifAvailable: true }, run);
  }
}

function webLocks(): LockSource | null {
  return (globalThis.navigator as Partial<Navigator> | undefined)?.locks ?? null;
}
