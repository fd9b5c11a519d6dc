/**
 * The results of the harness's server, exact to the byte, and the facts in them that a model may need.
 * @module
 */
import { makePdf } from "../../../../scripts/demo/pdf.mjs";
import { makePng } from "../../../../scripts/demo/png.mjs";
import { base64Of } from "../../fixture/bytes.mjs";

const TOPICS = ["harbour", "orchard", "viaduct", "glacier", "printer", "lantern", "compass", "granary", "foundry"];

/** The mark of a paragraph or line, by which it is found again. */
export const markOf = (kind, number) => `${kind}-${String(number).padStart(5, "0")}`;

/** A paragraph, of about 200 characters. */
function makeParagraph(number) {
  const [one, other] = [TOPICS[number % 9], TOPICS[(number * 5 + 2) % 9]];
  return `${markOf("paragraph", number)}: the ${one} was inspected before the ${other}, since the report of the year before had named it first. What was found there is told in the section after this one, with the names of those who were present.`;
}

/** Paragraphs of prose. */
export const makeProse = (count) => Array.from({ length: count }, (_, at) => makeParagraph(at + 1)).join("\n\n");

/** A source file. */
function makeSource(count) {
  const functions = Array.from({ length: count }, (_, at) => {
    const name = markOf("line", at + 1).replace("-", "_");
    return `/** Returns the part of ${TOPICS[at % 9]} that is due. */\nexport function ${name}(total: number): number {\n  return total > ${at * 7} ? total - ${at * 7} : 0;\n}`;
  });
  return functions.join("\n\n");
}

/** Rows of an order book, each with a price that adds up without rounding. */
function listRows(count) {
  return Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    name: markOf("row", at + 1),
    city: TOPICS[at % 9],
    price: ((at * 37) % 400) / 4,
  }));
}

/** The sum of prices, for scripts. */
export const sumPrices = (count) => listRows(count).reduce((sum, { price }) => sum + price, 0);

const makeCsv = (count) =>
  ["id,name,city,price", ...listRows(count).map((row) => Object.values(row).join(","))].join("\n");

const text = (value) => ({ type: "text", text: value });

const makeImage = (width, height, seed) => ({
  type: "image",
  mimeType: "image/png",
  data: makePng({ width, height, seed }).toString("base64"),
});

const embed = (name, mimeType, bytes) => ({
  type: "resource",
  resource: { uri: `file:///${name}`, mimeType, blob: Buffer.from(bytes).toString("base64") },
});

/** A picture of some 60 KB. */
const small = (seed) => makeImage(160, 160, seed);

/** What each tool answers, made when it is called. */
export const RESULTS = {
  img: () => ({ content: [small(1)] }),
  img_three: () => ({ content: [small(2), small(3), small(4)] }),
  img_big: () => ({ content: [makeImage(1500, 1500, 5)] }),
  img_resource: () => ({ content: [embed("chart.png", "image/png", Buffer.from(small(6).data, "base64"))] }),
  img_error: () => ({ content: [text("The page did not load: E-4711."), small(7)], isError: true }),
  img_tall: () => ({ content: [makeImage(80, 9000, 8)] }),
  img_structured: () => ({
    content: [text("The chart of the year."), small(9)],
    structuredContent: { label: "chart-7731", points: 12 },
  }),
  pdf: () => ({ content: [embed("report.pdf", "application/pdf", makePdf())] }),
  audio: () => ({ content: [{ type: "audio", mimeType: "audio/wav", data: base64Of("wav", 30_000) }] }),
  b64: () => ({ content: [text(`data:application/zip;base64,${base64Of("zip", 150_000)}`)] }),
  text_8k: () => ({ content: [text(makeProse(36))] }),
  text_20k: () => ({ content: [text(makeProse(90))] }),
  text_60k: () => ({ content: [text(makeProse(270))] }),
  text_400k: () => ({ content: [text(makeProse(1800))] }),
  code_15k: () => ({ content: [text(makeSource(105))] }),
  csv_300: () => ({ content: [text(makeCsv(300))] }),
  csv_5000: () => ({ content: [text(makeCsv(5000))] }),
  json_text: () => ({ content: [text(JSON.stringify(listRows(1500)))] }),
  json_both: () => {
    const rows = { rows: listRows(1500) };
    return { content: [text(JSON.stringify(rows))], structuredContent: rows };
  },
  json_alone: () => ({ content: [], structuredContent: { rows: listRows(1500) } }),
  small_alone: () => ({ content: [], structuredContent: { note: "alone-5512", list: [1, 2, 3] } }),
  // Its schema wants a number.
  refused_value: () => ({ content: [text("words-5521")], structuredContent: { value: "refused-5522" } }),
  both_differ: () => ({ content: [text("words-6621")], structuredContent: { value: "structured-6622" } }),
  link: () => ({
    content: [
      {
        type: "resource_link",
        uri: "docs://handbook-8812",
        name: "handbook-8813",
        description: "How the house is run.",
        mimeType: "text/markdown",
      },
    ],
  }),
  res_text: () => ({
    content: [{ type: "resource", resource: { uri: "docs://notes", mimeType: "text/plain", text: "embedded-3321" } }],
  }),
  meta: () => ({ content: [text("meta-9001")], _meta: { "example/note": "hidden-9002" } }),
  err_text: () => ({ content: [text("Refused: E-3141, the folder is locked.")], isError: true }),
  err_long: () => ({ content: [text(makeProse(270))], isError: true }),
  "dotted.name.tool": () => ({ content: [text("dotted-4401")] }),
  "hyphen-name-tool": () => ({ content: [text("hyphen-4402")] }),
  a_tool_with_a_very_long_name_that_somebody_has_chosen_to_be_seventy_ch: () => ({ content: [text("long-4403")] }),
  schema_refs: ({ shape }) => ({ content: [text(`schema-4404 ${JSON.stringify(shape)}`)] }),
  grow: () => ({ content: [text("grown-4405")] }),
  grown_tool: () => ({ content: [text("late-4406")] }),
};

/** Input schemas of tools that have one of their own. */
export const SCHEMAS = {
  schema_refs: {
    type: "object",
    $defs: { point: { type: "object", properties: { ref_x: { type: "number" } }, required: ["ref_x"] } },
    properties: {
      shape: { $ref: "#/$defs/point" },
      fixed: { const: "const-22" },
      by_name: { type: "string", description: "any-33" },
      by_id: { type: "integer", minimum: 1 },
    },
    required: ["shape"],
    anyOf: [{ required: ["by_name"] }, { required: ["by_id"] }],
  },
};

/** The tool that is there only after `grow`. */
export const GROWN = "grown_tool";
