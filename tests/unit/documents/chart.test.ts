/** Charts: kind, title, series, axes and values, of OOXML and of OpenDocument. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Chart,
  describeChart,
  listChartRows,
  readChart,
  readOpenChart,
} from "../../../web/src/documents/chart.js";
import { DocumentPackage } from "../../../web/src/documents/package.js";
import { SluiceError } from "../../../web/src/errors/error.js";
import { chartPart, openChart, zipped } from "../../support/documents.js";

async function read(xml: string, reader: typeof readChart = readChart): Promise<Chart> {
  const source = await DocumentPackage.open(await zipped({ chart: xml }), "chart", ".docx", { form: "text" });
  return reader(source, "chart");
}

const SALES = chartPart({
  title: "Sales & costs",
  kind: "barChart",
  axes: ["Quarter", "EUR"],
  categories: ["Q1", "Q2"],
  series: [
    ["North", "4.2999999999999998", "2"],
    ["South", "2.4", ""],
  ],
});

test("a chart is its title, kind, series and axes in a line, and its values in rows", async () => {
  const chart = await read(SALES);
  expect(describeChart(chart)).toBe("[chart: Sales & costs; column; series: North, South; axes: Quarter, EUR]");
  expect(listChartRows(chart)).toEqual([
    ["", "North", "South"],
    ["Q1", "4.3", "2.4"],
    ["Q2", "2", ""],
  ]);
});

test("bars that lie are bars, two kinds are joined, and percentages and dates are shown as such", async () => {
  const lying = chartPart({ kind: "barChart", direction: "bar", categories: ["a"], series: [["S", "1"]] });
  expect((await read(lying)).kind).toBe("bar");
  const two = SALES.replace("</c:barChart>", "</c:barChart><c:line3DChart><c:ser/></c:line3DChart>");
  const combined = await read(two);
  expect(combined.kind).toBe("column and line");
  expect(combined.seriesCount).toBe(3);
  const format = (code: string, value: string): string =>
    chartPart({ kind: "pieChart", categories: ["x"], series: [["S", value]], format: code });
  expect((await read(format("0.0%", "0.256"))).series[0]?.values).toEqual(["25.6%"]);
  expect((await read(format("dd/mm/yyyy", "45322"))).series[0]?.values).toEqual(["2024-01-31"]);
});

test("texts of labels are of no series, and a title comes in several runs and paragraphs", async () => {
  const labelled = SALES.replace(
    "<c:cat>",
    "<c:dLbls><c:dLbl><c:tx><c:rich><a:p><a:r><a:t>label</a:t></a:r></a:p></c:rich></c:tx></c:dLbl></c:dLbls><c:cat>",
  ).replace(
    "<a:t>Sales &amp; costs</a:t>",
    "<a:t>Sales</a:t></a:r></a:p><a:p><a:r><a:t>and</a:t></a:r><a:r><a:t> costs</a:t>",
  );
  const chart = await read(labelled);
  expect([chart.title, chart.series.map(({ name }) => name)]).toEqual(["Sales and costs", ["North", "South"]]);
});

test("charts of Office 2016 have title, series and kind", async () => {
  const chart = await read(
    `<cx:chartSpace><cx:chartData><cx:data id="0"><cx:strDim type="cat"><cx:lvl ptCount="1"><cx:pt idx="0">a</cx:pt></cx:lvl></cx:strDim></cx:data></cx:chartData>` +
      `<cx:chart><cx:title><cx:tx><cx:txData><cx:v>Bridge</cx:v></cx:txData></cx:tx></cx:title><cx:plotArea><cx:plotAreaRegion><cx:series layoutId="waterfall"><cx:tx><cx:txData><cx:f>S!$B$1</cx:f><cx:v>Cash</cx:v></cx:txData></cx:tx></cx:series></cx:plotAreaRegion><cx:axis id="0"><cx:title><cx:tx><cx:txData><cx:v>Step</cx:v></cx:txData></cx:tx></cx:title></cx:axis></cx:plotArea></cx:chart></cx:chartSpace>`,
  );
  expect(describeChart(chart)).toBe("[chart: Bridge; waterfall; series: Cash; axes: Step]");
});

test("a chart of OpenDocument has the names and values of its own table", async () => {
  const chart = await read(
    openChart({
      title: "Sales",
      kind: "bar",
      axes: ["Quarter"],
      categories: ["Q1", "Q2"],
      series: [
        ["North", "1", "2"],
        ["South", "3", "4"],
      ],
    }),
    readOpenChart,
  );
  expect(describeChart(chart)).toBe("[chart: Sales; column; series: North, South; axes: Quarter]");
  expect(listChartRows(chart)).toEqual([
    ["", "North", "South"],
    ["Q1", "1", "3"],
    ["Q2", "2", "4"],
  ]);
});

test("a chart of much is told within bounds, and says how much there is", async () => {
  const many = Array.from({ length: 300 }, (_, at) => `c${at}`);
  const chart = await read(
    chartPart({
      title: "t".repeat(5000),
      kind: "lineChart",
      categories: many,
      series: many.map((name) => [name.repeat(100), ...many]),
    }),
  );
  expect([chart.title.length, chart.series.length, chart.seriesCount]).toEqual([120, 50, 300]);
  expect(describeChart(chart)).toMatch(/, … \(300\)\]$/);
  const rows = listChartRows(chart);
  expect([rows.length, rows.at(-1)]).toEqual([52, ["… (300)"]]);
});

test("any chart that is cut or changed is read, or is damage", async () => {
  const files = [SALES, openChart({ kind: "circle", categories: ["a"], series: [["S", "1"]] })];
  const change = fc.tuple(
    fc.nat(),
    fc.constantFrom("<", ">", "/", '"', "c:ser", "<c:pt idx='999999999999'>", "c:title"),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...files), fc.array(change, { maxLength: 5 }), async (file, changes) => {
      let xml = file;
      for (const [at, text] of changes) xml = xml.slice(0, at % xml.length) + text + xml.slice((at % xml.length) + 1);
      for (const reader of [readChart, readOpenChart]) {
        const chart = await read(xml, reader).catch((error: unknown) => error);
        if (chart instanceof SluiceError) continue;
        expect(describeChart(chart as Chart)).toMatch(/^\[chart[^\n]*\]$/);
        expect(listChartRows(chart as Chart).length).toBeLessThanOrEqual(52);
      }
    }),
    { numRuns: 200 },
  );
});
