/**
 * State that servers share, of which one may be cut off as if its process had died.
 * @module
 */
import { onTestFinished } from "vitest";
import { MemoryStateStore } from "../../../../web/src/planner/state-store.js";
import { memoryState } from "../../../../web/src/server/state.js";
import type { ServeState } from "../../../../web/src/server/state.js";
import { MemoryWorkRegister, WORK_LEASE_MS } from "../../../../web/src/server/work/work-register.js";

/** The state as one process has it. */
export interface Mortal {
  readonly state: ServeState;
  /** The process does nothing any more: whatever it asks the state for never comes. */
  readonly die: () => void;
}

/** One state for several processes. */
export class SharedState {
  readonly whole: ServeState;
  #shift = 0;

  constructor() {
    this.whole = {
      ...memoryState(),
      isShared: true,
      runs: new MemoryStateStore({ clock: () => Date.now() + this.#shift }),
      work: new MemoryWorkRegister(() => performance.now() + this.#shift),
    };
  }

  /** As the next process has it. */
  process(): Mortal {
    let life: Promise<never> | undefined;
    const part = (target: object): object =>
      new Proxy(target, {
        get: (_, member): unknown => {
          const value: unknown = Reflect.get(target, member, target);
          if (typeof value !== "function") return value;
          const method = value as (...all: unknown[]) => unknown;
          return (...words: unknown[]): unknown => life ?? method.apply(target, words);
        },
      });
    const parts = Object.entries(this.whole).map(([name, each]: readonly [string, unknown]) =>
      typeof each === "object" && each !== null ? [name, part(each)] : [name, each],
    );
    const die = (): void => {
      life = new Promise((_, reject) => {
        // Its server is closed after the test, and waits for nothing then.
        onTestFinished(() => reject(new Error("The process is dead.")));
      });
      life.catch(() => undefined);
    };
    return { state: Object.fromEntries(parts) as ServeState, die };
  }

  /** All leases of processes that died are over. */
  passLeases(): void {
    this.#shift += WORK_LEASE_MS + 1;
  }
}
