/**
 * The script that a model writes where tools are for scripts alone: it calls a tool, and tells what it got.
 * @module
 */
import type { Part } from "../requests.js";
import type { HostCase } from "./cases.js";

/** What a script tells of a result. */
export interface ScriptReport {
  readonly chars: number;
  readonly facts: readonly string[];
  readonly marks: number;
  readonly documents: number;
  readonly recordings: number;
  readonly isTold: boolean;
  readonly uri?: string;
  readonly hasRefs: boolean;
  readonly excerpt: string;
}

/** A call that a script makes. */
export interface ScriptCall {
  readonly tool: string;
  readonly args: object;
  readonly entry: HostCase;
}

const REPORT = "script-report:";

/** What both kinds of script do with `result`, whose bytes are left out of `words`. */
function writeReport({ entry: { facts = {}, marks, script } }: ScriptCall): string {
  const given = JSON.stringify({ facts, pattern: marks?.pattern ?? "", total: script?.total ?? 0 });
  const sum = script === undefined ? "undefined" : SUMS[script.format];
  return `const given = ${given};
const words = raw.replace(/\\\\+(["\\/])/g, "$1");
const facts = Object.keys(given.facts).filter((name) => (where ?? words).includes(given.facts[name]));
let sum;
try { sum = ${sum}; } catch (error) { sum = String(error); }
if (given.total > 0 && sum === given.total) facts.push("sum");
const marks = given.pattern === "" ? [] : (words.match(new RegExp(given.pattern, "g")) ?? []);
const uri = (words.match(/artifact:\\/\\/[A-Za-z0-9_-]+/) ?? [])[0];
const report = "${REPORT}" + JSON.stringify({
  chars: words.length, facts, marks: new Set(marks).size, documents, recordings,
  isTold: words.includes("[sluice]"), uri, hasRefs: words.includes('sluice/refs":['), excerpt: words.slice(0, 300), sum,
});`;
}

/** How scripts add up prices: of `text`, or of `value`, which may be text as well. */
const SUMS = {
  csv: 'text.split("\\n").slice(1).reduce((sum, line) => sum + Number(line.split(",")[3]), 0)',
  json: "listRows(value).reduce((sum, row) => sum + row.price, 0)",
};

const LIST_ROWS = `const listRows = (value) => {
  const parsed = typeof value === "string" ? JSON.parse(value) : value;
  return Array.isArray(parsed) ? parsed : parsed.rows;
};`;

/** A script for Codex: a tool gives `content` and `structuredContent`; pictures are handed on to the model. */
export function writeCodexScript(call: ScriptCall): string {
  const { tool, args, entry } = call;
  return `const plain = (name) => name.toLowerCase().replace(/[^a-z0-9]+/g, "_");
const tool = ALL_TOOLS.find(({ name }) => plain(name).endsWith("_" + plain(${JSON.stringify(tool)})));
if (tool === undefined) { text("no such tool"); exit(); }
const result = await tools[tool.name](${JSON.stringify(args)});
const blocks = typeof result === "object" && result !== null && Array.isArray(result.content) ? result.content : [];
const isMedia = ({ type, resource }) => type === "image" || type === "audio" || resource?.blob !== undefined;
for (const { type, data, mimeType, resource } of blocks) {
  if (type === "image") image("data:" + mimeType + ";base64," + data);
  if (resource?.blob !== undefined && /^image/.test(resource.mimeType)) image("data:" + resource.mimeType + ";base64," + resource.blob);
}
const documents = blocks.filter(({ resource }) => resource?.blob !== undefined).length;
const recordings = blocks.filter(({ type }) => type === "audio").length;
const raw = typeof result === "string" ? result : JSON.stringify({ ...result, content: blocks.filter((block) => !isMedia(block)) });
const where = ${entry.isDefinition === true ? "tool.description" : "undefined"};
const value = result.structuredContent ?? blocks[0]?.text;
const report = (() => {
  const text = blocks[0]?.text;
  ${LIST_ROWS}
  ${writeReport(call)}
  return report;
})();
text(report);`;
}

/** A script for OpenCode: a tool gives a value or text. */
export function writeOpenCodeScript(path: string, call: ScriptCall): string {
  return `${LIST_ROWS}
const value = await ${path}(${JSON.stringify(call.args)});
const text = typeof value === "string" ? value : "";
const raw = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
const where = undefined;
const documents = 0;
const recordings = 0;
${writeReport(call)}
return report;`;
}

/** Reads the report in what the model gets of a script. */
export function readReport(parts: readonly Part[]): ScriptReport | undefined {
  for (const part of parts) {
    const found = part.kind === "text" ? new RegExp(`${REPORT}(\\{.*\\})`, "s").exec(part.text)?.[1] : undefined;
    if (found !== undefined) return parseReport(found);
  }
  return undefined;
}

/** As it was printed, or as a string of JSON. */
function parseReport(text: string): ScriptReport | undefined {
  for (const each of [text, text.replaceAll(/\\(.)/g, "$1")]) {
    try {
      return JSON.parse(each) as ScriptReport;
    } catch {
      // It is the other.
    }
  }
  return undefined;
}
