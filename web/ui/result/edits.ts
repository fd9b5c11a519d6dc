/**
 * The list that undoes a reduced result: the entries of `_meta["sluice/refs"]`, read. They come from a document, so they are
 * checked, never believed.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import type { JsonNode } from "./json-node.js";
import type { HoleKind } from "./marked-text.js";

/** Most entries of one list. */
const MOST = 0x20000;

/** One entry. It says one thing: a reference, something that was added, or what was replaced. */
export interface Edit {
  /** A JSON pointer into the reduced result. */
  readonly at: string;
  /** A reference that stands there; an empty text where the entry is about something else. */
  readonly uri: string;
  /** How many `artifact://` stand before it in the string. */
  readonly n: number;
  /** What stood there. */
  readonly kind: HoleKind;
  /** Whether it stands in the key of the member. */
  readonly key: boolean;
  /** Quotes that were added on both sides. */
  readonly wrap: string;
  /** Nothing stood there. */
  readonly added: boolean;
  /** What stood there, and its own list. */
  readonly was: JsonNode | null;
  /** The list of what stood there. */
  readonly refs: JsonNode | null;
}

/** Reads a list of entries. Throws E_RESTORE_REFS with the place of what is wrong. */
export function readEdits(list: JsonNode): Edit[] {
  if (list.kind !== "array") throw misfit("", "The list of references is no array.");
  if (list.children.length > MOST) throw misfit("", "The list of references is too long.");
  return Array.from({ length: list.children.length }, (_, index) => readEdit(list.children.at(index)));
}

/** The error of a list that does not fit its document. */
export function misfit(path: string, message: string): SluiceError {
  return new SluiceError("E_RESTORE_REFS", message, { path: path.slice(0, 200) });
}

function readEdit(entry: JsonNode): Edit {
  const kind = entry.saying("kind") ?? "run";
  const edit = {
    at: entry.saying("at") ?? "",
    uri: entry.saying("uri") ?? "",
    n: Number(entry.member("n")?.json ?? 0),
    key: entry.member("key")?.json === "true",
    wrap: entry.saying("wrap") ?? "",
    added: entry.member("added")?.json === "true",
    was: entry.member("was"),
    refs: entry.member("refs"),
  };
  const says = [edit.uri !== "", edit.added, edit.was !== null].filter(Boolean).length;
  const known = isKind(kind) && Number.isInteger(edit.n) && edit.n >= 0 && entry.member("at") !== null;
  if (!known || says !== 1) throw misfit(edit.at, "An entry of the list of references is malformed.");
  return { ...edit, kind };
}

function isKind(name: string): name is HoleKind {
  return name === "run" || name === "text" || name === "bytes" || name === "json";
}
