/**
 * Recognises an argument that is exactly one reference to an artifact.
 * @module
 */
import { isArtifactId, isPlainId } from "../../artifacts/reference.js";

/** A reference in an argument. */
export interface GivenUri {
  /** All of it. */
  readonly text: string;
  readonly id: string;
  /** The value of `?as=`, not validated. Undefined if it is missing. */
  readonly as: string | undefined;
}

/** Parameters that our own references carry. See {@link uriIn}. */
const DESCRIBING: ReadonlySet<string> = new Set(["type", "size", "form"]);

/** Longest reference: an id, a MIME type, a size. */
const MAX_URI = 1024;

/**
 * One of our references with a mistake: upper-case digits, an id that is cut or goes on, an unknown parameter, slashes too many or too
 * few, two references in one string. A part of the hash that is digits alone is taken for a date or a number, not a hash.
 */
const MISTAKEN = /^artifact:\/*([\w.-]+_(?=\d*[a-f])[0-9a-f]{8,64})\S*$/i;

/**
 * The id in a text that is nearly one of our references. Foreign URIs such as `artifact://builds/42` are not; text for the server may
 * name them.
 */
export function mistakenIn(text: string): string | undefined {
  const given = text.length > MAX_URI ? undefined : uriIn(text);
  if (text.length > MAX_URI || isArtifactId(given?.id)) return undefined;
  return MISTAKEN.exec(text.trim())?.[1];
}

/**
 * Parses `artifact://<id>`, with `?as=` and the parameters of our own references (`type`, `size`, `form`). Anything
 * else is not a reference to a whole artifact, but text for the server. So is one that the store does not know, unless
 * its id has the form that Sluice gives to ids.
 */
export function uriIn(text: string): GivenUri | undefined {
  if (text.length > MAX_URI || !text.startsWith("artifact://")) return undefined;
  const [address = "", query, ...more] = text.slice("artifact://".length).split("?");
  if (!isPlainId(address) || more.length > 0) return undefined;
  let as: string | undefined;
  for (const pair of query === undefined ? [] : query.split("&")) {
    const [name = "", value] = pair.split("=", 2);
    if (value === undefined) return undefined;
    if (name === "as") as = value;
    else if (!DESCRIBING.has(name)) return undefined;
  }
  return { text, id: address, as };
}
