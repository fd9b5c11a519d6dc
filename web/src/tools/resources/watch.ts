/**
 * What changed at a source while something was fetched from it.
 * @module
 */

/** URIs that are remembered; above it everything counts as changed. */
const MAX_SEEN = 64;

/** Notices of changes during one fetch. */
export class Watch {
  readonly #changed = new Set<string>();
  #all = false;

  /** One resource changed. */
  note(uri: string): void {
    this.#changed.add(uri);
    if (this.#changed.size > MAX_SEEN) this.noteAll();
  }

  /** Anything may have changed. */
  noteAll(): void {
    this.#all = true;
    this.#changed.clear();
  }

  /** Whether one of these changed. */
  touches(uris: ReadonlySet<string>): boolean {
    if (this.#all) return true;
    for (const uri of this.#changed) if (uris.has(uri)) return true;
    return false;
  }
}
