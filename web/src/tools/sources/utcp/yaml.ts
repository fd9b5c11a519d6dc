/**
 * YAML from whoever wrote it, in time that grows with its length and with nothing else.
 *
 * js-yaml reads it so, as long as nothing is repeated by aliases: a list that is the key of a mapping is made a text of
 * each time, with everything in it. Every test of how long it takes is a text that took another library minutes.
 * @module
 */

/** Characters of a document; a second's work. */
export const MAX_YAML: number = 2 * 1024 * 1024;

const MAX_DEPTH = 100;
/** Keys that merges (`<<`) bring, in all of them together. */
const MAX_MERGED = 100_000;
/** Characters and items of lists and texts that aliases repeat. */
const MAX_REPEATED = 1_000_000;

/** A key that one of our documents has at its top; most texts that are none are known by its absence. */
const OUR_KEY = /^[ \t]*["']?(?:openapi|swagger|tools|call_template_type)["']?[ \t]*:/m;

/** Whether a text may be a document of ours in YAML: a look, not a proof. */
export function mayBeYaml(text: string): boolean {
  // A page of a browser, and what begins like JSON, is no YAML that anybody means.
  return !/^\s*[<[{]/.test(text) && OUR_KEY.test(text);
}

/**
 * Reads one document: YAML 1.2, with merges, the last of several keys of the same name, and tags of others left out.
 *
 * @throws Error for what is no YAML, several documents, and what is nested deeper, merged or repeated more than anybody
 * means. Its sentence may quote the text.
 */
export async function parsedYaml(text: string): Promise<unknown> {
  const { load, CORE_SCHEMA, Type, types } = await import("js-yaml");
  const kinds = ["scalar", "sequence", "mapping"] as const;
  const others = kinds.map((kind) => new Type("", { kind, multi: true }));
  const repeated = new Map<unknown, number>();
  let left = MAX_REPEATED;
  return load(text, {
    schema: CORE_SCHEMA.extend({ implicit: [types.merge], explicit: others }),
    json: true,
    maxDepth: MAX_DEPTH,
    maxTotalMergeKeys: MAX_MERGED,
    listener: (event, { anchor, result }) => {
      if (event === "open" || (typeof result !== "string" && !Array.isArray(result))) return;
      // A text that is written out and equals one with an anchor counts too: there is no telling them apart.
      if (anchor !== null) repeated.set(result, weightOf(result));
      else left -= repeated.get(result) ?? 0;
      if (left < 0) throw new Error("Aliases repeat too much.");
    },
  });
}

/** About the length of the text that it would be within a key. */
function weightOf(value: string | readonly unknown[]): number {
  if (typeof value === "string") return 1 + value.length;
  return value.reduce<number>((sum, item) => sum + (typeof item === "string" ? item.length : 1), 1);
}
