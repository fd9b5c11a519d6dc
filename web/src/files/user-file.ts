/**
 * A user's file, and how an artifact says that it is a version of one.
 * @module
 */
import { isArtifactId, randomHex } from "../artifacts/reference.js";
import type { StoredArtifact } from "../artifacts/store.js";
import type { DeferredReason, FileCategory } from "../core/contract.js";

/** Where a file came from. */
export type FileOrigin = "uploaded" | "generated" | "deferred";

/** What there is to a draft. */
export interface Draft {
  /** Why it is no finished file; null where the tool did not say. */
  readonly reason: DeferredReason | null;
  /** What a person may do next; a tool's words. */
  readonly next_actions: readonly string[];
  /** When it goes, in milliseconds since 1970. */
  readonly expires_at: number;
}

/** A file by its name, as its newest version is. */
export interface UserFile {
  /** As `fileName` makes names; unique among a user's files. */
  readonly name: string;
  /** Where the newest version came from. */
  readonly origin: FileOrigin;
  /** What the bytes are; null where nobody said. */
  readonly mime_type: string | null;
  /** Of the newest version. */
  readonly size_bytes: number;
  /** When it was stored, in milliseconds since 1970. */
  readonly stored_at: number;
  /** How many are kept, the newest one included. */
  readonly versions: number;
  /** The artifact of the newest version: for hosts and links, never for a path. */
  readonly id: string;
  /** What a tool files it under; null where none said. */
  readonly category: FileCategory | null;
  /** A tool's words; null where none said. */
  readonly description: string | null;
  /** What the bytes tell of themselves: `5M rows`, `640 × 480`, `14 pages`; null where that is nothing, or not known. */
  readonly facts: string | null;
  /** What there is to a deferred file; null for others. */
  readonly draft: Draft | null;
}

/** What is said of a file when it is put. */
export interface UserFileInfo {
  /** `uploaded` when left out. */
  readonly origin?: FileOrigin;
  /** What the bytes are; null or left out: what they look like. */
  readonly mime_type?: string | null;
  /** What it is filed under. */
  readonly category?: FileCategory | null;
  /** In a sentence. */
  readonly description?: string | null;
  /** Of a deferred file. */
  readonly draft?: Draft | null;
}

/** What an artifact's `source` has that is a version of a file. */
interface Mark {
  readonly origin: FileOrigin;
  readonly category?: FileCategory;
  readonly description?: string;
  readonly draft?: Draft;
}

const ORIGINS: readonly unknown[] = ["uploaded", "generated", "deferred"] satisfies FileOrigin[];
/** All versions of one file have one namespace, and no other artifact has it. */
const NAMESPACE = /^file-[0-9a-f]{16}$/;

/** A namespace for a file that there was not before. */
export function newNamespace(): string {
  return `file-${randomHex(8)}`;
}

/** Whether an id is that of a version of a file, whoever's. */
export function isFileId(id: string): boolean {
  return isArtifactId(id) && NAMESPACE.test(id.slice(0, id.lastIndexOf("_")));
}

/**
 * What an artifact's `source` says of a version.
 *
 * @param facts what the core says of the bytes, in one line; empty where nobody asked it.
 */
export function sourceOf(info: UserFileInfo, facts: string): Readonly<Record<string, unknown>> {
  const { origin = "uploaded", category, description, draft } = info;
  const mark: Mark = {
    origin,
    ...(category && { category }),
    ...(description && { description }),
    ...(draft && { draft }),
  };
  return { user_file: mark, ...(facts !== "" && { description: facts }) };
}

/** What is said of a version; undefined for what is no version of a file. */
export function markOf({ namespace, source, filename }: StoredArtifact): Mark | undefined {
  const mark = source["user_file"] as Mark | null | undefined;
  if (!NAMESPACE.test(namespace) || filename === null || typeof mark !== "object") return undefined;
  return ORIGINS.includes(mark?.origin) ? (mark as Mark) : undefined;
}

/** Whether a version is a draft whose time is over. */
export function isExpired(version: StoredArtifact, now: number): boolean {
  const expires = markOf(version)?.draft?.expires_at;
  return expires !== undefined && expires <= now;
}

/** A file from its versions, oldest first; undefined where one of them is none. */
export function userFile(name: string, versions: readonly StoredArtifact[]): UserFile | undefined {
  const newest = versions.at(-1);
  const mark = newest && markOf(newest);
  if (newest === undefined || mark === undefined) return undefined;
  const { id, mime_type, size_bytes, stored_at, source } = newest;
  const { origin, category = null, description = null, draft = null } = mark;
  const facts = factsIn(source["description"]);
  const count = versions.length;
  return { name, origin, mime_type, size_bytes, stored_at, versions: count, id, category, description, facts, draft };
}

/** Behind these words stands what somebody wrote, and no fact. */
const QUOTED = "untrusted file text:";

/** In the core's words, the most telling first. */
const TELLING: readonly (readonly [pattern: RegExp, noun?: string])[] = [
  [/(?:^|, )([\d,]+) rows?\b/, "row"],
  // JSON: of an array how long it is, of one document a line how many.
  [/^[^:{]{1,100}: array of ([\d,]+)/, "item"],
  [/(?:^|, )([\d,]+) lines of /, "line"],
  [/\d+(?:,\d{3})* × \d+(?:,\d{3})*/],
  [/[\d,]+ pages?\b/],
  [/[\d,]+ (?:files?|entries|entry)\b/],
];

/** `5M rows`, `640 × 480`, `14 pages`; null for what says nothing of the kind. */
export function factsIn(description: unknown): string | null {
  if (typeof description !== "string") return null;
  const [computed = ""] = description.split(QUOTED, 1);
  for (const [pattern, noun] of TELLING) {
    const [fact, count = ""] = pattern.exec(computed) ?? [];
    if (fact === undefined) continue;
    return noun === undefined ? fact : `${rounded(count)} ${count === "1" ? noun : `${noun}s`}`;
  }
  return null;
}

/** `5M` for millions, with a decimal where it says something; fewer are told exactly. */
function rounded(digits: string): string {
  const number = Number(digits.replaceAll(",", ""));
  return number < 1_000_000 ? digits : `${Number((number / 1_000_000).toFixed(1))}M`;
}
