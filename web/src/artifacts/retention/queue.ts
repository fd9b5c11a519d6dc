/**
 * Artifacts by a time that each of them has.
 * @module
 */
import type { StoredArtifact } from "../store.js";

/** The time that orders a queue. */
export type QueueTime = "stored_at" | "used_at";

/**
 * The earliest first. As times grow, what comes later goes to the end, which costs the same however long the queue is;
 * only after a time that is earlier than another's the whole is sorted, when it is next looked at.
 */
export class Queue {
  readonly #time: QueueTime;
  #artifacts = new Map<string, StoredArtifact>();
  #latest = -Infinity;
  #sorted = true;

  constructor(time: QueueTime) {
    this.#time = time;
  }

  get size(): number {
    return this.#artifacts.size;
  }

  /** Puts an artifact, which must not be in the queue, where its time says. */
  add(key: string, artifact: StoredArtifact): void {
    const time = artifact[this.#time];
    if (time < this.#latest) this.#sorted = false;
    else this.#latest = time;
    this.#artifacts.set(key, artifact);
  }

  remove(key: string): void {
    this.#artifacts.delete(key);
  }

  /** Names and artifacts. What changes meanwhile may be seen or not. */
  entries(): IterableIterator<[key: string, artifact: StoredArtifact]> {
    if (!this.#sorted) {
      const time = this.#time;
      this.#artifacts = new Map([...this.#artifacts].toSorted(([, left], [, right]) => left[time] - right[time]));
      this.#sorted = true;
    }
    return this.#artifacts.entries();
  }
}
