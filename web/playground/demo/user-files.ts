/**
 * A second demo server, whose tools read and write My Files. Loaded when it is connected.
 * @module
 */
import type { CallToolResult } from "@modelcontextprotocol/client";
import { base64Text } from "../base64.js";
import { demoFetch, DemoServer } from "./server.js";
import { type DemoCall, demoTool, type DemoTool, toErrorResult } from "./tool.js";
import { dollars, MONTHS, REGIONS, revenue, YEAR } from "./sales.js";

/** Where it is; nothing is there on any network (RFC 6761). */
const URL_OF_FILES = "https://files.sluice.invalid/mcp";

/** Its URL and the `fetch` that reaches it. */
export function fileDemo(): { readonly url: string; readonly fetch: typeof globalThis.fetch } {
  return { url: URL_OF_FILES, fetch: demoFetch(URL_OF_FILES, fileServer) };
}

function fileServer(): DemoServer {
  const serverInfo = { name: "sluice-files-demo", title: "Demo server for user files", version: "1" };
  const instructions = "Tools that take files by their names, and make files.";
  return new DemoServer({ serverInfo, capabilities: { tools: {} }, instructions }, USER_FILE_TOOLS);
}

/** UTF-16 units of a data URI: the limit of a message. */
const MAX_GIVEN = 12_000_000;
const MAX_FILES = 32;
const MAX_NAME = 200;
const WORDS = /\S+/g;

const summarize = demoTool({
  name: "summarize_file",
  title: "Summarize a file",
  description: "Says what is in a file of My Files: its type and size, and for text also lines, words and columns.",
  fields: { filename: nameField() },
  run: ({ filename }) => {
    const file = readFile(filename);
    return file === undefined ? toErrorResult("Name a file of My Files.") : contract({ results: summarizeFile(file) });
  },
});

const report = demoTool({
  name: "make_report",
  title: "Make a report (HTML)",
  description: "Writes a report as a page, keeps it in My Files, and opens it in the viewer.",
  writes: true,
  fields: {
    title: {
      type: "string",
      title: "Title",
      description: "The heading, also used as the name of the file.",
      maxLength: MAX_NAME,
      default: "Revenue by region",
    },
    mode: {
      type: "string",
      title: "Mode",
      description:
        "How the viewer shows it: in the place of what is open, behind it, or half and half with the result.",
      enum: ["split", "replace", "append"],
      default: "split",
    },
    username: { type: "string", title: "User", description: "Who asks.", maxLength: MAX_NAME, default: "" },
  },
  run: ({ title, mode, username }) => {
    const name = `${title.toLowerCase().replaceAll(/[^\w]+/g, "-")}.html`;
    const said = { name, mime: "text/html", description: title, category: "report", viewer: "html", auto_open: true };
    return contract({
      results: { summary: `The report ${name} is written.` },
      meta_data: { regions: 5 },
      artifacts: [{ ...said, b64: base64Text(reportPage(title, username)) }],
      display: {
        open_canvas: true,
        primary_file: name,
        mode,
        storage_action: "store_and_open",
        category_hint: "report",
        notification: `The report ${name} is in My Files.`,
      },
    });
  },
});

const draft = demoTool({
  name: "draft_letter",
  title: "Draft a letter (at a path)",
  description: "Returns a draft by its path, as tools that are programs do. A page has no folder, so it is refused.",
  writes: true,
  fields: { username: { type: "string", title: "User", description: "Who asks.", maxLength: MAX_NAME, default: "" } },
  run: ({ username }) =>
    contract({
      results: { summary: "The letter is half done." },
      deferred_artifacts: [
        { name: "letter.txt", path: `/tmp/${username}/letter.txt`, mime: "text/plain", reason: "needs_editing" },
      ],
    }),
});

const silent = demoTool({
  name: "stay_silent",
  title: "Stay silent",
  description: "Reports progress once, then nothing until it is done. It can be cancelled.",
  fields: {
    seconds: {
      type: "integer",
      title: "Seconds",
      description: "How long it stays silent.",
      minimum: 1,
      maximum: 300,
      default: 40,
    },
  },
  run: async ({ seconds }, call) => {
    await call.progress(1, 200, "Processing chunk 1/200");
    await wait(seconds * 1000, call);
    return contract({ results: { silent_for_seconds: seconds } });
  },
});

/** Written out, as a list of names is not a flat field. */
const join: DemoTool = {
  listed: {
    name: "join_files",
    title: "Join files",
    description: "Joins text files of My Files into one, in their order, and keeps it there.",
    inputSchema: {
      type: "object",
      properties: {
        filenames: {
          type: "array",
          items: { type: "string" },
          title: "Files",
          description: "Names of files in My Files.",
        },
      },
      required: ["filenames"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  },
  call: async ({ filenames }) => {
    const given = Array.isArray(filenames) ? filenames.slice(0, MAX_FILES) : [];
    const texts = given.map((uri) => {
      const file = typeof uri === "string" ? readFile(uri) : undefined;
      return file && textIn(file);
    });
    if (texts.length === 0 || texts.includes(undefined)) return toErrorResult("Name text files of My Files.");
    const said = { name: "joined.txt", mime: "text/plain", description: `${texts.length} files, joined` };
    return contract({
      results: { joined: texts.length },
      artifacts: [{ ...said, category: "dataset", b64: base64Text(texts.join("\n")) }],
      display: { category_hint: "dataset", notification: "joined.txt is in My Files." },
    });
  },
};

/** In the order in which they are listed. */
const USER_FILE_TOOLS: readonly DemoTool[] = [summarize, report, join, silent, draft];

function nameField(): { type: "string"; title: string; description: string; maxLength: number; default: string } {
  return {
    type: "string",
    title: "File",
    description: "The name of a file in My Files.",
    maxLength: MAX_GIVEN,
    default: "",
  };
}

function summarizeFile(file: GivenFile): Readonly<Record<string, unknown>> {
  const facts = { type: file.type, bytes: file.bytes.length };
  const text = textIn(file);
  if (text === undefined) return facts;
  const lines = text.split(/\r?\n/).filter((line) => line !== "");
  const words = text.match(WORDS)?.length ?? 0;
  const first = (lines[0] ?? "").slice(0, MAX_NAME);
  if (file.type !== "text/csv") return { ...facts, lines: lines.length, words, first_line: first };
  return { ...facts, rows: Math.max(0, lines.length - 1), columns: first.split(",") };
}

/** A result that follows the tool output contract. */
function contract(value: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}

/** Waits. Throws the signal's reason. */
function wait(milliseconds: number, { signal }: DemoCall): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

/** A file that a tool was given. */
interface GivenFile {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** The file in a data URI; undefined for anything else, such as a name that was not replaced by a file. */
function readFile(uri: string): GivenFile | undefined {
  const [, type, base64] = /^data:([\w.+/-]+);base64,([\w+/]*={0,2})$/.exec(uri) ?? [];
  if (type === undefined || base64 === undefined) return undefined;
  return { type, bytes: Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)) };
}

/** The bytes as text; undefined if they are not UTF-8. */
function textIn({ bytes }: GivenFile): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const STYLE =
  "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:46rem;padding:0 1rem;color:#16324a;background:#fff}" +
  "table{border-collapse:collapse;width:100%}th,td{border-bottom:1px solid #cbd5de;padding:.3rem .6rem;text-align:right}" +
  "th:first-child,td:first-child{text-align:left}";

/** A report of the year by region and quarter, as HTML. `title` and `author` are not trusted. */
function reportPage(title: string, author: string): string {
  const quarters = [0, 1, 2, 3];
  const head = ["Region", ...quarters.map((quarter) => `${MONTHS[quarter * 3]}–${MONTHS[quarter * 3 + 2]}`)];
  const rows = REGIONS.map((region, at) => [region, ...quarters.map((quarter) => dollars(sum(at, quarter)))]);
  const line = (tag: "th" | "td", cells: readonly string[]): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join("")}</tr>`;
  return (
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${STYLE}</style>` +
    `<h1>${escapeHtml(title)}</h1><p>Revenue of ${YEAR}, written for ${escapeHtml(author)}. The shop does not exist.</p>` +
    `<table>${line("th", head)}${rows.map((row) => line("td", row)).join("")}</table></html>`
  );
}

function sum(region: number, quarter: number): number {
  return [0, 1, 2].reduce((total, month) => total + revenue(region, quarter * 3 + month), 0);
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
