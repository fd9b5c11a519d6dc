/**
 * How much of the disk under a store may still be taken.
 * @module
 */
import { guarded } from "../../errors/storage.js";
import type { ArtifactStore, StoreSpace } from "../store.js";

/** Bytes after which the disk is looked at again, for what others write to it. */
const LOOK_AFTER = 64 * 1024 * 1024;

/** Of a disk that tells nothing. */
export const UNKNOWN_SPACE: StoreSpace = { free_bytes: 0, total_bytes: 0 };

/** The share of a disk that stays free. Between two looks, what is taken and given back here is counted. */
export class FreeDisk {
  readonly #ask: () => Promise<StoreSpace>;
  readonly #share: number;
  /** Bytes that may be taken; below 0 where too little is free already. */
  #spare = 0;
  #taken = 0;
  #takenAtLook = 0;
  #looks = 0;

  private constructor(ask: () => Promise<StoreSpace>, share: number) {
    this.#ask = ask;
    this.#share = share;
  }

  /** Null where nothing has to stay free, or the store cannot tell what is. */
  static of(store: ArtifactStore, share: number): FreeDisk | null {
    if (!(share > 0) || typeof store.space !== "function") return null;
    return new FreeDisk(() => guarded("read", async () => (await store.space?.()) ?? UNKNOWN_SPACE), share);
  }

  get spare(): number {
    return this.#spare;
  }

  /** Whether so much was taken that it is time to look. */
  get isDue(): boolean {
    return this.#taken - this.#takenAtLook >= LOOK_AFTER;
  }

  /** Asks the store. What is taken meanwhile may count twice, never not at all. */
  async look(): Promise<void> {
    const before = this.#taken;
    const { free_bytes, total_bytes } = await this.#ask();
    const most = free_bytes - this.#share * total_bytes;
    // A disk that does not say how large it is leaves nothing to go by.
    this.#spare = total_bytes > 0 && Number.isFinite(most) ? Math.floor(most) - (this.#taken - before) : Infinity;
    this.#takenAtLook = before;
    this.#looks += 1;
  }

  /** Counts bytes that are about to be written; false, and nothing is counted, when there is no room for them. */
  take(bytes: number): boolean {
    if (bytes > Math.max(this.#spare, 0)) return false;
    this.#spare -= bytes;
    this.#taken += bytes;
    return true;
  }

  /** Counts bytes that work makes free, unless a look has seen it by then. */
  async give<T>(work: () => Promise<T>, freed: () => number): Promise<T> {
    const looks = this.#looks;
    const result = await work();
    if (looks === this.#looks) this.#spare += freed();
    return result;
  }
}
