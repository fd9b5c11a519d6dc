/**
 * A store for tests and short sessions, in any runtime.
 * @module
 */
import type { Hashing } from "./hash.js";
import { MemoryContents, RefTableStore } from "./ref-table.js";
import { NO_LIMITS } from "./retention/policy.js";
import type { RetentionConfig } from "../config/types.js";
import { RetainingArtifactStore } from "./retention/retaining-store.js";
import type { Clock } from "./store.js";
import { checkOptionNames } from "../errors/arguments.js";

/** Options of a {@link MemoryArtifactStore}. */
export interface MemoryStoreOptions {
  /** Limits; the defaults are an hour, 50 MiB each, 500 MiB a session. Null: none. */
  readonly retention?: RetentionConfig | null;
  /** How contents are named; SHA-256 when left out. */
  readonly hashing?: Hashing;
  /** What artifacts are dated by, and when they expire. */
  readonly clock?: Clock;
}

/** Keeps everything in memory until it is deleted. */
export class BareMemoryStore extends RefTableStore {
  constructor(options: Pick<MemoryStoreOptions, "hashing" | "clock"> = {}) {
    super(new MemoryContents(), options);
  }
}

/**
 * Keeps everything in memory, one copy of each content, within limits. Nothing outlives the object.
 *
 * @example
 * const store = new MemoryArtifactStore();
 * const ref = await store.putText("hello", { filename: "hello.txt" });
 */
export class MemoryArtifactStore extends RetainingArtifactStore {
  constructor(options: MemoryStoreOptions = {}) {
    const { retention, clock } = checkOptionNames(options, "a MemoryArtifactStore", ["clock", "hashing", "retention"]);
    super(new BareMemoryStore(options), retention === null ? NO_LIMITS : retention, clock && { clock });
  }
}
