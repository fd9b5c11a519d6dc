/**
 * Tools that follow the contract of user files: they take names, which become files, and tell of files that they made.
 * @module
 */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { base64Text } from "../../base64.js";
import { demoTool, failed, type DemoCall, type DemoTool } from "../tool.js";
import { givenFile, textIn, type GivenFile } from "./given.js";
import { reportPage } from "./report.js";

/** UTF-16 units of a file as a data URI: as many as a message may have. */
const MAX_GIVEN = 12_000_000;
const MAX_FILES = 32;
const MAX_NAME = 200;
const WORDS = /\S+/g;

const summarize = demoTool({
  name: "summarize_file",
  title: "Summarize a file",
  description: "Says what is in a file of My Files: its type and size; of a text also lines, words and columns.",
  fields: { filename: nameField() },
  run: ({ filename }) => {
    const file = givenFile(filename);
    return file === undefined ? failed("Name a file of My Files.") : contract({ results: summaryOf(file) });
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
      description: "Stands above it; the name of the file too.",
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
  description: "Tells of a draft by its path, as tools of programs do. A page has no folder, so it is refused.",
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
  description: "Tells once how far it is, and then nothing until it is done. It can be cancelled.",
  fields: {
    seconds: {
      type: "integer",
      title: "Seconds",
      description: "How long it says nothing.",
      minimum: 1,
      maximum: 300,
      default: 40,
    },
  },
  run: async ({ seconds }, call) => {
    await call.progress(1, 200, "Processing chunk 1/200");
    await waited(seconds * 1000, call);
    return contract({ results: { silent_for_seconds: seconds } });
  },
});

/** Its list of names is no flat field. */
const join: DemoTool = {
  listed: {
    name: "join_files",
    title: "Join files",
    description: "Joins texts of My Files to one, in their order, and keeps it there.",
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
      const file = typeof uri === "string" ? givenFile(uri) : undefined;
      return file && textIn(file);
    });
    if (texts.length === 0 || texts.includes(undefined)) return failed("Name files of My Files that are texts.");
    const said = { name: "joined.txt", mime: "text/plain", description: `${texts.length} files, joined` };
    return contract({
      results: { joined: texts.length },
      artifacts: [{ ...said, category: "dataset", b64: base64Text(texts.join("\n")) }],
      display: { category_hint: "dataset", notification: "joined.txt is in My Files." },
    });
  },
};

/** In the order in which they are listed. */
export const USER_FILE_TOOLS: readonly DemoTool[] = [summarize, report, join, silent, draft];

function nameField(): { type: "string"; title: string; description: string; maxLength: number; default: string } {
  return {
    type: "string",
    title: "File",
    description: "The name of a file in My Files.",
    maxLength: MAX_GIVEN,
    default: "",
  };
}

function summaryOf(file: GivenFile): Readonly<Record<string, unknown>> {
  const facts = { type: file.type, bytes: file.bytes.length };
  const text = textIn(file);
  if (text === undefined) return facts;
  const lines = text.split(/\r?\n/).filter((line) => line !== "");
  const words = text.match(WORDS)?.length ?? 0;
  const first = (lines[0] ?? "").slice(0, MAX_NAME);
  if (file.type !== "text/csv") return { ...facts, lines: lines.length, words, first_line: first };
  return { ...facts, rows: Math.max(0, lines.length - 1), columns: first.split(",") };
}

/** As text and as structure, like most servers write it. */
function contract(value: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}

/** Throws the reason of the signal at once. */
function waited(milliseconds: number, { signal }: DemoCall): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
