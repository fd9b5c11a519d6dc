/**
 * The store of those who configured none: says so once, keeps nothing.
 * @module
 */
import { checkBytes, encodeText } from "./bytes.js";
import type { Hashing } from "./hash.js";
import { infoOfText, openUnstored, type Unstored } from "./reference.js";
import type {
  ArtifactInfo,
  ArtifactPatch,
  ArtifactRef,
  ArtifactStore,
  ArtifactWriter,
  StoredArtifact,
} from "./store.js";
import { SinkWriter, type ByteSink } from "./writer.js";
import { checkOptionNames, wrong } from "../errors/arguments.js";

/** Options of a {@link NoOpArtifactStore}. */
export interface NoOpStoreOptions {
  /** Takes the one warning; `console.warn` when left out. */
  readonly warn?: (message: string) => void;
  /** How contents are named; SHA-256 when left out. */
  readonly hashing?: Hashing;
  /**
   * Characters of a text that its ref keeps, in `source.preview`.
   * @defaultValue 500
   */
  readonly maxInlinePreview?: number;
}

/** Characters of a text that a ref keeps. */
const MAX_PREVIEW = 500;

const NOT_STORED = "Content not stored (no ArtifactStore configured)";
const WARNING =
  "Sluice has no artifact store: large and binary content is removed from results and lost. " +
  'Add a store, for example: createSluice({ store: "memory" })';

/**
 * Answers every put with a ref that says that nothing was stored: id `truncated_<12 hex>`, and a `source`
 * with `warning`, `truncated: true` and `original_size` in bytes; that of a text has its beginning as `preview`. Finds nothing, ever.
 */
export class NoOpArtifactStore implements ArtifactStore {
  readonly #hashing: Hashing | undefined;
  readonly #warn: (message: string) => void;
  readonly #maxPreview: number;
  #warned = false;

  constructor(options: NoOpStoreOptions = {}) {
    checkOptionNames(options, "a NoOpArtifactStore", ["hashing", "maxInlinePreview", "warn"]);
    const { maxInlinePreview = MAX_PREVIEW } = options;
    if (!Number.isSafeInteger(maxInlinePreview) || maxInlinePreview < 0) {
      throw wrong("maxInlinePreview", "a number of characters");
    }
    this.#maxPreview = maxInlinePreview;
    this.#hashing = options.hashing;
    this.#warn = options.warn ?? ((message): void => console.warn(message));
  }

  async putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    checkBytes(data, "data");
    const unstored = await this.#begin(info);
    unstored.write(data);
    return wholeRef(unstored);
  }

  async putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef> {
    const bytes = encodeText(text);
    const { source, ...rest } = infoOfText(info);
    const preview = this.#maxPreview === 0 ? {} : { preview: cutCharacters(text, this.#maxPreview) };
    return this.putBytes(bytes, { ...rest, source: { ...source, ...preview } });
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
    const unstored = await this.#begin(info);
    const sink: ByteSink = {
      write(chunk): undefined {
        unstored.write(chunk);
      },
      commit: (patch) => Promise.resolve(wholeRef(unstored, patch)),
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

  async #begin(info: ArtifactInfo = {}): Promise<Unstored> {
    const unstored = await openUnstored(info, NOT_STORED, undefined, this.#hashing);
    if (!this.#warned) this.#warn(WARNING);
    this.#warned = true;
    return unstored;
  }
}

/** The first characters of a text, whole ones. */
function cutCharacters(text: string, most: number): string {
  return Array.from(text.slice(0, most * 2))
    .slice(0, most)
    .join("");
}

/** All bytes passed by, so there is a hash. */
function wholeRef(unstored: Unstored, patch?: ArtifactPatch): ArtifactRef {
  return unstored.ref(patch) as ArtifactRef;
}
