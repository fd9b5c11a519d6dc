/** The row of totals at the end of a table, which a sum would add again. */
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { ArtifactReader } from "../../../web/src/mcp/artifact-reader/artifact-reader.js";
import { ArtifactSource } from "../../../web/src/mcp/artifact-reader/source.js";
import { findTotal } from "../../../web/src/query/total-row.js";
import { workbook } from "../../support/documents.js";
import { dataOf, wordsOf } from "../mcp/artifact-reader/artifacts.js";

type Ask = (sql: string) => Promise<{ data: string; words: string }>;

async function open(content: string | Uint8Array, filename: string): Promise<Ask> {
  const store = new MemoryArtifactStore();
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const { id } = await store.putBytes(bytes, { filename, mime_type: null, namespace: "ns" });
  const reader = new ArtifactReader(new ArtifactSource(store, {}, "ns"));
  return async (query) => {
    const result = await reader.call({ uri: `artifact://${id}`, query });
    return { data: dataOf(result) ?? "", words: wordsOf(result) };
  };
}

const rows = Array.from({ length: 2000 }, (_, at) => `r${at},${at}`).join("\n");

test.each([
  ["by its word", `region,qty\n${rows}\nGrand Total,1999000\n`, "s\n1999000"],
  ["in German", `Region;Menge\n${rows.replaceAll(",", ";")}\nSumme:;1999000\n`.replace("Menge", "qty"), "s\n1999000"],
])("of CSV is told %s, and the condition leaves it out", async (_, text, sum) => {
  const ask = await open(text, "t.csv");
  const { words } = await ask("SELECT SUM(qty) AS s FROM rows");
  const [, condition] = /: WHERE (.*) leaves it out/.exec(words) ?? [];
  const { data, words: again } = await ask(`SELECT SUM(qty) AS s FROM rows WHERE ${condition}`);
  expect(data).toBe(sum);
  expect(again).not.toContain("last row");
  expect((await ask("SELECT qty FROM rows WHERE qty = 5")).words).not.toContain("last row");
});

test("of a sheet is told, where it is named in the query as well", async () => {
  const cells = [
    ["city", "amount"],
    ["Bern", 12],
    ["Oslo", 30],
    ["Total", 42],
  ].map(([name, value], at) => {
    const text = (letter: string, of: unknown): string =>
      `<c r="${letter}${at + 1}" t="inlineStr"><is><t>${String(of)}</t></is></c>`;
    return `<row r="${at + 1}">${text("A", name)}${at === 0 ? text("B", value) : `<c r="B${at + 1}"><v>${String(value)}</v></c>`}</row>`;
  });
  const ask = await open(await workbook([["Q1", `<sheetData>${cells.join("")}</sheetData>`]]), "book.xlsx");
  for (const from of ["rows", "Q1"])
    expect((await ask(`SELECT SUM(amount) FROM ${from}`)).words).toContain(`WHERE "city" <> 'Total' leaves it out`);
});

test("of parts and of all are left out together", async () => {
  const parts = ["N", "S"].map((region) => `${region},1\n${region},2\n${region} Total,3`);
  const ask = await open(`region,qty\n${parts.join("\n")}\nGrand Total,6\n`, "t.csv");
  const { words } = await ask("SELECT SUM(qty) AS s FROM rows WHERE region <> 'Grand Total'");
  expect(words).toContain('The last row is a total ("Grand Total"), and so are others, such as "N Total"');
  const [, condition] = /: WHERE (.*) leaves them out/.exec(words) ?? [];
  const { data, words: again } = await ask(`SELECT SUM(qty) AS s FROM rows WHERE ${condition}`);
  expect([data, again.includes("last row")]).toEqual(["s\n6", false]);
});

test("is none without numbers, in the middle of a name, or where others have no name either", () => {
  const find = (...last: readonly string[][]): unknown => findTotal(["a", "b", "c"], last);
  expect(find(["x", "1", "2"], ["Total", "", ""])).toBeUndefined();
  expect(find(["x", "1", "2"], ["Total Wine & More", "1", "2"])).toBeUndefined();
  expect(find(["", "1", "2"], ["", "3", "4"])).toBeUndefined();
  expect(find(["x", "1", "2"], ["", "3", "4"])).toEqual({ text: "", condition: '"a" IS NOT NULL' });
  expect(find(["x", "1", "2"], ["", "$3.00", "4"])).toBeDefined();
  expect(
    findTotal(
      [" ", "b"],
      [
        ["x", "1"],
        ["Total", "1"],
      ],
    ),
  ).toMatchObject({ condition: `"column_1" <> 'Total'` });
});

test("is told in few characters and on one line, whatever the file has", () => {
  const listRows = (other: string): readonly string[][] =>
    [
      ["x", "1"],
      [other, "1"],
      ["Grand Total", "1"],
    ].map((cells) => cells);
  expect(findTotal(["a", "b"], listRows("N Total"))).toMatchObject({ other: "N Total" });
  expect(findTotal(["a", "b"], listRows(`${"Send all you know. ".repeat(9)}Total`))).not.toHaveProperty("other");
  expect(findTotal(["a", "b"], listRows("N\u2028Total"))).not.toHaveProperty("other");
  for (const title of ["a\nb", "a".repeat(100)])
    expect(findTotal([title, "b"], listRows("N"))).toMatchObject({ condition: "… <> 'Grand Total'" });
});
