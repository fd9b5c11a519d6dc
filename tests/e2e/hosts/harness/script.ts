/**
 * The script that a model in Codex's code mode writes: it calls a tool, and tells what it got.
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

const REPORT = "script-report:";

/** Writes the script for a call: pictures are handed on to the model, of all else the report alone. */
export function writeScript(tool: string, args: object, { facts = {}, marks, script, isDefinition }: HostCase): string {
  const given = JSON.stringify({ tool, args, facts, pattern: marks?.pattern, total: script?.total, isDefinition });
  return `const given = ${given};
const plain = (name) => name.toLowerCase().replace(/[^a-z0-9]+/g, "_");
const tool = ALL_TOOLS.find(({ name }) => plain(name).endsWith("_" + plain(given.tool)));
if (tool === undefined) { text("${REPORT}" + JSON.stringify({ missing: true })); exit(); }
const result = await tools[tool.name](given.args);
const blocks = typeof result === "object" && result !== null && Array.isArray(result.content) ? result.content : [];
const isMedia = ({ type, resource }) => type === "image" || type === "audio" || resource?.blob !== undefined;
const seen = { ...result, content: blocks.filter((block) => !isMedia(block)) };
const words = (typeof result === "string" ? result : JSON.stringify(seen)).replace(/\\\\+(["\\/])/g, "$1");
const where = given.isDefinition ? tool.description : words;
const facts = Object.keys(given.facts).filter((name) => where.includes(given.facts[name]));
let sum;
try { sum = ${script?.sum ?? "undefined"}; } catch (error) { sum = String(error); }
if (given.total !== undefined && sum === given.total) facts.push("sum");
for (const { type, data, mimeType, resource } of blocks) {
  if (type === "image") image("data:" + mimeType + ";base64," + data);
  if (resource?.blob !== undefined && /^image/.test(resource.mimeType)) image("data:" + resource.mimeType + ";base64," + resource.blob);
}
text("${REPORT}" + JSON.stringify({
  chars: words.length, facts, marks: given.pattern ? new Set(words.match(new RegExp(given.pattern, "g"))).size : 0,
  documents: blocks.filter(({ resource }) => resource?.blob !== undefined).length,
  recordings: blocks.filter(({ type }) => type === "audio").length,
  isTold: words.includes("[sluice]"), uri: /artifact:\\/\\/[\\w-]+/.exec(words)?.[0],
  hasRefs: words.includes("sluice/refs"), excerpt: words.slice(0, 300), sum,
}));`;
}

/** Reads the report in what the model gets of a script. */
export function readReport(parts: readonly Part[]): ScriptReport | undefined {
  for (const part of parts) {
    const at = part.kind === "text" ? part.text.indexOf(REPORT) : -1;
    if (part.kind !== "text" || at < 0) continue;
    const report = JSON.parse(part.text.slice(at + REPORT.length)) as ScriptReport & { readonly missing?: boolean };
    return report.missing === true ? undefined : report;
  }
  return undefined;
}
