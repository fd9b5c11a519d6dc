/**
 * The store of those who configured none: says so once, keeps nothing (RFC 0.3 §7.4).
 * @module
 */
import { sha256 } from "#hash";
import type { Hashing } from "./hash.js";
import { idsFor } from "./ids.js";
import { claimOf, patched, refOf, type Claim } from "./record.js";
import { SinkWriter, type Sink } from "./writer.js";
import type {
  ArtifactInfo,
  ArtifactPatch,
  ArtifactRef,
  ArtifactStore,
  ArtifactWriter,
  StoredArtifact,
} from "./store.js";

/** Options of a {@link NoOpArtifactStore}. */
export interface NoOpStoreOptions {
  /** Takes the one warning; `console.warn` when left out. */
  readonly warn?: (message: string) => void;
  readonly hashing?: Hashing;
}

const NOT_STORED = "Content not stored (no ArtifactStore configured)";
const WARNING =
  "Sluice has no artifact store: large and binary content is taken out of results and lost. " +
  "Pass one, for example createSluice({ store: new MemoryArtifactStore() }).";

/**
 * Answers every put with a ref that says that nothing was stored: id `truncated_<12 hex>`, and a `source`
 * with `warning`, `truncated: true` and `original_size` in bytes. Finds nothing, ever.
 */
export class NoOpArtifactStore implements ArtifactStore {
  readonly #hashing: Hashing;
  readonly #warn: (message: string) => void;
  #warned = false;

  constructor(options: NoOpStoreOptions = {}) {
    this.#hashing = options.hashing ?? sha256;
    this.#warn = options.warn ?? ((message): void => console.warn(message));
  }

  async putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    const claim = claimOf(info);
    this.#warnOnce();
    return truncated(claim, await this.#hashing.whole(data), data.byteLength);
  }

  async putText(text: string, info: ArtifactInfo = {}): Promise<ArtifactRef> {
    return this.putBytes(new TextEncoder().encode(text), { mime_type: "text/plain", ...info });
  }

  async get(): Promise<null> {
    return null;
  }

  async delete(): Promise<false> {
    return false;
  }

  async exists(): Promise<false> {
    return false;
  }

  async stat(): Promise<null> {
    return null;
  }

  async update(): Promise<null> {
    return null;
  }

  async *list(): AsyncIterable<StoredArtifact> {}

  async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    const claim = claimOf(info);
    this.#warnOnce();
    const hash = await this.#hashing.stream();
    let size = 0;
    const sink: Sink = {
      write(chunk: Uint8Array): undefined {
        hash.update(chunk);
        size += chunk.byteLength;
      },
      commit: async (patch: ArtifactPatch) => truncated(patched(claim, patch), hash.digest(), size),
      discard: () => Promise.resolve(),
    };
    return new SinkWriter(sink);
  }

  async openReader(): Promise<null> {
    return null;
  }

  async evict(): Promise<false> {
    return false;
  }

  #warnOnce(): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#warn(WARNING);
  }
}

function truncated(claim: Claim, sha256Hex: string, size: number): ArtifactRef {
  const id = idsFor("truncated", sha256Hex).next().value ?? "truncated";
  const source = { ...claim.source, warning: NOT_STORED, truncated: true, original_size: size };
  return refOf({ ...claim, source }, id, sha256Hex, size);
}
