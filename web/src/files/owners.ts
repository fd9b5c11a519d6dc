/**
 * The users of one `UserFiles`: each has files, a name and, on a file system, a folder.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { ToolAuthError } from "../tools/errors.js";
import { workspaceName, type FileOwner } from "./names.js";
import type { OpenWorkspace, UserWorkspace } from "./options.js";
import { UserStorage, type UserStorageOptions } from "./user-storage.js";

interface OwnerDeps {
  readonly store: ArtifactStore;
  readonly options: UserStorageOptions;
  /** Whether files outlive a session. */
  readonly isLasting: boolean;
  readonly openWorkspace: OpenWorkspace | undefined;
}

/** Most users in memory. The least recently used one without running calls is dropped. */
const MAX_OWNERS = 256;

/** Users by the scopes of calls. */
export class Owners implements AsyncDisposable {
  readonly #deps: OwnerDeps;
  /** Least recently used first. */
  readonly #owners = new Map<string, KnownOwner>();

  constructor(deps: OwnerDeps) {
    this.#deps = deps;
  }

  /** The user of a scope. Throws ToolAuthError if the scope names no user, or no session and files belong to sessions. */
  of(scope: ArtifactScope): KnownOwner {
    const { isLasting } = this.#deps;
    const why = nobodyIn(scope, isLasting);
    if (why !== undefined) throw new ToolAuthError(why);
    const key = this.keyOf(scope);
    const known = this.#owners.get(key) ?? new KnownOwner(ownerIn(scope, isLasting), this.#deps);
    this.#owners.delete(key);
    this.#owners.set(key, known);
    this.#makeRoom();
    return known;
  }

  /** The owner that a scope names, if any. Does not load the user. */
  ownerOf(scope: ArtifactScope): FileOwner | undefined {
    const { isLasting } = this.#deps;
    return nobodyIn(scope, isLasting) === undefined ? ownerIn(scope, isLasting) : undefined;
  }

  /** A key that is equal for scopes of one owner, also if they name no user. */
  keyOf({ tenant_id = null, user_id = null, session_id = null }: ArtifactScope): string {
    return JSON.stringify([tenant_id, user_id, this.#deps.isLasting ? null : session_id]);
  }

  /** Closes all users, including those with running calls. */
  async [Symbol.asyncDispose](): Promise<void> {
    const owners = [...this.#owners.values()];
    this.#owners.clear();
    await Promise.all(owners.map((each) => each.close()));
  }

  #makeRoom(): void {
    let surplus = this.#owners.size - MAX_OWNERS;
    for (const [key, each] of this.#owners) {
      if (surplus <= 0) return;
      if (each.isLeaving) surplus -= 1;
      else if (!each.isBusy) {
        surplus -= 1;
        void this.#drop(key, each);
      }
    }
  }

  /** Drops a user, unless it is used again meanwhile: two instances would conflict in one folder. */
  async #drop(key: string, leaving: KnownOwner): Promise<void> {
    await leaving.leave();
    if (!leaving.isBusy && this.#owners.get(key) === leaving) this.#owners.delete(key);
  }
}

/** A user in memory. */
export class KnownOwner {
  /** Whether its folder is being emptied to make room for others. */
  isLeaving = false;
  readonly owner: FileOwner;
  readonly storage: UserStorage;
  readonly #openWorkspace: OpenWorkspace | undefined;
  readonly #underWay = new UnderWay();
  #name: Promise<string> | undefined;
  #workspace: Promise<UserWorkspace> | undefined;

  constructor(owner: FileOwner, { store, options, openWorkspace }: OwnerDeps) {
    this.owner = owner;
    this.storage = new UserStorage(store, owner, options);
    this.#openWorkspace = openWorkspace;
  }

  get isBusy(): boolean {
    return this.#underWay.isBusy;
  }

  /** Begins a call, and returns a function that ends it. The folder is kept until then. */
  begin(): Promise<() => void> {
    return this.#underWay.begin();
  }

  /** Runs `work` while none of the user's calls is running. Calls that begin meanwhile wait. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#underWay.alone(work);
  }

  /** The authenticated user, as tools see it. */
  username(): Promise<string> {
    this.#name ??= workspaceName(this.owner);
    return this.#name;
  }

  /** The user's folder; undefined without a file system. */
  async workspace(): Promise<UserWorkspace | undefined> {
    const open = this.#openWorkspace;
    if (open === undefined) return undefined;
    const opening = (this.#workspace ??= this.username().then(open));
    try {
      return await opening;
    } catch (error) {
      if (this.#workspace === opening) this.#workspace = undefined;
      throw error;
    }
  }

  /** Empties the folder before the user is dropped. If that fails, the end of the session does it. */
  async leave(): Promise<void> {
    this.isLeaving = true;
    await this.alone(() => this.close()).catch(() => undefined);
    this.isLeaving = false;
  }

  async close(): Promise<void> {
    const workspace = await this.#workspace?.catch(() => undefined);
    await workspace?.[Symbol.asyncDispose]();
  }
}

const NO_USER =
  "Files belong to a user, but no user is named: set scope.user_id in the context of the call or of connect.";
const NO_SESSION =
  "Files last for one session here, but no session is named: set scope.session_id in the context of the call or of connect.";

/** Why a scope names no owner; undefined if it does. */
function nobodyIn({ user_id = null, session_id = null }: ArtifactScope, isLasting: boolean): string | undefined {
  if (user_id === null || user_id === "") return NO_USER;
  if (isLasting || session_id !== null) return undefined;
  return NO_SESSION;
}

function ownerIn({ tenant_id = null, user_id, session_id = null }: ArtifactScope, isLasting: boolean): FileOwner {
  return { tenant_id, user_id: user_id ?? "", session_id: isLasting ? null : session_id };
}

/** A lock for any number of calls at once, or one piece of work alone. */
export class UnderWay {
  #calls = 0;
  #alone = 0;
  #last: Promise<unknown> = Promise.resolve();
  readonly #waiting = new Set<() => void>();

  /** Whether a call or work alone is running or waiting. */
  get isBusy(): boolean {
    return this.#calls > 0 || this.#alone > 0;
  }

  /** Begins a call when no work alone is running. Returns a function that ends it. */
  async begin(): Promise<() => void> {
    this.#calls += 1;
    let isOver = false;
    const before = this.#last;
    await before;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#calls -= 1;
      if (this.#calls > 0) return;
      for (const resume of this.#waiting) resume();
      this.#waiting.clear();
    };
  }

  /** Runs `work` when no call is running. Calls that begin meanwhile wait. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    this.#alone += 1;
    try {
      while (this.#calls > 0) await new Promise<void>((resume) => void this.#waiting.add(resume));
      // No await between the check and this line: a call could begin.
      const mine = this.#last.then(work);
      this.#last = mine.catch(() => undefined);
      return await mine;
    } finally {
      this.#alone -= 1;
    }
  }
}
