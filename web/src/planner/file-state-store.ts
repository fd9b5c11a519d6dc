/**
 * A state store in a folder, for Node.
 * @module
 */
import { resolve } from "node:path";
import { Stamps } from "../artifacts/stamps.js";
import { SluiceError } from "../errors/error.js";
import { guarded } from "../errors/storage.js";
import { Consents } from "./file-state/consents.js";
import { Histories } from "./file-state/histories.js";
import { StateFolder, type Room } from "./file-state/state-folder.js";
import { WaitingRuns } from "./file-state/waiting-runs.js";
import {
  bindingKey,
  bindingOf,
  eventOf,
  leaseOf,
  lifeOf,
  named,
  StateLimits,
  type StateStoreOptions,
} from "./state-limits.js";
import type { Released, RemoteBinding, StateEvent, StateStore, StoredEvent } from "./state-store.js";

/** Milliseconds after which a store object that saves looks again for what is too old. */
const SWEEP_EVERY = 60 * 60 * 1000;

/**
 * Plain files in one folder, for any number of processes of one machine at once; any of them may be killed at any time.
 * Folders are 0700, files 0600. The folder is made by the first that is saved; looking into one that is not there finds
 * nothing. Only when the machine itself loses power may the last that was saved be missing or damaged.
 *
 * @example
 * const stateStore = new FileStateStore("./state");
 * const planner = new ReactPlanner({ catalog, llm, stateStore, artifactStore: new FileArtifactStore("./artifacts") });
 */
export class FileStateStore implements StateStore {
  readonly #folder: StateFolder;
  readonly #limits: StateLimits;
  readonly #stamps: Stamps;
  readonly #runs: WaitingRuns;
  readonly #events: Histories;
  readonly #bindings: Histories;
  readonly #consents: Consents;
  #sweptAt = -Infinity;

  /** Throws SluiceError E_INVALID_ARGUMENT for a bound that is none. */
  constructor(directory: string, options: StateStoreOptions = {}) {
    this.#folder = new StateFolder(resolve(directory));
    this.#limits = new StateLimits(options);
    this.#stamps = new Stamps(() => this.#limits.now());
    this.#runs = new WaitingRuns(this.#folder);
    this.#events = new Histories(this.#folder, "events");
    this.#bindings = new Histories(this.#folder, "bindings");
    this.#consents = new Consents(this.#folder);
  }

  async savePlannerState(token: string, payload: unknown): Promise<void> {
    named(token, "token");
    if (payload === null) return this.#changed(() => this.#runs.remove(token), undefined);
    const text = this.#limits.text(payload);
    return this.#saved("runs", () => this.#runs.put(token, text, this.#limits.until(this.#limits.now())));
  }

  async loadPlannerState(token: string): Promise<unknown> {
    named(token, "token");
    return this.#read(
      async () => valueOf(await this.#runs.get(token, this.#limits.now(), this.#limits.maxBytes)),
      null,
    );
  }

  async claimPlannerState(token: string, owner: string, leaseSeconds: number): Promise<boolean> {
    named(token, "token");
    named(owner, "owner");
    const lease = leaseOf(leaseSeconds);
    return this.#changed(() => this.#runs.claim(token, owner, this.#limits.now(), lease), false);
  }

  async releasePlannerState(token: string, owner: string, then: Released): Promise<boolean> {
    named(token, "token");
    named(owner, "owner");
    return this.#changed(() => this.#runs.release(token, owner, this.#limits.now(), then), false);
  }

  async saveEvent(traceId: string, event: StateEvent): Promise<void> {
    named(traceId, "traceId");
    const text = this.#limits.text(eventOf(event));
    const stamp = this.#stamps.next();
    return this.#saved("events", () => this.#events.add(traceId, text, stamp, this.#limits.maxEvents));
  }

  async loadHistory(traceId: string): Promise<readonly StoredEvent[]> {
    named(traceId, "traceId");
    return this.#read(async () => {
      const events: StoredEvent[] = [];
      const { maxBytes } = this.#limits;
      for await (const { at, text } of this.#events.since(traceId, this.#since(), maxBytes)) {
        events.push({ at, event: valueOf(text) as StateEvent });
      }
      return events;
    }, []);
  }

  async saveRemoteBinding(binding: RemoteBinding): Promise<void> {
    const checked = bindingOf(binding);
    const text = this.#limits.text(checked);
    const key = bindingKey(checked.trace_id, checked.task_id);
    const stamp = this.#stamps.next();
    return this.#saved("bindings", () => this.#bindings.add(key, text, stamp, 1));
  }

  async loadRemoteBinding(traceId: string, taskId: string): Promise<RemoteBinding | null> {
    const key = bindingKey(traceId, taskId);
    return this.#read(async () => {
      const text = await this.#bindings.last(key, this.#since(), this.#limits.maxBytes);
      return valueOf(text) as RemoteBinding | null;
    }, null);
  }

  async saveOAuthState(state: string, payload: unknown, seconds: number): Promise<void> {
    named(state, "state");
    const text = this.#limits.text(payload);
    const until = this.#limits.until(this.#limits.now(), lifeOf(seconds));
    const stamp = this.#stamps.next();
    return this.#saved("oauth", () => this.#consents.put(state, text, stamp, until));
  }

  async loadOAuthState(state: string): Promise<unknown> {
    named(state, "state");
    const { maxBytes } = this.#limits;
    return this.#read(async () => valueOf(await this.#consents.get(state, this.#limits.now(), maxBytes)), null);
  }

  async takeOAuthState(state: string): Promise<unknown> {
    named(state, "state");
    const { maxBytes } = this.#limits;
    return this.#changed(async () => valueOf(await this.#consents.take(state, this.#limits.now(), maxBytes)), null);
  }

  /** What was saved then or before is too old. */
  #since(): number {
    return this.#limits.now() - this.#limits.maxAge;
  }

  #read<T>(work: () => Promise<T>, nothing: T): Promise<T> {
    return guarded("read", async () => ((await this.#folder.present()) ? work() : nothing));
  }

  #changed<T>(work: () => Promise<T>, nothing: T): Promise<T> {
    return guarded("write", async () => ((await this.#folder.present()) ? work() : nothing));
  }

  #saved(room: Room, work: () => Promise<void>): Promise<void> {
    return guarded("write", async () => {
      await this.#folder.ready();
      await work();
      const { length } = await this.#folder.entries(room);
      // What was saved is saved, and what could not be swept is swept another time.
      if (length > this.#limits.maxKept || this.#isTimeToSweep()) await this.#sweep().catch(() => undefined);
    });
  }

  #isTimeToSweep(): boolean {
    const now = this.#limits.now();
    if (Math.abs(now - this.#sweptAt) < SWEEP_EVERY) return false;
    this.#sweptAt = now;
    return true;
  }

  async #sweep(): Promise<void> {
    const { maxKept } = this.#limits;
    await this.#runs.sweep(this.#limits.now(), maxKept);
    await this.#events.sweep(this.#since(), maxKept);
    await this.#bindings.sweep(this.#since(), maxKept);
    await this.#consents.sweep(this.#limits.now(), maxKept);
  }
}

function valueOf(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new SluiceError("E_STORE_CORRUPT", "What is kept here is damaged: begin anew.", {}, { cause: error });
  }
}
