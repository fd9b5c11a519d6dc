/** The files that `docs/artifacts.md` talks of, and its dialogues. */
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { artifactToolsOver } from "../../../web/src/mcp/artifact-tools.js";
import { ArtifactSource } from "../../../web/src/mcp/artifact-reader/source.js";
import { paragraph, type Parts, rawZip, rels, wordPart, wordParts, workbookParts } from "../../support/documents.js";
import { pdfOf } from "../../support/pdf.js";

const FILES: Readonly<Record<string, () => Promise<{ readonly bytes: Uint8Array; readonly type: string }>>> = {
  "report.pdf": async () => ({ bytes: report(), type: "application/pdf" }),
  "contract.docx": async () => ({
    bytes: zipOf(contract()),
    type: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  }),
  "sales.xlsx": async () => ({
    bytes: zipOf(
      workbookParts(
        [
          [
            "Q1",
            sheet([
              ["city", "amount"],
              ["Bern", 12],
            ]),
          ],
          ["Q2", Q2],
        ],
        {
          styles: `<cellXfs><xf numFmtId="0"/><xf numFmtId="4"/><xf numFmtId="9"/></cellXfs>`,
          more: {
            "xl/worksheets/_rels/sheet2.xml.rels": rels(["rId1", "comments", "../comments1.xml"]),
            "xl/comments1.xml": `<comments><authors><author>Ada</author></authors><commentList><comment ref="B3" authorId="0"><text><t>Check with Oslo.</t></text></comment></commentList></comments>`,
          },
        },
      ),
    ),
    type: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  }),
  "orders.json": async () => text("application/json", orders()),
  "shop.json": async () => text("application/json", JSON.stringify(SHOP)),
  "bundle.zip": async () => ({
    bytes: rawZip([
      { name: "notes.txt", data: encode("hello\n") },
      { name: "data/readings.csv", data: encode("at,value\n1,17\n2,42\n3,8\n") },
    ]),
    type: "application/zip",
  }),
  "page.html": async () => text("text/html", PAGE),
  "prices.csv": async () => text("text/csv", "item,price\nCoffee,4.50\nWater,3.00\n"),
};

const encode = (string: string): Uint8Array => new TextEncoder().encode(string);

/** A ZIP whose bytes are the same each time. */
function zipOf(parts: Parts): Uint8Array {
  return rawZip(
    Object.entries(parts).map(([name, data]) => ({ name, data: typeof data === "string" ? encode(data) : data })),
  );
}

async function text(type: string, content: string): Promise<{ bytes: Uint8Array; type: string }> {
  return { bytes: encode(content), type };
}

const run = (words: string, tag = "t"): string => `<w:r><w:${tag} xml:space="preserve">${words}</w:${tag}></w:r>`;

const numbered = (level: number): string => `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="1"/></w:numPr>`;

const numberLevel = (at: number, words: string): string =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="${words}"/></w:lvl>`;

const wordCell = (words: string, properties = ""): string =>
  `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(words)}</w:tc>`;

const change = (tag: string, words: string, of?: string): string =>
  `<w:${tag} w:id="1" w:author="Ben" w:date="2026-01-12T09:00:00Z">${run(words, of)}</w:${tag}>`;

/** A contract that two people have worked on. */
function contract(): Parts {
  const comment = `<w:comment w:id="0" w:author="Ada" w:date="2026-01-12T09:30:00Z">${paragraph("Legal wants 30.")}</w:comment>`;
  return wordParts(
    paragraph("Payment", "Heading1", numbered(0)) +
      `<w:p><w:pPr>${numbered(1)}</w:pPr>${run("The buyer pays within ")}<w:commentRangeStart w:id="0"/>${change("del", "14", "delText")}${change("ins", "30")}${run(" days")}<w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r>${run(".")}<w:r><w:footnoteReference w:id="2"/></w:r></w:p>` +
      `<w:tbl><w:tr>${wordCell("Fee", '<w:gridSpan w:val="2"/>')}</w:tr><w:tr>${wordCell("2026")}${wordCell("900 EUR")}</w:tr></w:tbl>`,
    {
      "word/_rels/document.xml.rels": rels(
        ["rId1", "comments", "comments.xml"],
        ["rId2", "footnotes", "footnotes.xml"],
        ["rId3", "numbering", "numbering.xml"],
      ),
      "word/comments.xml": wordPart("comments", comment),
      "word/footnotes.xml": wordPart("footnotes", `<w:footnote w:id="2">${paragraph("Of receipt.")}</w:footnote>`),
      "word/numbering.xml": wordPart(
        "numbering",
        `<w:abstractNum w:abstractNumId="0">${numberLevel(0, "%1.")}${numberLevel(1, "%1.%2")}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`,
      ),
    },
  );
}

function report(): Uint8Array {
  const pages = Array.from({ length: 8 }, (_, at) => ({
    lines: [`Section ${at + 1}`, at === 6 ? "The warranty lasts 42 months." : "Nothing of note."],
    ...(at % 5 === 0 && { title: ["Overview", "Terms"][at / 5] as string }),
  }));
  return pdfOf(pages, "Annual report");
}

const cell = (value: string | number): string =>
  typeof value === "number" ? `<c><v>${value}</v></c>` : `<c t="inlineStr"><is><t>${value}</t></is></c>`;

function sheet(rows: readonly (readonly (string | number)[])[]): string {
  return `<sheetData>${rows.map((cells) => `<row>${cells.map(cell).join("")}</row>`).join("")}</sheetData>`;
}

/** Amounts with thousands, shares in percent, a row that is hidden, a comment, and a sum that was never calculated. */
const Q2 = `<sheetData>${[
  ["Bern", 30_000, 0.5],
  ["Oslo", 25_000, 0.417],
  ["Bern", 5000, 0.083],
]
  .map(
    ([city, amount, share], at) =>
      `<row r="${at + 2}"${at === 2 ? ' hidden="1"' : ""}><c t="str"><v>${city}</v></c><c s="1"><v>${amount}</v></c><c s="2"><v>${share}</v></c></row>`,
  )
  .join("")
  .replace(
    /^/,
    `<row r="1">${["city", "amount", "share"].map(cell).join("")}</row>`,
  )}<row r="5"><c t="str"><v>Sum</v></c><c s="1"><f>SUM(B2:B4)</f></c></row></sheetData>`;

function orders(): string {
  const cities = ["Bern", "Oslo", "Rome"];
  const list = Array.from({ length: 300 }, (_, id) => ({ id, customer: { city: cities[id % 3] }, total: id % 40 }));
  return JSON.stringify({ made: "2026-01-31", orders: list });
}

const SHOP = {
  customers: ["Ada", "Ben", "Cy"].map((name, at) => ({ id: `C${at + 1}`, name })),
  orders: ["C1", "C2", "C1"].map((customer, at) => ({ id: at + 1, customer, total: 10 * (at + 1) })),
};

const PAGE =
  "<!doctype html><title>News</title><script>track()</script><h1>News</h1>" +
  '<p>The <b>harbour</b> opens.</p><ul><li>first</li><li><a href="/2">next</a></li></ul>\n';

/** A call of a dialogue, and what the page says is its answer. */
export interface Turn {
  readonly call: string;
  readonly answer: string;
}

/** The dialogues of the page, each about a file. */
export function dialogues(page: string): { readonly file: string; readonly turns: readonly Turn[] }[] {
  const found = page.matchAll(/<!-- dialogue: ([\w.]+) -->\n```text\n([\s\S]*?)\n```/g);
  return Array.from(found, ([, file = "", block = ""]) => ({
    file,
    turns: block
      .split(/^> /m)
      .slice(1)
      .map((turn) => {
        const end = turn.indexOf("\n");
        return { call: turn.slice(0, end), answer: turn.slice(end + 1).trimEnd() };
      }),
  }));
}

/** Answers calls about one file of the page. */
export async function answering(file: string): Promise<{ uri: string; answer: (call: string) => Promise<string> }> {
  const { bytes, type: mime_type } = (await FILES[file]?.()) ?? { bytes: encode(""), type: "" };
  const store = new MemoryArtifactStore();
  const { id } = await store.putBytes(bytes, { filename: file, mime_type, namespace: "docs" });
  const tools = artifactToolsOver("docs", { source: new ArtifactSource(store, {}, "docs") });
  return {
    uri: `artifact://${id}`,
    answer: async (call) => {
      const [, name, args = ""] = /^(\w+) (.*)$/.exec(call) ?? [];
      const tool = tools.find((each) => each.name === name);
      if (tool === undefined) throw new Error(`The page calls ${call}`);
      return (await tool.call(JSON.parse(args))).content[0].text.trimEnd();
    },
  };
}
