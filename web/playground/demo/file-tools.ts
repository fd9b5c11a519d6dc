/**
 * The demo server's tools that give files.
 * @module
 */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { base64, base64Text } from "../base64.js";
import type { ChartKind } from "./chart.js";
import type { IntegerField } from "./fields.js";
import type * as Makers from "./makers.js";
import { csv, orders, QUARTERS, YEAR } from "./sales.js";
import { demoTool, told, type DemoTool } from "./tool.js";

const makers = (): Promise<typeof Makers> => import("./makers.js");

/** A field for a number of orders. */
export function rowsField(usual: number): IntegerField {
  return {
    type: "integer",
    title: "Rows",
    description: "How many orders.",
    minimum: 1,
    maximum: 60_000,
    default: usual,
  };
}

/** Tools that give files. */
export const FILE_TOOLS: readonly DemoTool[] = [
  demoTool({
    name: "sales_report",
    title: "Sales report (PDF)",
    description:
      "A quarter's sales report: a PDF of 4 MB as base64 inside JSON inside a text, as many servers send files.",
    fields: {
      quarter: { type: "string", title: "Quarter", description: `Of ${YEAR}.`, enum: QUARTERS, default: "Q3" },
    },
    run: async ({ quarter }) => {
      const { reportTitle, salesReport } = await import("./report.js");
      const name = `${reportTitle(quarter).toLowerCase().replaceAll(" ", "-")}.pdf`;
      return told(JSON.stringify({ name, format: "pdf", content: base64(salesReport(quarter)) }));
    },
  }),
  demoTool({
    name: "sales_chart",
    title: "Sales chart (image)",
    description: "The year's revenue by month as a PNG picture, between two texts.",
    fields: {
      kind: {
        type: "string",
        title: "Kind",
        description: "How amounts are drawn.",
        enum: ["bar", "line"],
        default: "bar",
      },
    },
    run: async ({ kind }) => ({
      content: [
        { type: "text", text: `Revenue by month, ${YEAR}:` },
        { type: "image", data: base64(await (await makers()).salesChart(kind as ChartKind)), mimeType: "image/png" },
        { type: "text", text: "Millions of dollars, all five regions together." },
      ],
    }),
  }),
  demoTool({
    name: "jingle",
    title: "Jingle (audio)",
    description: "A short tune as a WAV sound.",
    fields: {
      seconds: {
        type: "integer",
        title: "Seconds",
        description: "How long it plays.",
        minimum: 1,
        maximum: 60,
        default: 4,
      },
    },
    run: async ({ seconds }) => ({
      content: [{ type: "audio", data: base64((await makers()).jingle(seconds)), mimeType: "audio/wav" }],
    }),
  }),
  demoTool({
    name: "export_csv",
    title: "Export orders (CSV)",
    description: "Orders as a CSV file, embedded as bytes.",
    fields: { rows: rowsField(2000) },
    run: ({ rows }) =>
      embedded({ uri: `demo://exports/orders-${rows}.csv`, mimeType: "text/csv", blob: base64Text(csv(orders(rows))) }),
  }),
  demoTool({
    name: "web_page",
    title: "Web page (HTML)",
    description:
      "A page that also tries a script, a picture from elsewhere and a form: in the preview they do nothing.",
    fields: {},
    // As bytes: a text so short would stay where it is, and there would be nothing to preview.
    run: async () => {
      const blob = base64Text((await makers()).webPage());
      return embedded({ uri: `demo://pages/sales-${YEAR}.html`, mimeType: "text/html", blob });
    },
  }),
  demoTool({
    name: "source_code",
    title: "Source code (TypeScript)",
    description: "A program of 40 KB as the text of a resource.",
    fields: {},
    run: async () =>
      embedded({ uri: "demo://source/prices.ts", mimeType: "text/typescript", text: (await makers()).sourceCode() }),
  }),
  demoTool({
    name: "archive",
    title: "Archive (up to 100 MB)",
    description: "A file of noise that nothing can show, as large as you like up to 100 MB.",
    fields: {
      megabytes: {
        type: "integer",
        title: "Megabytes",
        description: "How large it is.",
        minimum: 1,
        maximum: 100,
        default: 10,
      },
    },
    run: async ({ megabytes }, { signal }) =>
      embedded({
        uri: `demo://archives/backup-${megabytes}.bin`,
        mimeType: "application/octet-stream",
        blob: await (await makers()).noise(megabytes, signal),
      }),
  }),
];

type Contents = { uri: string; mimeType: string } & ({ text: string } | { blob: string });

function embedded(resource: Contents): CallToolResult {
  return { content: [{ type: "resource", resource }] };
}
