/**
 * A map of bounded size.
 * @module
 */

/** A map that forgets what was set longest ago beyond `most` entries. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  /** Sets an entry as the newest. */
  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    for (const [oldest] of this) {
      if (this.size <= this.#most) break;
      this.delete(oldest);
    }
    return this;
  }
}
