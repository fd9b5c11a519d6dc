/**
 * What retention goes by: its limits, and what each limit counts together.
 * @module
 */
import { readSettings } from "../../config/check.js";
import { RETENTION_LIMITS, RETENTION_SCHEMA, type RetentionLimit } from "../../config/schema.mjs";
import type { RetentionConfig } from "../../config/types.js";
import { scopeKey } from "../scope.js";
import type { ArtifactScope, StoredArtifact } from "../store.js";

/** How a full store makes room. */
export type CleanupStrategy = NonNullable<RetentionConfig["cleanup_strategy"]>;

/** A retention with every key given. */
export type Retention = { readonly [Key in keyof RetentionConfig]-?: Exclude<RetentionConfig[Key], undefined> };

/** A retention that keeps everything. */
export const NO_LIMITS: RetentionConfig = {
  ...Object.fromEntries(
    Object.entries(RETENTION_SCHEMA.properties ?? {}).flatMap(([name, { type }]) =>
      type?.includes("null") === true ? [[name, null]] : [],
    ),
  ),
  cleanup_strategy: "none",
};

/**
 * Checks a retention and fills in the defaults.
 *
 * @throws SluiceError E_CONFIG_KEY or E_CONFIG_VALUE with the path of the key, `retention.ttl_seconds`.
 */
export function readRetention(config: unknown): Retention {
  return readSettings(config, RETENTION_SCHEMA, "retention") as Retention;
}

/** What decides with which others an artifact counts. */
interface Owned {
  readonly scope: ArtifactScope;
  readonly namespace: string;
}

/** What limits look at in an artifact, stored or on its way in. */
export interface Measured extends Owned {
  readonly size_bytes: number;
}

/** What counts together. */
export type Group = RetentionLimit["within"];

/** A limit that is set. */
export interface Limit extends RetentionLimit {
  readonly key: keyof Retention;
  readonly most: number;
}

/** From narrow to wide: what makes room in a trace makes room in its session as well. */
const GROUPS: readonly Group[] = ["trace", "session", "namespace", "store"];

/** The limits in `web/src/config/retention.json`, from narrow to wide. */
const LIMITS = GROUPS.flatMap((group) => RETENTION_LIMITS.filter(({ within }) => within === group)) as readonly Omit<
  Limit,
  "most"
>[];

/** What leaves for the disk is what lies on it. How much may be there is for the disk to say, see `RetentionUsage.allow`. */
export const DISK: Limit = { key: "min_free_disk", most: Infinity, counts: "bytes", once: true, within: "store" };

/** The one group of limits on the whole store. */
export const WHOLE = "";

/** The limits that a retention sets, from narrow to wide. */
export function listLimits(retention: Retention): readonly Limit[] {
  const limits = LIMITS.flatMap((limit) => {
    const most = retention[limit.key];
    return typeof most === "number" ? [{ ...limit, most }] : [];
  });
  return retention.min_free_disk > 0 ? [...limits, DISK] : limits;
}

/** Most bytes that one artifact may have, and the key that says so. */
export interface Bound {
  readonly key: keyof Retention;
  readonly most: number;
}

/** What bounds an artifact where it goes; null where nothing does. */
export function findBound(retention: Retention, limits: readonly Limit[], artifact: Owned): Bound | null {
  const { max_artifact_bytes } = retention;
  let bound: Bound | null =
    max_artifact_bytes === null ? null : { key: "max_artifact_bytes", most: max_artifact_bytes };
  for (const limit of limits) {
    const isBound = limit !== DISK && limit.counts === "bytes" && nameGroup(limit.within, artifact) !== null;
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

/** Names the group that an artifact counts in; null where a limit on such groups does not bind it. */
export function nameGroup(within: Group, { scope, namespace }: Owned): string | null {
  switch (within) {
    case "trace":
      return scope.trace_id == null ? null : scopeKey(scope);
    case "session":
      return scope.session_id == null ? null : scopeKey({ ...scope, trace_id: null });
    case "namespace":
      return namespace;
    default:
      return WHOLE;
  }
}
