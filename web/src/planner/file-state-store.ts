/**
 * A state store in a folder, for Node.
 * @module
 */
import { folderPath } from "../artifacts/file/plain-file.js";
import { Stamps } from "../artifacts/reference.js";
import { guardStorage, type StorageAct } from "../errors/storage.js";
import {
  Histories,
  OAuthStates,
  type FirstKept,
  COLLECTIONS,
  StateFolder,
  type CollectionName,
  WaitingRuns,
} from "./state-folder.js";
import {
  CollectionStateStore,
  STATE_STORE_OPTIONS,
  StateLimits,
  type StateCollections,
  type StateStoreOptions,
} from "./state-store.js";
import { checkOptionNames } from "../errors/arguments.js";

/** Milliseconds between two sweeps of a store that is written to. */
const SWEEP_EVERY = 60 * 60 * 1000;
/** The part of a full collection that is deleted at once. */
const PART_DELETED = 0.1;

/**
 * Stores state in the files of one folder, for any number of processes of one machine, any of which may be killed at
 * any time. Folders have mode 0700, files 0600. The first save creates the folder; reading from a missing one finds
 * nothing. If there is more than `maxKept`, a tenth of it is deleted. Only if the machine loses power may the last
 * save be missing or damaged.
 *
 * @example
 * const stateStore = new FileStateStore("./state");
 * const planner = new ReactPlanner({ catalog, llm, stateStore, artifactStore: new FileArtifactStore("./artifacts") });
 */
export class FileStateStore extends CollectionStateStore {
  /** Throws SluiceError E_INVALID_ARGUMENT for a wrong bound. */
  constructor(directory: string, options: StateStoreOptions = {}) {
    const limits = new StateLimits(checkOptionNames(options, "a FileStateStore", STATE_STORE_OPTIONS));
    super(limits, new FileCollections(new StateFolder(folderPath(directory)), limits));
  }
}

/** The collections of a folder, which is created by the first save and swept at intervals. */
class FileCollections implements StateCollections {
  readonly runs: StateCollections["runs"];
  readonly events: StateCollections["events"];
  readonly bindings: StateCollections["bindings"];
  readonly oauth: StateCollections["oauth"];
  readonly #folder: StateFolder;
  readonly #limits: StateLimits;
  readonly #sweeps: Readonly<Record<CollectionName, (most: number) => Promise<void>>>;
  #sweptAt = -Infinity;

  constructor(folder: StateFolder, limits: StateLimits) {
    this.#folder = folder;
    this.#limits = limits;
    const { maxBytes } = limits;
    const stamps = new Stamps(() => limits.now());
    const [runs, oauth] = [new WaitingRuns(folder), new OAuthStates(folder, "oauth")];
    const [events, bindings] = [new Histories(folder, "events"), new Histories(folder, "bindings")];
    const firstKept: FirstKept = (sizes) => limits.firstKept(sizes);
    this.runs = {
      save: (token, text) => this.#save("runs", () => runs.put(token, text, limits.until(limits.now()))),
      load: (token) => this.#there("read", () => runs.get(token, limits.now(), maxBytes), null),
      forget: (token) => this.#there("write", () => runs.remove(token), undefined),
      claim: (token, owner, lease) => this.#there("write", () => runs.claim(token, owner, limits.now(), lease), false),
      update: (token, owner, text) => {
        const now = limits.now();
        return this.#there("write", () => runs.update({ token, owner, text, now, until: limits.until(now) }), false);
      },
      release: (token, owner, then) =>
        this.#there("write", () => runs.release(token, owner, limits.now(), then), false),
    };
    this.events = {
      add: (traceId, text) => {
        const stamp = stamps.next();
        return this.#save("events", () => events.add(traceId, text, stamp, firstKept));
      },
      all: (traceId) => this.#there("read", () => events.since(traceId, this.#since(), maxBytes, firstKept), []),
    };
    this.bindings = {
      save: (key, text) => {
        const stamp = stamps.next();
        return this.#save("bindings", () => bindings.add(key, text, stamp, theLast));
      },
      load: (key) => this.#there("read", () => bindings.last(key, this.#since(), maxBytes), null),
    };
    this.oauth = {
      save: (state, text, life) => {
        const [until, stamp] = [limits.until(limits.now(), life), stamps.next()];
        return this.#save("oauth", () => oauth.put(state, text, stamp, until));
      },
      load: (state) => this.#there("read", () => oauth.get(state, limits.now(), maxBytes), null),
      take: (state) => this.#there("write", () => oauth.take(state, limits.now(), maxBytes), null),
    };
    this.#sweeps = {
      runs: (most) => runs.sweep(limits.now(), most),
      events: (most) => events.sweep(this.#since(), most),
      bindings: (most) => bindings.sweep(this.#since(), most),
      oauth: (most) => oauth.sweep(limits.now(), most),
    };
  }

  /** What was saved until then has expired. */
  #since(): number {
    return this.#limits.now() - this.#limits.maxAge;
  }

  #there<T>(act: StorageAct, work: () => Promise<T>, nothing: T): Promise<T> {
    return guardStorage(act, async () => ((await this.#folder.present()) ? work() : nothing));
  }

  #save(collection: CollectionName, work: () => Promise<void>): Promise<void> {
    return guardStorage("write", async () => {
      await this.#folder.ready();
      await work();
      // The save succeeded. A sweep that fails is repeated later.
      await this.#makeRoom(collection).catch(() => undefined);
    });
  }

  /** Sweeping reads each entry, so a full collection is emptied by more than one entry. */
  async #makeRoom(collection: CollectionName): Promise<void> {
    const { maxKept } = this.#limits;
    if (this.#isTimeToSweep()) for (const each of COLLECTIONS) await this.#sweeps[each](maxKept);
    else if ((await this.#folder.entries(collection)).length > maxKept) {
      await this.#sweeps[collection](maxKept - Math.floor(maxKept * PART_DELETED));
    }
  }

  #isTimeToSweep(): boolean {
    const now = this.#limits.now();
    if (Math.abs(now - this.#sweptAt) < SWEEP_EVERY) return false;
    this.#sweptAt = now;
    return true;
  }
}

function theLast({ length }: readonly number[]): number {
  return length - 1;
}
