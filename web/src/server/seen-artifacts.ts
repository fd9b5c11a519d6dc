/**
 * What was there before, so that gone and unknown can be told apart.
 * @module
 */
import { scopeKey } from "../artifacts/scope.js";
import type { ArtifactScope } from "../artifacts/store.js";

/** Remembers artifacts that were found. It may forget: what it forgot is unknown instead of gone. */
export interface SeenArtifacts {
  /** Notes that an artifact is there. */
  add(id: string, scope: ArtifactScope): void | Promise<void>;
  /** Whether it was noted, for that scope. */
  has(id: string, scope: ArtifactScope): boolean | Promise<boolean>;
}

/** Most artifacts that are remembered; the ones noted first are forgotten first. */
export const MAX_SEEN = 1024;

/** Remembers as long as the object lives. */
export class SeenInMemory implements SeenArtifacts {
  readonly #names = new Set<string>();

  add(id: string, scope: ArtifactScope): void {
    const name = nameOf(id, scope);
    this.#names.delete(name);
    this.#names.add(name);
    if (this.#names.size <= MAX_SEEN) return;
    const [oldest = ""] = this.#names;
    this.#names.delete(oldest);
  }

  has(id: string, scope: ArtifactScope): boolean {
    return this.#names.has(nameOf(id, scope));
  }
}

function nameOf(id: string, scope: ArtifactScope): string {
  return `${id} ${scopeKey(scope)}`;
}
