/**
 * What retention goes by: limits with their defaults, four keys for stores that are shared, and what each limit counts
 * together.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { scopeKey } from "../scope.js";
import type { ArtifactScope, StoredArtifact } from "../store.js";

/** How a full store makes room. */
export type CleanupStrategy = "lru" | "fifo" | "none";

/** Limits of a store. A key left out has its default, null is no limit; bytes are stored bytes. */
export interface RetentionConfig {
  /**
   * Seconds until an artifact expires. Null: never.
   * @defaultValue `3600`
   */
  readonly ttl_seconds?: number | null;
  /**
   * From when the time to live runs: stored, since it was stored last; used, since it was stored or read last.
   * @defaultValue `"stored"`
   */
  readonly ttl_from?: "stored" | "used";
  /**
   * Most bytes of one artifact; a stream that passes it is aborted. Null: no limit.
   * @defaultValue `52428800`
   */
  readonly max_artifact_bytes?: number | null;
  /**
   * Most bytes of one session, all its traces together; needs a session_id. Null: no limit.
   * @defaultValue `524288000`
   */
  readonly max_session_bytes?: number | null;
  /**
   * Most bytes of one trace; needs a trace_id. Null: no limit.
   * @defaultValue `104857600`
   */
  readonly max_trace_bytes?: number | null;
  /**
   * Most artifacts of one trace; needs a trace_id. Null: no limit.
   * @defaultValue `100`
   */
  readonly max_artifacts_per_trace?: number | null;
  /**
   * Most artifacts of one session, all its traces together; needs a session_id. Null: no limit.
   * @defaultValue `1000`
   */
  readonly max_artifacts_per_session?: number | null;
  /**
   * Most bytes of one namespace, over all scopes. Null: no limit.
   * @defaultValue `null`
   */
  readonly max_namespace_bytes?: number | null;
  /**
   * Most bytes of the whole store; a content in several scopes counts once. Null: no limit.
   * @defaultValue `null`
   */
  readonly max_total_bytes?: number | null;
  /**
   * Share of the disk under the store that artifacts leave free: 0.1 is a tenth. 0: none; stores that cannot tell how
   * much is free leave none.
   * @defaultValue `0`
   */
  readonly min_free_disk?: number;
  /**
   * Room is made only by artifacts that were not stored or read for so many seconds.
   * @defaultValue `0`
   */
  readonly min_age_seconds?: number;
  /**
   * Which artifact makes room at a limit: the one used longest ago (lru), stored longest ago (fifo), or none: then
   * the new one is refused.
   * @defaultValue `"lru"`
   */
  readonly cleanup_strategy?: CleanupStrategy;
}

/** A retention with every key said. */
export type Retention = { readonly [Key in keyof RetentionConfig]-?: Exclude<RetentionConfig[Key], undefined> };

/** One key, in the form of the core's own table. */
interface RetentionKey {
  readonly key: `retention.${keyof RetentionConfig}`;
  readonly type: "integer or null" | "integer" | "number" | "string";
  readonly default: number | string | null;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly values?: readonly string[];
  readonly description: string;
}

const MIB = 1024 * 1024;

/** Every key with its default and what it does: what is checked, and what is documented. */
export const RETENTION_KEYS: readonly RetentionKey[] = [
  limitRow("ttl_seconds", 3600, "Seconds until an artifact expires. Null: never."),
  {
    key: "retention.ttl_from",
    type: "string",
    default: "stored",
    values: ["stored", "used"],
    description:
      "From when the time to live runs: stored, since it was stored last; used, since it was stored or read last.",
  },
  limitRow(
    "max_artifact_bytes",
    50 * MIB,
    "Most bytes of one artifact; a stream that passes it is aborted. Null: no limit.",
  ),
  limitRow(
    "max_session_bytes",
    500 * MIB,
    "Most bytes of one session, all its traces together; needs a session_id. Null: no limit.",
  ),
  limitRow("max_trace_bytes", 100 * MIB, "Most bytes of one trace; needs a trace_id. Null: no limit."),
  limitRow("max_artifacts_per_trace", 100, "Most artifacts of one trace; needs a trace_id. Null: no limit."),
  limitRow(
    "max_artifacts_per_session",
    1000,
    "Most artifacts of one session, all its traces together; needs a session_id. Null: no limit.",
  ),
  limitRow("max_namespace_bytes", null, "Most bytes of one namespace, over all scopes. Null: no limit."),
  limitRow(
    "max_total_bytes",
    null,
    "Most bytes of the whole store; a content in several scopes counts once. Null: no limit.",
  ),
  {
    key: "retention.min_free_disk",
    type: "number",
    default: 0,
    minimum: 0,
    maximum: 0.9,
    description:
      "Share of the disk under the store that artifacts leave free: 0.1 is a tenth. 0: none; stores that cannot tell " +
      "how much is free leave none.",
  },
  {
    key: "retention.min_age_seconds",
    type: "integer",
    default: 0,
    minimum: 0,
    description: "Room is made only by artifacts that were not stored or read for so many seconds.",
  },
  {
    key: "retention.cleanup_strategy",
    type: "string",
    default: "lru",
    values: ["lru", "fifo", "none"],
    description:
      "Which artifact makes room at a limit: the one used longest ago (lru), stored longest ago (fifo), or none: " +
      "then the new one is refused.",
  },
];

/** A retention that keeps everything. */
export const NO_LIMITS: RetentionConfig = {
  ...Object.fromEntries(
    RETENTION_KEYS.filter((row) => row.type === "integer or null").map((row) => [nameOf(row), null]),
  ),
  cleanup_strategy: "none",
};

/**
 * Checks a retention and fills in the defaults.
 *
 * @throws SluiceError E_CONFIG_KEY or E_CONFIG_VALUE with the path of the key, `retention.ttl_seconds`.
 */
export function readRetention(config: unknown): Retention {
  if (typeof config !== "object" || config === null || Array.isArray(config)) {
    throw new SluiceError("E_CONFIG_VALUE", 'retention must be an object, such as {"ttl_seconds": 86400}.', {
      path: "retention",
    });
  }
  const given = new Map(Object.entries(config));
  for (const name of given.keys()) {
    if (!RETENTION_KEYS.some((row) => nameOf(row) === name)) throw unknown(name);
  }
  return Object.fromEntries(
    RETENTION_KEYS.map((row) => [nameOf(row), valueOf(row, given.get(nameOf(row)))]),
  ) as unknown as Retention;
}

function limitRow(name: keyof RetentionConfig, standard: number | null, description: string): RetentionKey {
  return { key: `retention.${name}`, type: "integer or null", default: standard, minimum: 1, description };
}

function nameOf({ key }: RetentionKey): string {
  return key.slice("retention.".length);
}

function valueOf(row: RetentionKey, value: unknown): number | string | null {
  if (value === undefined) return row.default;
  if (value === null && row.type === "integer or null") return null;
  if (row.values !== undefined ? row.values.includes(value as string) : isWithin(row, value)) {
    return value as number | string;
  }
  throw new SluiceError("E_CONFIG_VALUE", `${row.key} must be ${wantedOf(row)}.`, { path: row.key });
}

function wantedOf({ type, values, minimum = 0, maximum }: RetentionKey): string {
  if (values) return `one of ${values.map((each) => JSON.stringify(each)).join(", ")}`;
  if (maximum !== undefined) return `a number from ${minimum} to ${maximum}`;
  return `a whole number of at least ${minimum}${type === "integer or null" ? ", or null" : ""}`;
}

function isWithin({ type, minimum = 0, maximum = Infinity }: RetentionKey, value: unknown): boolean {
  const isOfType = type === "number" ? typeof value === "number" : Number.isSafeInteger(value);
  return isOfType && (value as number) >= minimum && (value as number) <= maximum;
}

function unknown(name: string): SluiceError {
  const path = `retention.${name.slice(0, 100)}`;
  const known = RETENTION_KEYS.map(nameOf).join(", ");
  return new SluiceError("E_CONFIG_KEY", `${JSON.stringify(path)} is no configuration key; retention has ${known}.`, {
    path,
  });
}

/** What limits look at in an artifact, stored or on its way in. */
export interface Measured {
  readonly scope: ArtifactScope;
  readonly namespace: string;
  readonly size_bytes: number;
}

/** Names those that count together, or gives null for what does not count. */
export type GroupOf = (artifact: Measured) => string | null;

/** A limit that is set. */
export interface Limit {
  readonly key: keyof Retention;
  readonly most: number;
  readonly counts: "bytes" | "artifacts";
  /** Whether a content that several artifacts share counts once. */
  readonly once: boolean;
  /** Null where the limit does not bind. Limits that count the same together share one function. */
  readonly groupOf: GroupOf;
}

interface Kind extends Omit<Limit, "most"> {
  readonly key: keyof Retention;
}

const bytes = { counts: "bytes", once: false } as const;
const artifacts = { counts: "artifacts", once: false } as const;

// From narrow to wide: what makes room in a trace makes room in its session as well.
const KINDS: readonly Kind[] = [
  { key: "max_trace_bytes", ...bytes, groupOf: traceOf },
  { key: "max_artifacts_per_trace", ...artifacts, groupOf: traceOf },
  { key: "max_session_bytes", ...bytes, groupOf: sessionOf },
  { key: "max_artifacts_per_session", ...artifacts, groupOf: sessionOf },
  { key: "max_namespace_bytes", ...bytes, groupOf: ({ namespace }) => namespace },
  { key: "max_total_bytes", counts: "bytes", once: true, groupOf: wholeOf },
];

/** What leaves for the disk is what lies on it. How much may be there is for the disk to say, see `RetentionUsage.allow`. */
export const DISK: Limit = { key: "min_free_disk", most: Infinity, counts: "bytes", once: true, groupOf: wholeOf };

/** The group of limits on the whole store. */
export const WHOLE = "";

/** The limits that a retention sets, from narrow to wide. */
export function limitsOf(retention: Retention): readonly Limit[] {
  const limits = KINDS.flatMap((kind) => {
    const most = retention[kind.key];
    return typeof most === "number" ? [{ ...kind, most }] : [];
  });
  return retention.min_free_disk > 0 ? [...limits, DISK] : limits;
}

/** Most bytes that one artifact may have, and the key that says so. */
export interface Bound {
  readonly key: keyof Retention;
  readonly most: number;
}

/** What bounds an artifact where it goes; null where nothing does. */
export function boundOf(retention: Retention, limits: readonly Limit[], artifact: Measured): Bound | null {
  const { max_artifact_bytes } = retention;
  let bound: Bound | null =
    max_artifact_bytes === null ? null : { key: "max_artifact_bytes", most: max_artifact_bytes };
  for (const limit of limits) {
    const isBound = limit !== DISK && limit.counts === "bytes" && limit.groupOf(artifact) !== null;
    if (isBound && (bound === null || limit.most < bound.most)) bound = limit;
  }
  return bound;
}

/** Whether an artifact's time is over at `now`, in milliseconds: at the very millisecond it is. */
export function isExpired(
  artifact: Pick<StoredArtifact, "used_at" | "stored_at">,
  { ttl_seconds, ttl_from }: Retention,
  now: number,
): boolean {
  if (ttl_seconds === null) return false;
  const since = ttl_from === "used" ? artifact.used_at : artifact.stored_at;
  return now - Math.floor(since) >= ttl_seconds * 1000;
}

function wholeOf(): string {
  return WHOLE;
}

function traceOf({ scope }: Measured): string | null {
  return scope.trace_id == null ? null : scopeKey(scope);
}

function sessionOf({ scope }: Measured): string | null {
  return scope.session_id == null ? null : scopeKey({ ...scope, trace_id: null });
}
