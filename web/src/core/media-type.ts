/**
 * MIME types as they stand among our own words.
 * @module
 */

const TOP_LEVEL = /^(?:application|audio|chemical|font|image|message|model|multipart|text|video)\//;
const TREE = /^(?:vnd\.(?:openxmlformats-officedocument\.|oasis\.opendocument\.|ms-excel\.sheet\.|ms-)?|prs\.|x[-.])/;
const WORD = /^[a-z0-9]{0,16}$/;

/**
 * A MIME type as it may stand among our own words: in lower case, without parameters, and of the shape of real types:
 * up to three short words behind `x-`, `vnd.` and the like. Undefined for anything else, prose above all. The core
 * has the same rule (`plain_type` in `wasm/include/sluice/sniff.h`).
 */
export function plainType(mimeType: string | null): string | undefined {
  const [type = ""] = (mimeType ?? "").toLowerCase().split(";", 1);
  const plain = type.trim();
  const [subtype = "", suffix = "", ...more] = plain.replace(TOP_LEVEL, "").replace(TREE, "").split("+");
  const parts = subtype.split(/[-._]/);
  const words = parts.filter((part) => /[a-z]/.test(part));
  const isShort = words.length > 0 && words.length <= 3 && [...parts, suffix].every((part) => WORD.test(part));
  return TOP_LEVEL.test(plain) && isShort && more.length === 0 ? plain : undefined;
}
