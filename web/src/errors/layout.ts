/**
 * The version of what a store has written, which outlives the program: the text that says it, and the refusal of another one.
 *
 * A folder and a bucket have the text in a file, the state in Redis in a key. What has none was written before there were versions,
 * and is the first.
 * @module
 */
import { SluiceError } from "./error.js";

/** What a store may be. */
export type StoreKind = "artifact store" | "state store" | "state";

/** The version that this program writes, and the only one that it reads. */
const VERSION = 1;

/** The name of the file that says the version of an artifact store. */
export const STORE_MARKER = "sluice-store.json";

/** Most bytes of a text that says a version. */
export const MAX_MARKER = 4096;

/** The text that a store of this version has. */
export function layoutText(kind: StoreKind): string {
  return JSON.stringify({ sluice: kind, version: VERSION });
}

/**
 * Checks the text of a store before anything else of it is read or written.
 *
 * @param foreign the sentence for a text that no store has.
 * @param other what else can be used, as in `another folder`.
 * @throws SluiceError E_STORE_READ for another version, E_STORE_CORRUPT for another text.
 */
export function checkLayout(text: string, kind: StoreKind, foreign: string, other: string): void {
  const [, said, version] = /^\{"sluice":"([a-z ]{1,32})","version":(\d{1,6})\}\s*$/.exec(text) ?? [];
  if (said !== kind) throw new SluiceError("E_STORE_CORRUPT", foreign);
  if (Number(version) !== VERSION) throw newerStore(other);
}

/** The error for a store of a newer version. */
export function newerStore(other: string): SluiceError {
  return new SluiceError("E_STORE_READ", newerSentence(other));
}

/** Its sentence, with what else can be used, and how one gets the newer version. */
export function newerSentence(other: string, update = "update Sluice"): string {
  return `A newer version of Sluice made this store: ${update}, or use ${other}.`;
}
