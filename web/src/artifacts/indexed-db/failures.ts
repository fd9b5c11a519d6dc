/**
 * What a browser's storage refused, as a coded error.
 * @module
 */
import { SluiceError, type ErrorCode } from "../../errors/error.js";
import type { StorageAct } from "../../errors/storage.js";
import { damaged } from "../verify.js";

const FULL = "The browser gives this site no more room: delete artifacts, or let the site store more, then try again.";
const DENIED =
  "The browser does not let this site store anything: allow site data, leave private browsing, or use another store.";
const NEWER = "A newer Sluice made this store: reload the page, or name another store.";

const KNOWN: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  QuotaExceededError: ["E_STORE_FULL", FULL],
  SecurityError: ["E_STORE_DENIED", DENIED],
  NotAllowedError: ["E_STORE_DENIED", DENIED],
  VersionError: ["E_STORE_READ", NEWER],
};

/** Names of errors that say that bytes which were stored are not there any more. */
const LOST: ReadonlySet<string> = new Set(["NotReadableError", "DataError", "NotFoundError"]);

const OTHER = {
  read: ["E_STORE_READ", "The browser could not read its storage: try again, or reload the page."],
  write: ["E_STORE_WRITE", "The browser could not write its storage: try again, or reload the page."],
} as const;

/**
 * Wraps any failure of IndexedDB. A SluiceError is given back as it is.
 *
 * @returns E_STORE_FULL (quota), E_STORE_DENIED (no storage for this site), E_STORE_CORRUPT (bytes that the browser
 * lost), else E_STORE_READ or E_STORE_WRITE.
 */
export function browserError(error: unknown, act: StorageAct): SluiceError {
  if (error instanceof SluiceError) return error;
  const name = nameOf(error);
  if (act === "read" && LOST.has(name)) return Object.assign(damaged(), { cause: error });
  const [code, message] = (Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined) ?? OTHER[act];
  return new SluiceError(code, message, {}, { cause: error });
}

/** The error of a site that has no IndexedDB at all. */
export function noStorage(): SluiceError {
  return new SluiceError("E_STORE_DENIED", DENIED);
}

/** The error of a store that was closed. */
export function closedStore(): SluiceError {
  return new SluiceError("E_STORE_CLOSED", "The store was closed: open another one.");
}

/** The error of bytes that somebody took away while they were written or read. */
export function takenAway(act: StorageAct): SluiceError {
  return act === "write"
    ? new SluiceError("E_STORE_WRITE", "The store was emptied while the artifact was written: store it again.")
    : new SluiceError("E_STORE_READ", "The artifact was deleted while it was read: it is no longer there.");
}

/** The error of work that somebody else undoes as fast as it is done. */
export function contended(act: StorageAct): SluiceError {
  const sentence = "The artifact is being stored and deleted at the same time: try again.";
  return new SluiceError(act === "write" ? "E_STORE_WRITE" : "E_STORE_READ", sentence);
}

/** The `name` of an error, such as `QuotaExceededError`. */
export function nameOf(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.name : "";
}
