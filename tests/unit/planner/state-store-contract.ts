/** What every state store must do, run against each. */
import { afterEach, beforeEach, describe } from "vitest";
import type { StateStoreOptions, StateStore } from "../../../web/src/planner/state-store.js";
import { contractOfClaiming, contractOfUpdating } from "./contract/claims.js";
import { contractOfConsenting } from "./contract/oauth-states.js";
import { contractOfBounds, contractOfKeeping, contractOfMistyped } from "./contract/runs.js";
import { contractOfBindings, contractOfEvents } from "./contract/traces.js";

/** A store under test. */
export interface Subject {
  readonly store: StateStore;
  /** A store over the same, as another process would have it; the same one where none can. */
  beside(): StateStore;
  /** Lets milliseconds pass. */
  pass(milliseconds: number): void | Promise<void>;
  dispose(): Promise<void>;
}

/** Makes an empty store with these bounds. */
export type OpenSubject = (bounds: Omit<StateStoreOptions, "clock">) => Promise<Subject>;

const BOUNDS = { maxKept: 3, maxEvents: 4, maxBytes: 1000, maxHistoryBytes: 2500, maxAgeSeconds: 100 };

/** The store of a test. */
export interface Current {
  readonly store: StateStore;
  readonly other: StateStore;
  /** Lets milliseconds pass. */
  readonly pass: (milliseconds: number) => Promise<void>;
}

/** The whole contract, for a store called `title`. */
export function describeStateStore(title: string, opening: OpenSubject): void {
  describe.each([title])("%s", () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await opening(BOUNDS);
    });
    afterEach(() => subject.dispose());
    const current = (): Current => ({
      store: subject.store,
      other: subject.beside(),
      pass: async (ms) => subject.pass(ms),
    });

    contractOfKeeping(current);
    contractOfClaiming(current);
    contractOfUpdating(current);
    contractOfEvents(current);
    contractOfBindings(current);
    contractOfConsenting(current);
    contractOfBounds(current);
    contractOfMistyped(current);
  });
}
