/**
 * Recognises an argument that is exactly one reference to an artifact.
 * @module
 */
import { isArtifactId } from "../../artifacts/reference.js";

/** A reference in an argument. */
export interface GivenUri {
  readonly id: string;
  /** The value of `?as=`, not validated. Undefined if it is missing. */
  readonly as: string | undefined;
}

/** Parameters that our own references carry. See {@link uriIn}. */
const DESCRIBING: ReadonlySet<string> = new Set(["type", "size", "form"]);

/** Longest reference: an id, a MIME type, a size. */
const MAX_URI = 1024;

/**
 * Parses `artifact://<id>`, with `?as=` and the parameters of our own references (`type`, `size`, `form`). Anything
 * else is not a reference to a whole artifact, but text for the server.
 */
export function uriIn(text: string): GivenUri | undefined {
  if (text.length > MAX_URI || !text.startsWith("artifact://")) return undefined;
  const [address = "", query, ...more] = text.slice("artifact://".length).split("?");
  if (!isArtifactId(address) || more.length > 0) return undefined;
  let as: string | undefined;
  for (const pair of query === undefined ? [] : query.split("&")) {
    const [name = "", value] = pair.split("=", 2);
    if (value === undefined) return undefined;
    if (name === "as") as = value;
    else if (!DESCRIBING.has(name)) return undefined;
  }
  return { id: address, as };
}
