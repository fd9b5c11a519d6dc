/**
 * What an operating system or a storage service refused, as a coded error.
 * @module
 */
import { SluiceError, type ErrorCode } from "./error.js";

/** Whether the store was being read or changed when it failed. */
export type StorageAct = "read" | "write";

const FULL = "The store is full: free some disk space or quota, delete artifacts, or use another store.";
const DENIED =
  "Access to the store was denied: check that this user owns the store folder, can read and write it, " +
  "and that it is not on a read-only disk.";
const HANDLES = "Too many files are open: close readers and writers that are no longer needed, or raise the limit.";

const NO_FOLDER = "The store path is a file, or lies inside one: use a folder.";

const KNOWN: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOSPC: ["E_STORE_FULL", FULL],
  EDQUOT: ["E_STORE_FULL", FULL],
  EFBIG: ["E_STORE_FULL", "The artifact is larger than the store's file system allows: use another store."],
  EACCES: ["E_STORE_DENIED", DENIED],
  EPERM: ["E_STORE_DENIED", DENIED],
  EROFS: ["E_STORE_DENIED", DENIED],
  ELOOP: ["E_STORE_DENIED", "The store contains a symbolic link, which is not followed: remove it."],
};

const OTHER = {
  read: ["E_STORE_READ", "The store could not be read: check the disk and the store folder, then try again."],
  write: ["E_STORE_WRITE", "The store could not be written to: check the disk and the store folder, then try again."],
} as const;

/** Said of a text that another store saved, whose bound was larger. */
export const TEXT_TOO_LARGE =
  "The saved state has more bytes than this store's maxBytes: give every store of the same folder or server the same maxBytes.";

/** The `code` of a system error (`ENOENT`, …), or undefined when there is none. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/**
 * Wraps any failure of a storage backend. The message names the remedy and never a path or a host; the
 * original is kept as `cause`. A SluiceError is given back as it is.
 *
 * @returns E_STORE_FULL (no space, quota), E_STORE_DENIED (permission, read-only, symbolic link),
 * else E_STORE_READ or E_STORE_WRITE.
 */
export function storageError(error: unknown, act: StorageAct): SluiceError {
  if (error instanceof SluiceError) return error;
  const code = systemCode(error);
  if (code === "EMFILE" || code === "ENFILE") return new SluiceError(OTHER[act][0], HANDLES, {}, { cause: error });
  if (code === "ENOTDIR") return new SluiceError(OTHER[act][0], NO_FOLDER, {}, { cause: error });
  const [known, message] = (code !== undefined && Object.hasOwn(KNOWN, code) ? KNOWN[code] : undefined) ?? OTHER[act];
  return new SluiceError(known, message, {}, { cause: error });
}

/** Whether an error says that a store did not do its work: it failed, or takes nothing so large. */
export function isStoreFailure(error: unknown): error is SluiceError {
  return error instanceof SluiceError && (error.code.startsWith("E_STORE_") || error.code === "E_TOO_LARGE");
}

/** Runs a storage operation and turns what it throws into a coded error. */
export async function guardStorage<T>(act: StorageAct, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageError(error, act);
  }
}
