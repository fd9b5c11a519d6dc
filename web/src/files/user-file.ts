/**
 * A user's file, and how an artifact says that it is a version of one.
 * @module
 */
import type { StoredArtifact } from "../artifacts/store.js";

/** Where a file came from (user storage §4.2). */
export type FileOrigin = "uploaded" | "generated" | "deferred";

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
}

/** What is said of a file when it is put. */
export interface UserFileInfo {
  /** `uploaded` when left out. */
  readonly origin?: FileOrigin;
  /** What the bytes are; null or left out: unknown. */
  readonly mime_type?: string | null;
}

/** What an artifact's `source` has that is a version of a file. */
interface Mark {
  readonly origin: FileOrigin;
}

const ORIGINS: readonly unknown[] = ["uploaded", "generated", "deferred"] satisfies FileOrigin[];
/** All versions of one file have one namespace, and no other artifact has it. */
const NAMESPACE = /^file-[0-9a-f]{16}$/;

/** A namespace for a file that there was not before. */
export function newNamespace(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `file-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** What an artifact's `source` says of a version. */
export function sourceOf(origin: FileOrigin): { readonly user_file: Mark } {
  return { user_file: { origin } };
}

/** Where a version came from; undefined for what is no version of a file. */
export function originOf({ namespace, source, filename }: StoredArtifact): FileOrigin | undefined {
  const mark = source["user_file"] as Partial<Mark> | null | undefined;
  if (!NAMESPACE.test(namespace) || filename === null || typeof mark !== "object") return undefined;
  return ORIGINS.includes(mark?.origin) ? mark?.origin : undefined;
}

/** A file from its versions, oldest first; undefined where one of them is none. */
export function userFile(name: string, versions: readonly StoredArtifact[]): UserFile | undefined {
  const newest = versions.at(-1);
  const origin = newest && originOf(newest);
  if (newest === undefined || origin === undefined) return undefined;
  const { id, mime_type, size_bytes, stored_at } = newest;
  return { name, origin, mime_type, size_bytes, stored_at, versions: versions.length, id };
}
