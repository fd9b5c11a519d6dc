/**
 * Refs by scope, in memory: what a store knows of its artifacts beside their bytes.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { objectOf } from "./bytes.js";
import { idsFor } from "./ids.js";
import { copyOf, patched, refOf, restated, type Claim } from "./record.js";
import { scopeKey } from "./scope.js";
import { inMilliseconds, Stamps } from "./stamps.js";
import type { ArtifactPatch, ArtifactRef, ArtifactScope, Clock, StoredArtifact } from "./store.js";

interface Entry {
  ref: ArtifactRef;
  /** Stamps: when it was stored first, which orders lists; when last; when it was stored or read last. */
  readonly created: number;
  stored: number;
  used: number;
}

/** What came of a put. */
export interface Put {
  readonly ref: ArtifactRef;
  /** Whether there was no such ref before: one more names the content. */
  readonly isNew: boolean;
}

/** Refs of one store. Nothing in it waits, so changes cannot mix. */
export class RefTable {
  readonly #stamps: Stamps;
  readonly #scopes = new Map<string, Map<string, Entry>>();

  constructor(clock?: Clock) {
    this.#stamps = new Stamps(clock);
  }

  /** Names a content in a scope, or says anew what is said of it. */
  put(claim: Claim, sha256: string, size: number): Put {
    const key = scopeKey(claim.scope);
    const entries = this.#scopes.get(key) ?? new Map<string, Entry>();
    this.#scopes.set(key, entries);
    for (const id of idsFor(claim.namespace, sha256)) {
      const entry = entries.get(id);
      if (entry && entry.ref.sha256 !== sha256) continue;
      if (entry) {
        entry.ref = patched(entry.ref, restated(entry.ref, claim) ?? {});
        entry.used = entry.stored = this.#stamps.next();
        return { ref: copyOf(entry.ref), isNew: false };
      }
      const ref = refOf(claim, id, sha256, size);
      const now = this.#stamps.next();
      entries.set(id, { ref, created: now, stored: now, used: now });
      return { ref: copyOf(ref), isNew: true };
    }
    throw new SluiceError("E_STORE_CORRUPT", "Every id of this content is taken by another: the hash is not sound.");
  }

  /** The hash of an artifact's content; undefined when there is none in the scope. */
  find(id: string, scope: ArtifactScope | undefined): string | undefined {
    return this.#entry(id, scope)?.ref.sha256;
  }

  /** The same, and counts as reading. */
  read(id: string, scope: ArtifactScope | undefined): string | undefined {
    const entry = this.#entry(id, scope);
    if (entry) entry.used = this.#stamps.next();
    return entry?.ref.sha256;
  }

  stat(id: string, scope: ArtifactScope | undefined): StoredArtifact | null {
    const entry = this.#entry(id, scope);
    return entry ? storedOf(entry) : null;
  }

  update(id: string, patch: ArtifactPatch, scope: ArtifactScope | undefined): ArtifactRef | null {
    const entry = this.#entry(id, scope);
    if (!entry) return null;
    entry.ref = patched(entry.ref, patch);
    return copyOf(entry.ref);
  }

  /** What one scope holds, in the order of being stored first; what all do when it is left out. */
  *list(scope: ArtifactScope | undefined): Iterable<StoredArtifact> {
    const chosen = scope === undefined ? [...this.#scopes.values()] : [this.#scopes.get(scopeKey(scope))];
    const entries = chosen.flatMap((entriesOfOne) => [...(entriesOfOne?.values() ?? [])]);
    entries.sort((left, right) => left.created - right.created);
    for (const entry of entries) yield storedOf(entry);
  }

  /** Whether nobody used an artifact since it was seen. */
  isUnused(seen: StoredArtifact): boolean {
    const entry = this.#entry(objectOf(seen, "seen").id, seen.scope);
    return entry !== undefined && inMilliseconds(entry.used) === seen.used_at;
  }

  /** Forgets a ref. */
  remove(id: string, scope: ArtifactScope | undefined): void {
    const key = scopeKey(scope);
    const entries = this.#scopes.get(key);
    entries?.delete(id);
    if (entries?.size === 0) this.#scopes.delete(key);
  }

  #entry(id: string, scope: ArtifactScope | undefined): Entry | undefined {
    return this.#scopes.get(scopeKey(scope))?.get(id);
  }
}

function storedOf({ ref, stored, used }: Entry): StoredArtifact {
  return { ...copyOf(ref), stored_at: inMilliseconds(stored), used_at: inMilliseconds(used) };
}
