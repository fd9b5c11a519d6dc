/**
 * Whether a description is right: it names the kind, and says the fact that a person of the trade wants first.
 * @module
 */

/** What is said of a file that is known only by what it is made of. */
const GENERIC =
  /^(?:data|text|binary data|XML|JSON|NDJSON|ZIP archive|OLE compound file|gzip file|HDF5 data|TIFF image|SQLite database|MP4 video|tar archive|RIFF file)(?:,|$)/;

/**
 * @param {string} said the description
 * @param {(string | RegExp)[]} facts the kind, and what else has to be said; a string stands there as it is
 * @returns {"right" | "generic" | "wrong"} wrong: another kind is named, or a fact of the same name with another number
 */
export function judge(said, facts) {
  // Names are quoted with signs that no Markdown reads: `_` is another line there.
  said = said.replaceAll("ˍ", "_");
  const has = (fact) => (typeof fact === "string" ? said.includes(fact) : fact.test(said));
  if (facts.every(has)) return "right";
  if (!has(facts[0])) return GENERIC.test(said) && !contradicts(said, facts) ? "generic" : "wrong";
  return contradicts(said, facts) ? "wrong" : "generic";
}

/** `3 pages` where it should be `14 pages`, `640 × 480` where it should be `480 × 640`. */
function contradicts(said, facts) {
  const plain = said.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  return facts.slice(1).some((fact) => {
    if (typeof fact !== "string" || said.includes(fact)) return false;
    const noun = /^[\d,.:]+ ([a-z ]+)$/.exec(fact)?.[1];
    if (noun !== undefined) return new RegExp(`[\\d,] ${noun.replace(/s$/, "")}`).test(plain);
    return / × /.test(fact) && /\d × \d/.test(plain);
  });
}
