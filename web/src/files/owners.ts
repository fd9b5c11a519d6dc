/**
 * The users of one `UserFiles`: each with files, a name and, where there is a file system, a folder.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { ToolAuthError } from "../tools/errors.js";
import { workspaceName } from "./names.js";
import type { OpenWorkspace, UserWorkspace } from "./options.js";
import { UserStorage, type FileOwner, type UserStorageOptions } from "./user-storage.js";

interface OwnerDeps {
  readonly store: ArtifactStore;
  readonly options: UserStorageOptions;
  /** Whether files outlive a session. */
  readonly isLasting: boolean;
  readonly openWorkspace: OpenWorkspace | undefined;
}

/** Users that are kept at hand; of those without a call under way the one unused for longest makes room. */
const MAX_OWNERS = 256;

/** By whose call it is. */
export class Owners implements AsyncDisposable {
  readonly #deps: OwnerDeps;
  /** Least recently used first. */
  readonly #owners = new Map<string, KnownOwner>();

  constructor(deps: OwnerDeps) {
    this.#deps = deps;
  }

  /** Throws ToolAuthError where the scope names no user, or no session while files are those of one. */
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

  /** Whose files a scope's are; undefined where it does not say. Nobody is kept at hand for it. */
  ownerOf(scope: ArtifactScope): FileOwner | undefined {
    const { isLasting } = this.#deps;
    return nobodyIn(scope, isLasting) === undefined ? ownerIn(scope, isLasting) : undefined;
  }

  /** The same for scopes of one user, and of one session where files do not outlive it; of nobody's too. */
  keyOf({ tenant_id = null, user_id = null, session_id = null }: ArtifactScope): string {
    return JSON.stringify([tenant_id, user_id, this.#deps.isLasting ? null : session_id]);
  }

  /** Ends all of them, also those whose calls are under way. */
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
        void this.#let(key, each);
      }
    }
  }

  /** Whoever comes back meanwhile is the same: two would be in each other's way in one folder. */
  async #let(key: string, leaving: KnownOwner): Promise<void> {
    await leaving.leave();
    if (!leaving.isBusy && this.#owners.get(key) === leaving) this.#owners.delete(key);
  }
}

/** A user that is kept at hand. */
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

  /** A call begins; gives what ends it. Until then the folder stays as it is. */
  begin(): Promise<() => void> {
    return this.#underWay.begin();
  }

  /** Works once none of the user's calls is under way; those that begin meanwhile wait for it. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#underWay.alone(work);
  }

  /** The authenticated identity as tools are told it. */
  username(): Promise<string> {
    this.#name ??= workspaceName(this.owner);
    return this.#name;
  }

  /** Undefined where there is no file system. */
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

  /** Makes room. What cannot be emptied is left to the end of the session. */
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
  "Files are kept per user, and no user is named: give the context of the call, or of connect, a scope.user_id.";
const NO_SESSION =
  "Files last for one session here, and no session is named: give the context of the call, or of connect, a scope.session_id.";

/** Why a scope names nobody; undefined where it does. */
function nobodyIn({ user_id = null, session_id = null }: ArtifactScope, isLasting: boolean): string | undefined {
  if (user_id === null || user_id === "") return NO_USER;
  if (isLasting || session_id !== null) return undefined;
  return NO_SESSION;
}

function ownerIn({ tenant_id = null, user_id, session_id = null }: ArtifactScope, isLasting: boolean): FileOwner {
  return { tenant_id, user_id: user_id ?? "", session_id: isLasting ? null : session_id };
}

/** Any number of calls at once, or one piece of work alone. */
export class UnderWay {
  #calls = 0;
  #alone = 0;
  #last: Promise<unknown> = Promise.resolve();
  readonly #waiting = new Set<() => void>();

  /** Whether anybody calls, works alone, or waits to. */
  get isBusy(): boolean {
    return this.#calls > 0 || this.#alone > 0;
  }

  /** A call begins, once what is done alone is done; gives what ends it. */
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

  /** Works once no call is under way; calls that begin meanwhile wait for it. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    this.#alone += 1;
    try {
      while (this.#calls > 0) await new Promise<void>((resume) => void this.#waiting.add(resume));
      // Nothing may be awaited between that look and this line: a call would begin.
      const mine = this.#last.then(work);
      this.#last = mine.catch(() => undefined);
      return await mine;
    } finally {
      this.#alone -= 1;
    }
  }
}
