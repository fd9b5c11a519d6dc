/**
 * The tools of the demo server: those that return files, then data, long work, questions and failures.
 * @module
 */
import type { CallToolResult } from "@modelcontextprotocol/client";
import { base64, base64Text } from "../base64.js";
import { type ChartKind, salesChart } from "./chart.js";
import { SALES_REPORT } from "./example.js";
import type * as Files from "./files.js";
import { type DemoCall, demoTool, type DemoTool, toErrorResult, type IntegerField, toTextResult } from "./tool.js";
import { csv, orders, QUARTERS, formatNumber, YEAR } from "./sales.js";
import { type Live, NOTE } from "./live.js";

const files = (): Promise<typeof Files> => import("./files.js");

/** A field for a number of orders. */
function rowsField(usual: number): IntegerField {
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
  SALES_REPORT,
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
        {
          type: "image",
          data: base64(await salesChart(kind as ChartKind)),
          mimeType: "image/png",
        },
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
      content: [{ type: "audio", data: base64((await files()).jingle(seconds)), mimeType: "audio/wav" }],
    }),
  }),
  demoTool({
    name: "export_csv",
    title: "Export orders (CSV)",
    description: "Orders as a CSV file, embedded as bytes.",
    fields: { rows: rowsField(2000) },
    run: ({ rows }) =>
      embedResource({
        uri: `demo://exports/orders-${rows}.csv`,
        mimeType: "text/csv",
        blob: base64Text(csv(orders(rows))),
      }),
  }),
  demoTool({
    name: "web_page",
    title: "Web page (HTML)",
    description:
      "A page that also tries a script, a picture from elsewhere and a form: in the preview they do nothing.",
    fields: {},
    // As a blob: so short a text would stay inline, with nothing to preview.
    run: async () => {
      const blob = base64Text((await files()).webPage());
      return embedResource({ uri: `demo://pages/sales-${YEAR}.html`, mimeType: "text/html", blob });
    },
  }),
  demoTool({
    name: "source_code",
    title: "Source code (TypeScript)",
    description: "A program of 40 KB as the text of a resource.",
    fields: {},
    run: async () =>
      embedResource({
        uri: "demo://source/prices.ts",
        mimeType: "text/typescript",
        text: (await files()).sourceCode(),
      }),
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
      embedResource({
        uri: `demo://archives/backup-${megabytes}.bin`,
        mimeType: "application/octet-stream",
        blob: await (await files()).noise(megabytes, signal),
      }),
  }),
];

type Contents = { uri: string; mimeType: string } & ({ text: string } | { blob: string });

function embedResource(resource: Contents): CallToolResult {
  return { content: [{ type: "resource", resource }] };
}

/** Milliseconds between two reports of progress. */
const TICK = 500;
/** Rows imported per second. */
const PACE = 1000;

const TEXT = { type: "string" } as const;
const NUMBER = { type: "number" } as const;
const INTEGER = { type: "integer" } as const;

/** Tools that give no files; `live` is what one of them changes. */
export function otherTools(live: Live): readonly DemoTool[] {
  return [salesTable, slowImport, writeNote(live), findReports, asks, fails, smallTalk];
}

const salesTable = demoTool({
  name: "sales_table",
  title: "Orders (large table)",
  description: "Orders as rows of JSON, as text and as structured content.",
  fields: { rows: rowsField(12_000) },
  outputSchema: toObjectSchema({
    rows: {
      type: "array",
      items: toObjectSchema({
        order: TEXT,
        date: TEXT,
        region: TEXT,
        product: TEXT,
        units: INTEGER,
        price: NUMBER,
        total: NUMBER,
      }),
    },
  }),
  run: ({ rows: count }) => {
    const rows = orders(count);
    return { ...toTextResult(JSON.stringify(rows)), structuredContent: { rows } };
  },
});

const slowImport = demoTool({
  name: "slow_import",
  title: "Slow import (progress)",
  description: "Pretends to import orders for as long as you like, reports progress, and can be cancelled.",
  fields: {
    seconds: {
      type: "integer",
      title: "Seconds",
      description: "How long it takes.",
      minimum: 1,
      maximum: 60,
      default: 12,
    },
  },
  outputSchema: toObjectSchema({ imported: INTEGER, skipped: INTEGER, seconds: INTEGER }),
  run: ({ seconds }, call) => runImport(seconds, call),
});

async function runImport(seconds: number, { signal, progress }: DemoCall): Promise<CallToolResult> {
  const total = seconds * PACE;
  const ticks = (seconds * 1000) / TICK;
  await progress(0, total, "Reading the list of orders");
  for (let tick = 1; tick <= ticks; tick += 1) {
    await wait(TICK, signal);
    const rows = (total * tick) / ticks;
    await progress(rows, total, `${formatNumber(rows)} of ${formatNumber(total)} orders`);
  }
  const skipped = Math.floor(total / 400);
  const summary = { imported: total - skipped, skipped, seconds };
  return { ...toTextResult(JSON.stringify(summary)), structuredContent: summary };
}

/** Waits. Throws the signal's reason. */
function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", finish);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", finish, { once: true });
    if (signal.aborted) finish();
  });
}

function writeNote(live: Live): DemoTool {
  return demoTool({
    name: "write_note",
    title: "Write today's note",
    description: `Changes the resource ${NOTE}, and tells its subscribers.`,
    writes: true,
    fields: {
      text: {
        type: "string",
        title: "Text",
        description: "The whole note.",
        maxLength: 4000,
        default: "The second delivery of down jackets has arrived.",
      },
    },
    run: ({ text }) => {
      live.write(text);
      return toTextResult("The note is written.");
    },
  });
}

const findReports = demoTool({
  name: "find_reports",
  title: "Find reports (links)",
  description: "Links to the year's reports: each is read only on request.",
  fields: {},
  run: () => ({
    content: [
      { type: "text", text: `The reports of ${YEAR}:` },
      ...QUARTERS.map((quarter) => ({
        type: "resource_link" as const,
        uri: `report://sales/${quarter}`,
        name: `sales-${quarter.toLowerCase()}.pdf`,
        title: `Sales report ${quarter} ${YEAR}`,
        mimeType: "application/pdf",
      })),
    ],
  }),
});

const asks = demoTool({
  name: "asks",
  title: "Ask you something",
  description: "Asks the person at the client a question, and says what the answer was.",
  fields: {
    question: {
      type: "string",
      title: "Question",
      description: "What is asked.",
      maxLength: 500,
      default: "Which region shall the next report begin with?",
    },
  },
  run: async ({ question }, { ask }) => {
    const answer = { type: "string", title: "Answer", maxLength: 200 } as const;
    const { action, content } = await ask(question, { type: "object", properties: { answer }, required: ["answer"] });
    return toTextResult(
      action === "accept" ? `The answer was: ${String(content?.["answer"])}` : "There was no answer.",
    );
  },
});

const fails = demoTool({
  name: "fails",
  title: "Fail",
  description: "A result that says that something went wrong.",
  fields: {
    message: {
      type: "string",
      title: "Message",
      description: "What the failure says.",
      maxLength: 1000,
      default: "The warehouse does not answer. Try again in a few minutes.",
    },
  },
  run: ({ message }) => toErrorResult(message),
});

const smallTalk = demoTool({
  name: "small_talk",
  title: "Small talk",
  description: "A short text that passes unchanged.",
  fields: {},
  run: () => toTextResult("Five regions, ten products, and not one of them exists."),
});

function toObjectSchema(
  properties: Record<string, Record<string, unknown>>,
): { type: "object" } & Record<string, unknown> {
  return { type: "object", properties, required: Object.keys(properties) };
}
