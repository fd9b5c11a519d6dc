/**
 * A folder of documents behind a real MCP server, and what models read of answers about them.
 * @module
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { workbook, zipped } from "./documents.js";
import { emptyFolder } from "./folder.js";
import { pdfOf } from "./pdf.js";

/** The server's program; its one argument is the folder. */
export const OFFICE_SERVER: string = fileURLToPath(new URL("office-server.mjs", import.meta.url));

/** What is in `data/prices.csv` of `bundle.zip`. */
export const PRICES = "item,price\nCoffee,4.50\nWater,3.00\n";

/** A folder and the server in front of it. */
export interface Office {
  readonly folder: string;
  /** How a shell starts the server: the `connection` of a source. */
  readonly connection: string;
  /** A file of the folder. */
  readonly read: (name: string) => Promise<Uint8Array>;
}

/**
 * A folder with `report.pdf` of three pages, `sales.xlsx` with the sheets Q1 and Q2, and `bundle.zip`. It goes with the test.
 */
export async function office(): Promise<Office> {
  const folder = await emptyFolder();
  for (const [name, bytes] of Object.entries(await documents())) await writeFile(join(folder, name), bytes);
  return {
    folder,
    connection: `"${process.execPath}" "${OFFICE_SERVER}" "${folder}"`,
    read: async (name) => new Uint8Array(await readFile(join(folder, name))),
  };
}

/** The files that an {@link office} has at first, by name. */
export async function documents(): Promise<Readonly<Record<string, Uint8Array>>> {
  const pages = ["The year in short.", "The warranty lasts 42 months.", "Nothing of note."];
  return {
    "report.pdf": pdfOf(
      pages.map((line, at) => ({ lines: [`Section ${at + 1}`, line] })),
      "Annual report",
    ),
    "sales.xlsx": await workbook([
      sheet("Q1", ["city", "amount"], ["Bern", 12]),
      sheet("Q2", ["city", "amount"], ["Bern", 30], ["Oslo", 25], ["Bern", 5]),
    ]),
    "bundle.zip": await zipped({ "notes.txt": "hello\n", "data/prices.csv": PRICES }),
  };
}

type Cells = readonly (string | number)[];

function sheet(name: string, ...rows: readonly Cells[]): readonly [name: string, content: string] {
  return [name, `<sheetData>${rows.map((row) => `<row>${row.map(cell).join("")}</row>`).join("")}</sheetData>`];
}

function cell(value: string | number): string {
  return `<c${typeof value === "string" ? ' t="str"' : ""}><v>${value}</v></c>`;
}

/** What an observation of an artifact tool shows of the artifact; the observation itself where it shows nothing. */
export function shownIn(observation: string): string {
  const text = JSON.parse(observation) as unknown;
  return /\n--- data (\S+) ---\n([^]*)\n--- end \1 ---/.exec(String(text))?.[2] ?? observation;
}

/** The artifacts that an observation names, as URIs, in order, each once. */
export function urisIn(observation: string): readonly string[] {
  const named = observation.matchAll(/artifact:\/\/(\w+)|"artifact":\{"id":"(\w+)"/g);
  return [...new Set([...named].map(([, uri, id]) => `artifact://${uri ?? id}`))];
}
