/**
 * A disk whose room a test decides.
 * @module
 */
import { BareMemoryStore } from "../../../../web/src/artifacts/memory.js";
import type { RetentionConfig } from "../../../../web/src/config/types.js";
import type { ArtifactInfo, ArtifactWriter, StoredArtifact, StoreSpace } from "../../../../web/src/artifacts/store.js";
import { listed } from "../bytes.js";

export const MIB = 1024 * 1024;
export const TENTH: RetentionConfig = {
  ttl_seconds: null,
  max_artifact_bytes: null,
  min_free_disk: 0.1,
};
export const FULL = { code: "E_STORE_FULL", path: "retention.min_free_disk" };

/** A store on a disk of its own: what writers took lies on it, and what others put there. */
export class Disk extends BareMemoryStore {
  readonly total: number;
  others = 0;
  looks = 0;
  /** The fewest bytes that were ever free. */
  least: number;
  /** Turns of the microtask queue that answers take, over and over. */
  hops: readonly number[] = [1];
  afterAbort: () => Promise<void> = () => Promise.resolve();
  #answers = 0;
  readonly #writing = new Map<object, number>();
  readonly #blobs = new Map<string, { bytes: number; refs: Set<string> }>();

  constructor(total: number, clock?: () => number) {
    super(clock ? { clock } : {});
    this.total = total;
    this.least = total;
  }

  get free(): number {
    let used = this.others;
    for (const bytes of this.#writing.values()) used += bytes;
    for (const { bytes } of this.#blobs.values()) used += bytes;
    return this.total - used;
  }

  async space(): Promise<StoreSpace> {
    this.looks += 1;
    await this.#pause();
    const space = { free_bytes: this.free, total_bytes: this.total };
    await this.#pause();
    return space;
  }

  async #pause(): Promise<void> {
    const hops = this.hops[this.#answers++ % this.hops.length] ?? 0;
    for (let hop = 0; hop < hops; hop++) await Promise.resolve();
  }

  override async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    const inner = await super.openWriter(info);
    const me = {};
    return {
      write: async (chunk) => {
        this.#writing.set(me, (this.#writing.get(me) ?? 0) + chunk.byteLength);
        this.least = Math.min(this.least, this.free);
        await inner.write(chunk);
      },
      close: async (patch) => {
        const ref = await inner.close(patch);
        const blob = this.#blobs.get(ref.sha256) ?? { bytes: ref.size_bytes, refs: new Set() };
        this.#blobs.set(ref.sha256, blob);
        blob.refs.add(`${ref.id} ${ref.scope.session_id}`);
        this.#writing.delete(me);
        return ref;
      },
      abort: async () => {
        await this.#pause();
        await inner.abort();
        this.#writing.delete(me);
        await this.#pause();
        await this.afterAbort();
      },
      [Symbol.asyncDispose]: async () => inner[Symbol.asyncDispose](),
    };
  }

  override async evict(seen: StoredArtifact): Promise<boolean> {
    const gone = await super.evict(seen);
    const blob = this.#blobs.get(seen.sha256);
    if (gone) blob?.refs.delete(`${seen.id} ${seen.scope.session_id}`);
    if (blob?.refs.size === 0) this.#blobs.delete(seen.sha256);
    await this.#pause();
    return gone;
  }
}

export const textOf = (letter: string, size: number): string => letter.repeat(size);

export async function idsIn(store: { list: BareMemoryStore["list"] }): Promise<string[]> {
  return (await listed(store.list())).map(({ id }) => id);
}
