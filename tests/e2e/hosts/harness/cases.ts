/**
 * What each call of the harness is about, and what a model has to see of it.
 * @module
 */
import { markOf, sumPrices } from "./results.mjs";

/** Which rule the words of a result are judged by. */
export type CaseKind =
  /** Words and code that a model reads: what the plain host shows whole stands whole behind Sluice. */
  | "prose"
  /** Rows and encoded bytes, which Sluice stores: what is not in place has to be one call away. */
  | "data"
  /** Small results, pictures and documents: each fact stands in place. */
  | "small";

/** A call of a tool; without one, the first request of a host says enough. */
export interface HostCase {
  /** The tool's name as well, unless `tool` says otherwise. */
  readonly name: string;
  /** What it is, for people. */
  readonly title: string;
  readonly kind: CaseKind;
  /** The tool that is called; none if `null`. @default the name */
  readonly tool?: string | null;
  readonly args?: Readonly<Record<string, unknown>>;
  /** What is looked for in the words that the model gets, by name. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Marks of paragraphs, lines or rows, for the share of them that the model gets: a pattern, and how many there are. */
  readonly marks?: { readonly pattern: string; readonly count: number };
  /** What a script has to parse to add up the prices of the rows, and what it then gets. */
  readonly script?: { readonly format: RowFormat; readonly total: number };
  /** Whether facts are looked for in the tool's definition. */
  readonly isDefinition?: true;
  /** How a model reads on what Sluice stored, and what it has to find. */
  readonly read?: ReadCall;
  /** Milliseconds that the server takes to answer `initialize`. Such a case has a run of its own. */
  readonly late?: number;
}

/** Text of CSV, or JSON, be it text or a structured value. */
export type RowFormat = "csv" | "json";

/** Arguments of `artifact_read` besides the URI; and words, or a picture, in its answer. */
export interface ReadCall {
  readonly args: Readonly<Record<string, unknown>>;
  readonly fact?: string;
  readonly picture?: true;
}

const marksOf = (kind: string, count: number): NonNullable<HostCase["marks"]> => ({
  pattern: `${kind}[-_]\\d{5}`,
  count,
});

function prose(name: string, title: string, count: number): HostCase {
  const [first, last] = [markOf("paragraph", 1), markOf("paragraph", count)];
  const read = { args: { search: last }, fact: last };
  return { name, title, kind: "prose", marks: marksOf("paragraph", count), facts: { first, last }, read };
}

function rows(name: string, title: string, count: number, format: RowFormat): HostCase {
  const total = sumPrices(count);
  return {
    name,
    title,
    kind: "data",
    marks: marksOf("row", count),
    facts: { columns: "price", first: markOf("row", 1), last: markOf("row", count) },
    read: { args: { query: "SELECT SUM(price) AS total FROM rows" }, fact: String(total) },
    script: { format, total },
  };
}

const small = (name: string, title: string, facts: Readonly<Record<string, string>> = {}): HostCase => ({
  name,
  title,
  kind: "small",
  facts,
});

/** A tool's name of 70 characters. */
export const LONG_NAME = "a_tool_with_a_very_long_name_that_somebody_has_chosen_to_be_seventy_ch";

/** All cases. Large ones stand last: a host keeps in its context what came before. */
export const CASES: readonly HostCase[] = [
  { ...small("list", "tools and instructions", { instructions: "instruction-7001" }), tool: null },
  { ...small("reader", "name of `artifact_read`"), tool: null },
  small("both_differ", "text and another structured value", { text: "words-6621", structured: "structured-6622" }),
  small("refused_value", "value that its schema refuses", { text: "words-5521", structured: "refused-5522" }),
  small("small_alone", "structured value alone", { value: "alone-5512" }),
  small("link", "link to a resource", { uri: "docs://handbook-8812", name: "handbook-8813" }),
  small("res_text", "embedded text", { text: "embedded-3321" }),
  small("meta", "text and `_meta`", { text: "meta-9001" }),
  small("err_text", "error, words", { text: "E-3141" }),
  small("err_rpc", "JSON-RPC error", { text: "RPC-1177" }),
  { ...small("name_dots", "name with dots", { text: "dotted-4401" }), tool: "dotted.name.tool" },
  { ...small("name_hyphens", "name with hyphens", { text: "hyphen-4402" }), tool: "hyphen-name-tool" },
  {
    ...small("name_long", "name of 70 characters", { text: "long-4403" }),
    tool: LONG_NAME,
  },
  {
    ...small("schema_refs", "`$ref`, `anyOf`, `const`", { $ref: "ref_x", const: "const-22", anyOf: "any-33" }),
    args: { shape: { ref_x: 1 }, by_name: "n" },
    isDefinition: true,
  },
  { ...small("list_changed", "tool that appears later", { tool: "grown_tool" }), tool: "grow" },
  small("img", "picture, 50 KB"),
  small("img_error", "error with a picture", { text: "E-4711" }),
  small("img_structured", "picture and a structured value", { value: "chart-7731" }),
  small("img_resource", "picture as a resource"),
  {
    ...small("pdf", "PDF, 350 KB"),
    read: { args: { pages: "2" }, fact: "Sales Dashboard, page 2" },
  },
  small("audio", "audio, 30 KB"),
  prose("text_8k", "text, 8 KB", 36),
  { name: "code_15k", title: "source file, 15 KB", kind: "prose", marks: marksOf("line", 105) },
  prose("text_20k", "text, 20 KB", 90),
  rows("csv_300", "CSV, 8 KB", 300, "csv"),
  prose("text_60k", "text, 60 KB", 270),
  prose("err_long", "error, 60 KB", 270),
  rows("json_text", "JSON as text, 90 KB", 1500, "json"),
  rows("json_both", "JSON as text and structured", 1500, "json"),
  rows("json_alone", "structured rows alone, 90 KB", 1500, "json"),
  rows("csv_5000", "CSV, 138 KB", 5000, "csv"),
  small("b64", "base64 in text, 200 KB"),
  prose("text_400k", "text, 400 KB", 1800),
  small("img_three", "three pictures"),
  small("img_tall", "picture, 80 × 9,000"),
  small("img_big", "picture, 3 MB"),
  { ...small("late", "`initialize` after 2 s", { structured: "structured-6622" }), tool: "both_differ", late: 2000 },
];

/** The cases of a list of names; a name stands for those that begin with it, too: `img` for `img_big`. */
export function selectCases(names: readonly string[]): readonly HostCase[] {
  const unknown = names.find((name) => !CASES.some((entry) => isNamed(entry, name)));
  if (unknown !== undefined)
    throw new Error(`There is no case "${unknown}": ${CASES.map(({ name }) => name).join(", ")}`);
  return CASES.filter((entry) => names.length === 0 || names.some((name) => isNamed(entry, name)));
}

const isNamed = (entry: HostCase, name: string): boolean => entry.name === name || entry.name.startsWith(`${name}_`);
