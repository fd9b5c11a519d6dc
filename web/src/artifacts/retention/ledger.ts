/**
 * What a store is known to hold, and how much of each limit that takes.
 * @module
 */
import { scopeKey } from "../scope.js";
import type { ArtifactRef, ArtifactScope, StoredArtifact } from "../store.js";
import type { Limit } from "./limits.js";
import { Tally } from "./tally.js";

/** Most departed artifacts that are remembered, so as to say `expired` and not `unknown`. */
const MAX_DEPARTED = 10_000;

/** Names an artifact over all scopes. */
function keyOf(id: string, scope: ArtifactScope | undefined): string {
  return `${id} ${scopeKey(scope)}`;
}

/** The books of one retaining store. Holds no bytes and asks nobody. */
export class Ledger {
  readonly #limits: readonly Limit[];
  readonly #kept = new Map<string, StoredArtifact>();
  readonly #departed = new Set<string>();
  #tally: Tally;

  constructor(limits: readonly Limit[]) {
    this.#limits = limits;
    this.#tally = new Tally(limits);
  }

  get kept(): Iterable<StoredArtifact> {
    return this.#kept.values();
  }

  get tally(): Tally {
    return this.#tally;
  }

  /** Starts anew from what the store says. */
  reset(artifacts: Iterable<StoredArtifact>): void {
    this.#kept.clear();
    this.#tally = new Tally(this.#limits);
    for (const artifact of artifacts) this.enter(artifact);
  }

  find(id: string, scope: ArtifactScope | undefined): StoredArtifact | undefined {
    return this.#kept.get(keyOf(id, scope));
  }

  /** Notes an artifact, in place of what was noted of it before. */
  enter(artifact: StoredArtifact): void {
    const key = keyOf(artifact.id, artifact.scope);
    const before = this.#kept.get(key);
    if (before) this.#tally.remove(before);
    this.#kept.set(key, artifact);
    this.#tally.add(artifact);
    this.#departed.delete(key);
  }

  /** Strikes an artifact out. */
  strike(id: string, scope: ArtifactScope | undefined): void {
    const key = keyOf(id, scope);
    const artifact = this.#kept.get(key);
    if (!artifact) return;
    this.#kept.delete(key);
    this.#tally.remove(artifact);
  }

  /** Strikes it out as taken away by retention. */
  depart({ id, scope }: ArtifactRef): void {
    this.strike(id, scope);
    this.#departed.add(keyOf(id, scope));
    if (this.#departed.size <= MAX_DEPARTED) return;
    for (const oldest of this.#departed) {
      this.#departed.delete(oldest);
      return;
    }
  }

  hasDeparted(id: string, scope: ArtifactScope | undefined): boolean {
    return this.#departed.has(keyOf(id, scope));
  }
}
