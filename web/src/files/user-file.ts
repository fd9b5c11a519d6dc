/**
 * A user's file, and the marks by which an artifact is a version of one.
 * @module
 */
import { isArtifactId, randomHex } from "../artifacts/reference.js";
import type { ArtifactRef, StoredArtifact } from "../artifacts/store.js";
import type { DeferredReason, FileCategory } from "../core/contract-types.js";

/** Where a file came from. */
type FileOrigin = "uploaded" | "generated" | "deferred";

/** The state of a draft. */
export interface Draft {
  /** Why it is not finished; null if the tool gave no reason. */
  readonly reason: DeferredReason | null;
  /** What a person may do next, in the tool's words. */
  readonly next_actions: readonly string[];
  /** When it expires, in milliseconds since 1970. */
  readonly expires_at: number;
}

/** A file, described by its newest version. */
export interface UserFile {
  /** A result of `fileName`; unique among a user's files. */
  readonly name: string;
  /** Where the newest version came from. */
  readonly origin: FileOrigin;
  /** Media type; null if unknown. */
  readonly mime_type: string | null;
  /** Of the newest version. */
  readonly size_bytes: number;
  /** When it was stored, in milliseconds since 1970. */
  readonly stored_at: number;
  /** Number of kept versions, including the newest. */
  readonly versions: number;
  /** Artifact id of the newest version, for hosts and links. Never part of a path. */
  readonly id: string;
  /** The tool's category; null if it gave none. */
  readonly category: FileCategory | null;
  /** The tool's description; null if it gave none. */
  readonly description: string | null;
  /** Facts from the content: `5M rows`, `640 × 480`, `14 pages`; null if nothing is known. */
  readonly facts: string | null;
  /** The state of a draft; null for other files. */
  readonly draft: Draft | null;
}

/** What the caller knows about a new file. */
export interface UserFileInfo {
  /** Default: `uploaded`. */
  readonly origin?: FileOrigin;
  /** Media type. Default: detected from the bytes. */
  readonly mime_type?: string | null;
  /** Category. */
  readonly category?: FileCategory | null;
  /** One sentence. */
  readonly description?: string | null;
  /** The state of a draft. */
  readonly draft?: Draft | null;
}

/** The mark in an artifact's `source` that makes it a version of a file. */
interface Mark {
  readonly origin: FileOrigin;
  readonly category?: FileCategory;
  readonly description?: string;
  readonly draft?: Draft;
  /** Its place among the versions: a time in milliseconds, later than that of each version before it. */
  readonly order?: number;
}

const ORIGINS: readonly unknown[] = ["uploaded", "generated", "deferred"] satisfies FileOrigin[];
/** The namespace that all versions of one file share, and no other artifact has. */
const NAMESPACE = /^file-[0-9a-f]{16}$/;

/** A namespace for a new file. */
export function newNamespace(): string {
  return `file-${randomHex(8)}`;
}

/** Whether an id is that of a version of a file, of any user. A host's own store may give files other ids, see {@link isFile}. */
export function isFileId(id: string): boolean {
  return isArtifactId(id) && NAMESPACE.test(id.slice(0, id.lastIndexOf("_")));
}

/** Whether an artifact is a version of a file. */
export function isFile({ namespace }: Pick<ArtifactRef, "namespace">): boolean {
  return NAMESPACE.test(namespace);
}

/**
 * The `source` of an artifact that is a version of a file.
 *
 * @param facts the core's description of the bytes, in one line; may be empty.
 * @param order its place among the versions, see {@link readOrder}.
 */
export function makeSource(info: UserFileInfo, facts: string, order: number): ArtifactRef["source"] {
  const { origin = "uploaded", category, description, draft } = info;
  const mark: Mark = {
    origin,
    ...(category && { category }),
    ...(description && { description }),
    ...(draft && { draft }),
    order,
  };
  return { user_file: mark, ...(facts !== "" && { description: facts }) };
}

/** The mark of a version; undefined for other artifacts. */
export function readMark({ namespace, source, filename }: StoredArtifact): Mark | undefined {
  const mark = source["user_file"] as Mark | null | undefined;
  if (!NAMESPACE.test(namespace) || filename === null || typeof mark !== "object") return undefined;
  return ORIGINS.includes(mark?.origin) ? (mark as Mark) : undefined;
}

/** The place of a version among those of its file. Two may be stored in the same millisecond. */
export function readOrder(version: StoredArtifact): number {
  const order = readMark(version)?.order;
  return typeof order === "number" ? Math.max(order, version.stored_at) : version.stored_at;
}

/** Whether a version is an expired draft. */
export function isExpired(version: StoredArtifact, now: number): boolean {
  const expires = readMark(version)?.draft?.expires_at;
  return expires !== undefined && expires <= now;
}

/** A file from its versions, oldest first; undefined if the newest is no version of a file. */
export function userFile(name: string, versions: readonly StoredArtifact[]): UserFile | undefined {
  const newest = versions.at(-1);
  const mark = newest && readMark(newest);
  if (newest === undefined || mark === undefined) return undefined;
  const { id, mime_type, size_bytes, stored_at, source } = newest;
  const { origin, category = null, description = null, draft = null } = mark;
  const facts = factsIn(source.description);
  const count = versions.length;
  return { name, origin, mime_type, size_bytes, stored_at, versions: count, id, category, description, facts, draft };
}

/** The words before quoted text, which is no fact. */
const QUOTED = "(from the file):";

/** Facts in the core's words, the most useful first. */
const TELLING: readonly (readonly [pattern: RegExp, noun?: string])[] = [
  [/(?:^|, )([\d,]+) rows?\b/, "row"],
  // JSON: the length of an array, or the number of documents, one per line.
  [/^[^:{]{1,100}: array of ([\d,]+)/, "item"],
  [/(?:^|, )([\d,]+) lines of /, "line"],
  [/\d+(?:,\d{3})* × \d+(?:,\d{3})*/],
  [/[\d,]+ pages?\b/],
  [/[\d,]+ (?:files?|entries|entry)\b/],
];

/** `5M rows`, `640 × 480`, `14 pages`; null if the description has none. */
export function factsIn(description: unknown): string | null {
  if (typeof description !== "string") return null;
  const [computed = ""] = description.split(QUOTED, 1);
  for (const [pattern, noun] of TELLING) {
    const [fact, count = ""] = pattern.exec(computed) ?? [];
    if (fact === undefined) continue;
    return noun === undefined ? fact : `${roundCount(count)} ${count === "1" ? noun : `${noun}s`}`;
  }
  return null;
}

/** `5M` for millions, without a zero decimal. Smaller numbers stay exact. */
function roundCount(digits: string): string {
  const number = Number(digits.replaceAll(",", ""));
  return number < 1_000_000 ? digits : `${Number((number / 1_000_000).toFixed(1))}M`;
}
