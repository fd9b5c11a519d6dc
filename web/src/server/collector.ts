/**
 * Retention at work: what has expired, or is too much, goes by itself.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { RetainingArtifactStore } from "../artifacts/retention/retaining-store.js";
import { inTime } from "./http/time-limit.js";

/** What a collector goes by. */
interface CollectorDeps {
  readonly store: RetainingArtifactStore;
  /** Clears up what processes left behind that died, where a store can do so. */
  readonly sweep?: () => Promise<unknown>;
  /** Seconds between two collections. */
  readonly seconds: number;
  /** Told what the store failed at. Must not throw. */
  readonly report: (error: unknown) => void;
  /** Waits so many milliseconds, or throws when the signal is aborted; that of the system when left out. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** Collections between two sweeps. */
const SWEEP_EVERY = 12;

/** Milliseconds that the end waits for a collection under way. */
const PATIENCE = 5000;

/**
 * Collects again and again until it is disposed of. Of several processes that share a store one at a time does it; one that
 * died holds up nobody for long. What fails is tried the next time.
 */
export class Collector implements AsyncDisposable {
  readonly #deps: CollectorDeps;
  readonly #over = new AbortController();
  readonly #done: Promise<void>;

  constructor(deps: CollectorDeps) {
    this.#deps = deps;
    this.#done = this.#run();
  }

  /** Begins none any more, and waits for the one under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await inTime(this.#done, PATIENCE, () => new Error("late")).catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { wait = waited, seconds, store, sweep } = this.#deps;
    for (let round = 1; !this.#over.signal.aborted; round += 1) {
      try {
        // Not all at the same time, where many were started together.
        await wait(seconds * 1000 * (0.8 + 0.4 * Math.random()), this.#over.signal);
      } catch {
        return;
      }
      await this.#tried(() => store.collect());
      if (sweep !== undefined && round % SWEEP_EVERY === 0) await this.#tried(sweep);
    }
  }

  async #tried(work: () => Promise<unknown>): Promise<void> {
    if (this.#over.signal.aborted) return;
    try {
      await work();
    } catch (error) {
      this.#deps.report(error);
    }
  }
}

function waited(milliseconds: number, signal: AbortSignal): Promise<void> {
  return sleep(milliseconds, undefined, { signal, ref: false });
}

/** What clears up in a store, where it has something: `gc`, as that of a folder and that of a bucket. */
export function sweepOf(store: object): (() => Promise<unknown>) | undefined {
  const { gc } = store as { readonly gc?: unknown };
  return typeof gc === "function" ? async () => (gc as () => unknown).call(store) : undefined;
}
