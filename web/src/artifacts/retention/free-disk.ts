/**
 * The free space of the disk under a store.
 * @module
 */
import { guarded } from "../../errors/storage.js";
import type { ArtifactStore, StoreSpace } from "../store.js";

/** The disk is checked again after so many bytes, for what other programs write to it. */
const LOOK_AFTER = 64 * 1024 * 1024;

/** The space of a disk that does not tell it. */
export const UNKNOWN_SPACE: StoreSpace = { free_bytes: 0, total_bytes: 0 };

/** Keeps a share of the disk free. Between two checks, what is reserved and freed here is counted. */
export class FreeDisk {
  readonly #ask: () => Promise<StoreSpace>;
  readonly #share: number;
  /** Bytes that may be taken. Negative if too little is free already. */
  #spare = 0;
  #taken = 0;
  #takenAtLook = 0;
  #looks = 0;

  private constructor(ask: () => Promise<StoreSpace>, share: number) {
    this.#ask = ask;
    this.#share = share;
  }

  /** Null if nothing has to stay free, or the store cannot tell its space. */
  static of(store: ArtifactStore, share: number): FreeDisk | null {
    if (!(share > 0) || typeof store.space !== "function") return null;
    return new FreeDisk(() => guarded("read", async () => (await store.space?.()) ?? UNKNOWN_SPACE), share);
  }

  get spare(): number {
    return this.#spare;
  }

  /** Whether enough was taken for another check. */
  get isDue(): boolean {
    return this.#taken - this.#takenAtLook >= LOOK_AFTER;
  }

  /** Asks the store. What is taken in the meantime may count twice, but always counts. */
  async look(): Promise<void> {
    const before = this.#taken;
    const { free_bytes, total_bytes } = await this.#ask();
    const most = free_bytes - this.#share * total_bytes;
    // Without a total there is no limit.
    this.#spare = total_bytes > 0 && Number.isFinite(most) ? Math.floor(most) - (this.#taken - before) : Infinity;
    this.#takenAtLook = before;
    this.#looks += 1;
  }

  /** Reserves bytes that are about to be written. False, and reserves none, if there is no room. */
  take(bytes: number): boolean {
    if (bytes > Math.max(this.#spare, 0)) return false;
    this.#spare -= bytes;
    this.#taken += bytes;
    return true;
  }

  /** Counts bytes that work frees, unless a check has seen them by then. */
  async give<T>(work: () => Promise<T>, freed: () => number): Promise<T> {
    const looks = this.#looks;
    const result = await work();
    if (looks === this.#looks) this.#spare += freed();
    return result;
  }
}
