/**
 * What a user has, looked for once for several puts.
 * @module
 */
import type { Clock, StoredArtifact } from "../artifacts/store.js";
import type { ListedFile } from "./listing.js";
import { isExpired } from "./user-file.js";

/** Where a listing comes from, and what tells whether it still holds. */
export interface ReusedListingTerms {
  readonly list: () => Promise<ReadonlyMap<string, ListedFile>>;
  /** What the store says of a version now; null where it is gone. */
  readonly stat: (id: string) => Promise<StoredArtifact | null>;
  /** Counts what this process does to the user's files. */
  readonly changes: () => number;
  readonly now: Clock;
}

/** Milliseconds after which it is made anew: for so long a name that another process gives may go unseen. */
const MAX_AGE = 5000;

/**
 * One listing, used for as long as it holds. What this process does shows at once. A file that is known is asked for before it counts,
 * so whatever another process renamed, deleted or put again makes for a new listing.
 */
export class ReusedListing {
  readonly #terms: ReusedListingTerms;
  #files = new Map<string, ListedFile>();
  /** Of how many changes it knows; none was made yet. */
  #changes = -1;
  #listedAt = 0;

  constructor(terms: ReusedListingTerms) {
    this.#terms = terms;
  }

  /** The file of that name, which nobody else of this process puts or renames meanwhile; undefined where there is none. */
  async find(name: string): Promise<ListedFile | undefined> {
    if (this.#isCurrent()) {
      const known = this.#files.get(name);
      if (known === undefined || (await this.#isAsListed(known))) return known;
    }
    const changes = this.#terms.changes();
    const files = new Map(await this.#terms.list());
    [this.#files, this.#changes, this.#listedAt] = [files, changes, this.#terms.now()];
    return files.get(name);
  }

  /** Takes in the change that was counted last. */
  note(name: string, listed: ListedFile): void {
    const changes = this.#terms.changes();
    if (this.#changes !== changes - 1) return;
    this.#files.set(name, listed);
    this.#changes = changes;
  }

  #isCurrent(): boolean {
    const age = this.#terms.now() - this.#listedAt;
    return this.#changes === this.#terms.changes() && age >= 0 && age <= MAX_AGE;
  }

  async #isAsListed({ versions }: ListedFile): Promise<boolean> {
    const newest = versions.at(-1);
    if (newest === undefined || versions.some((version) => isExpired(version, this.#terms.now()))) return false;
    // What is wrong with a store that does not answer, its listing tells.
    const now = await this.#terms.stat(newest.id).catch(() => null);
    return now?.filename === newest.filename && now.stored_at === newest.stored_at;
  }
}
