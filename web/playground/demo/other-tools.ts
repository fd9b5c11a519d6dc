/**
 * The demo server's tools that give no files: data, long work, questions, failures.
 * @module
 */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { rowsField } from "./file-tools.js";
import { NOTE, type Live } from "./live.js";
import { orders, QUARTERS, separated, YEAR } from "./sales.js";
import { demoTool, failed, told, type DemoCall, type DemoTool } from "./tool.js";

/** Milliseconds between two reports of progress. */
const TICK = 500;
/** Rows that an import takes in each second. */
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
  description: "Orders as rows of JSON, in a text and as structured content.",
  fields: { rows: rowsField(12_000) },
  outputSchema: objectOf({
    rows: {
      type: "array",
      items: objectOf({
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
    return { ...told(JSON.stringify(rows)), structuredContent: { rows } };
  },
});

const slowImport = demoTool({
  name: "slow_import",
  title: "Slow import (progress)",
  description: "Pretends to import orders for as long as you like, tells how far it is, and can be cancelled.",
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
  outputSchema: objectOf({ imported: INTEGER, skipped: INTEGER, seconds: INTEGER }),
  run: ({ seconds }, call) => imported(seconds, call),
});

async function imported(seconds: number, { signal, progress }: DemoCall): Promise<CallToolResult> {
  const total = seconds * PACE;
  const ticks = (seconds * 1000) / TICK;
  await progress(0, total, "Reading the list of orders");
  for (let tick = 1; tick <= ticks; tick += 1) {
    await waited(TICK, signal);
    const rows = (total * tick) / ticks;
    await progress(rows, total, `${separated(rows)} of ${separated(total)} orders`);
  }
  const skipped = Math.floor(total / 400);
  const summary = { imported: total - skipped, skipped, seconds };
  return { ...told(JSON.stringify(summary)), structuredContent: summary };
}

/** Throws the reason of the signal at once. */
function waited(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const given = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", given);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", given, { once: true });
    if (signal.aborted) given();
  });
}

function writeNote(live: Live): DemoTool {
  return demoTool({
    name: "write_note",
    title: "Write today's note",
    description: `Changes the resource ${NOTE}, and tells whoever is subscribed to it.`,
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
      return told("The note is written.");
    },
  });
}

const findReports = demoTool({
  name: "find_reports",
  title: "Find reports (links)",
  description: "Links to the year's reports: each is read only when somebody wants it.",
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
    return told(action === "accept" ? `The answer was: ${String(content?.["answer"])}` : "Nobody answered.");
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
  run: ({ message }) => failed(message),
});

const smallTalk = demoTool({
  name: "small_talk",
  title: "Small talk",
  description: "A short text that passes unchanged.",
  fields: {},
  run: () => told("Five regions, ten products, and not one of them exists."),
});

function objectOf(properties: Record<string, Record<string, unknown>>): { type: "object" } & Record<string, unknown> {
  return { type: "object", properties, required: Object.keys(properties) };
}
