/**
 * A state store in a folder, for Node.
 * @module
 */
import { resolve } from "node:path";
import { Stamps } from "../artifacts/stamps.js";
import { guarded } from "../errors/storage.js";
import { Histories, type FirstKept } from "./file-state/histories.js";
import { OAuthStates } from "./file-state/oauth-states.js";
import { ROOMS, StateFolder, type Room } from "./file-state/state-folder.js";
import { WaitingRuns } from "./file-state/waiting-runs.js";
import {
  bindingKey,
  bindingOf,
  eventOf,
  leaseOf,
  lifeOf,
  named,
  StateLimits,
  valueOf,
  type StateStoreOptions,
  type Released,
  type RemoteBinding,
  type StateEvent,
  type StateStore,
  type StoredEvent,
} from "./state-store.js";

/** Milliseconds after which a store object that saves looks again for what is too old. */
const SWEEP_EVERY = 60 * 60 * 1000;
/** Of a room that is full, so much is emptied at once. */
const ROOM_MADE = 0.1;

/**
 * Plain files in one folder, for any number of processes of one machine at once; any of them may be killed at any time.
 * Folders are 0700, files 0600. The folder is made by the first that is saved; looking into one that is not there finds
 * nothing. Where there is more than `maxKept` says, a tenth of it makes room at once. Only when the machine itself loses power may the last that was saved be missing or damaged.
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
  readonly #oauth: OAuthStates;
  #sweptAt = -Infinity;

  /** Throws SluiceError E_INVALID_ARGUMENT for a bound that is none. */
  constructor(directory: string, options: StateStoreOptions = {}) {
    this.#folder = new StateFolder(resolve(directory));
    this.#limits = new StateLimits(options);
    this.#stamps = new Stamps(() => this.#limits.now());
    this.#runs = new WaitingRuns(this.#folder);
    this.#events = new Histories(this.#folder, "events");
    this.#bindings = new Histories(this.#folder, "bindings");
    this.#oauth = new OAuthStates(this.#folder);
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

  async updatePlannerState(token: string, owner: string, payload: unknown): Promise<boolean> {
    named(token, "token");
    named(owner, "owner");
    const text = this.#limits.textOfSomething(payload);
    const now = this.#limits.now();
    return this.#changed(() => this.#runs.update({ token, owner, text, now, until: this.#limits.until(now) }), false);
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
    return this.#saved("events", () => this.#events.add(traceId, text, stamp, this.#firstKept));
  }

  async loadHistory(traceId: string): Promise<readonly StoredEvent[]> {
    named(traceId, "traceId");
    return this.#read(async () => {
      const events: StoredEvent[] = [];
      const { maxBytes } = this.#limits;
      for await (const { at, text } of this.#events.since(traceId, this.#since(), maxBytes, this.#firstKept)) {
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
    return this.#saved("bindings", () => this.#bindings.add(key, text, stamp, theLast));
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
    return this.#saved("oauth", () => this.#oauth.put(state, text, stamp, until));
  }

  async loadOAuthState(state: string): Promise<unknown> {
    named(state, "state");
    const { maxBytes } = this.#limits;
    return this.#read(async () => valueOf(await this.#oauth.get(state, this.#limits.now(), maxBytes)), null);
  }

  async takeOAuthState(state: string): Promise<unknown> {
    named(state, "state");
    const { maxBytes } = this.#limits;
    return this.#changed(async () => valueOf(await this.#oauth.take(state, this.#limits.now(), maxBytes)), null);
  }

  readonly #firstKept: FirstKept = (sizes) => this.#limits.firstKept(sizes);

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
      // What was saved is saved, and what could not be swept is swept another time.
      await this.#madeRoom(room).catch(() => undefined);
    });
  }

  /** Sweeping looks at each entry: a room that is full has room for a while then. */
  async #madeRoom(room: Room): Promise<void> {
    const { maxKept } = this.#limits;
    if (this.#isTimeToSweep()) for (const each of ROOMS) await this.#sweep(each, maxKept);
    else if ((await this.#folder.entries(room)).length > maxKept) {
      await this.#sweep(room, maxKept - Math.floor(maxKept * ROOM_MADE));
    }
  }

  #isTimeToSweep(): boolean {
    const now = this.#limits.now();
    if (Math.abs(now - this.#sweptAt) < SWEEP_EVERY) return false;
    this.#sweptAt = now;
    return true;
  }

  /** Forgets what is too old; and of what is more than `most`, the oldest. */
  async #sweep(room: Room, most: number): Promise<void> {
    if (room === "runs") await this.#runs.sweep(this.#limits.now(), most);
    else if (room === "oauth") await this.#oauth.sweep(this.#limits.now(), most);
    else await (room === "events" ? this.#events : this.#bindings).sweep(this.#since(), most);
  }
}

function theLast({ length }: readonly number[]): number {
  return length - 1;
}
