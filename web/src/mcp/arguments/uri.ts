/**
 * An argument that is wholly one reference to an artifact.
 * @module
 */
import { isArtifactId } from "../../artifacts/ids.js";

/** A reference as it stands in an argument. */
export interface GivenUri {
  readonly id: string;
  /** What `?as=` says, whatever it says; undefined where it says nothing. */
  readonly as: string | undefined;
}

/** What references say of themselves; see {@link uriIn}. */
const DESCRIBING: ReadonlySet<string> = new Set(["type", "size", "form"]);

/** Longer is none: an id, a MIME type, a size. */
const MAX_URI = 1024;

/**
 * Reads `artifact://<id>`, with `?as=` and with what our own references say of themselves (`type`, `size`, `form`).
 * Anything else is no reference to an artifact as a whole, but a text that a server may have a use for.
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
