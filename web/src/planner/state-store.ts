/**
 * What outlives a run that waits, and where another process finds it (ToolNode 2.1 "StateStore for Distributed Deployments").
 * @module
 */

/** Keeps runs that wait for a person. */
export interface StateStore {
  /** Keeps one, in place of what was kept by this token. `payload` is JSON; null: there is nothing to keep any more. */
  savePlannerState(token: string, payload: unknown): Promise<void>;
  /** What is kept; null where there is nothing. */
  loadPlannerState(token: string): Promise<unknown>;
}

/** Runs that are kept: those that wait longest are forgotten for others. */
const MOST = 1000;

/** In this process, for tests and hosts of one process. */
export class MemoryStateStore implements StateStore {
  readonly #waiting = new Map<string, string>();

  /** Keeps one, see {@link StateStore}. */
  async savePlannerState(token: string, payload: unknown): Promise<void> {
    this.#waiting.delete(token);
    if (payload !== null) this.#waiting.set(token, JSON.stringify(payload));
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= MOST) break;
      this.#waiting.delete(oldest);
    }
  }

  /** What is kept. */
  async loadPlannerState(token: string): Promise<unknown> {
    const payload = this.#waiting.get(token);
    return payload === undefined ? null : (JSON.parse(payload) as unknown);
  }
}
