/**
 * MIME types as they stand among our own words.
 * @module
 */
import { MEDIA_TYPES } from "./media-types.mjs";

const KNOWN: ReadonlySet<string> = new Set(MEDIA_TYPES);

/** One short word of a top-level type of the registry: behind `x-`, `vnd.` and the like, before a version and a suffix. */
const TOKEN = new RegExp(
  "^(?:application|audio|chemical|font|image|message|model|multipart|text|video)/" +
    "(?:vnd\\.ms-|(?!vnd\\.ms-)(?:vnd\\.|prs\\.|x[-.])|(?!vnd\\.|prs\\.|x[-.]))" +
    "(?=[0-9]*[a-z])[a-z0-9]{1,12}(?:[-._][0-9]{1,4})?(?:\\+(?:json|xml|zip|yaml|cbor|gzip|sqlite3))?$",
);

/**
 * A MIME type as it may stand among our own words: in lower case, without parameters, in the core's table or one short word.
 * Undefined for anything else: two words might be prose. The core has the same rule (`plain_type` in
 * `wasm/include/sluice/sniff.h`).
 */
export function plainType(mimeType: string | null): string | undefined {
  const [type = ""] = (mimeType ?? "").toLowerCase().split(";", 1);
  const plain = type.trim();
  return TOKEN.test(plain) || KNOWN.has(plain) ? plain : undefined;
}
