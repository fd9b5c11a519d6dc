/**
 * The users of one `UserFiles`: each with files, a name and, where there is a file system, a folder.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { ToolAuthError } from "../tools/errors.js";
import type { UserWorkspace, OpenWorkspace } from "./user-workspace.js";
import { UserStorage, type FileOwner, type UserStorageOptions } from "./user-storage.js";
import { workspaceName } from "./workspace/name.js";

/** What users are made with. */
export interface OwnerTerms {
  readonly store: ArtifactStore;
  readonly options: UserStorageOptions;
  /** Whether files outlive a session. */
  readonly isLasting: boolean;
  readonly openWorkspace: OpenWorkspace | undefined;
}

/** One user. */
export interface OwnerOfFiles {
  readonly owner: FileOwner;
  readonly storage: UserStorage;
  /** The authenticated identity as tools are told it. */
  username(): Promise<string>;
  /** Undefined where there is no file system. */
  workspace(): Promise<UserWorkspace | undefined>;
}

/** Users that are kept at hand; the one unused for longest makes room. */
const MAX_OWNERS = 256;

/** By whose call it is. */
export class Owners implements AsyncDisposable {
  readonly #terms: OwnerTerms;
  /** Least recently used first. */
  readonly #owners = new Map<string, KnownOwner>();

  constructor(terms: OwnerTerms) {
    this.#terms = terms;
  }

  /** Throws ToolAuthError where the scope names no user, or no session while files are those of one. */
  of(scope: ArtifactScope): OwnerOfFiles {
    const owner = ownerIn(scope, this.#terms.isLasting);
    const key = this.keyOf(scope);
    const known = this.#owners.get(key) ?? new KnownOwner(owner, this.#terms);
    this.#owners.delete(key);
    this.#owners.set(key, known);
    for (const [oldest, each] of this.#owners) {
      if (this.#owners.size <= MAX_OWNERS) break;
      this.#owners.delete(oldest);
      void each.close();
    }
    return known;
  }

  /** The same for scopes of one user, and of one session where files do not outlive it; of nobody's too. */
  keyOf({ tenant_id = null, user_id = null, session_id = null }: ArtifactScope): string {
    return JSON.stringify([tenant_id, user_id, this.#terms.isLasting ? null : session_id]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const owners = [...this.#owners.values()];
    this.#owners.clear();
    await Promise.all(owners.map((each) => each.close()));
  }
}

class KnownOwner implements OwnerOfFiles {
  readonly owner: FileOwner;
  readonly storage: UserStorage;
  readonly #openWorkspace: OpenWorkspace | undefined;
  #name: Promise<string> | undefined;
  #workspace: Promise<UserWorkspace> | undefined;

  constructor(owner: FileOwner, { store, options, openWorkspace }: OwnerTerms) {
    this.owner = owner;
    this.storage = new UserStorage(store, owner, options);
    this.#openWorkspace = openWorkspace;
  }

  username(): Promise<string> {
    this.#name ??= workspaceName(this.owner);
    return this.#name;
  }

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

  async close(): Promise<void> {
    const workspace = await this.#workspace?.catch(() => undefined);
    await workspace?.[Symbol.asyncDispose]();
  }
}

function ownerIn(scope: ArtifactScope, isLasting: boolean): FileOwner {
  const { tenant_id = null, user_id = null, session_id = null } = scope;
  if (user_id === null || user_id === "") throw nobody("no user is named: give the call's context a scope.user_id");
  if (isLasting) return { tenant_id, user_id, session_id: null };
  if (session_id === null) throw nobody("they last for a session, and none is named: give a scope.session_id");
  return { tenant_id, user_id, session_id };
}

function nobody(why: string): ToolAuthError {
  return new ToolAuthError(`Files are kept per user, and ${why}.`);
}
