/**
 * Puts into words what a host would not show of a result: the text of embedded resources, and `structuredContent`, where the host reads
 * `content` alone, or hides `content` behind it. `restore` undoes all of it.
 * @module
 */
import {
  appendEdit,
  applyEdits,
  parseJson,
  removeEdits,
  replaceEdit,
  sliceSource,
  findSpan,
  valueAt,
  type ArrayNode,
  type Edit,
  type ObjectNode,
  type ValueNode,
} from "../json/text.js";
import { stringOr } from "../jsonrpc/rpc.js";
import type { HostProfile } from "./host-profiles.js";

const REFS = "sluice/refs";

/** Most characters of a URI that is told. */
const MAX_URI = 2000;

/** What is known of the tool that gave the result. */
export interface ToolFacts {
  /** Whether the server listed a schema of its results. */
  readonly isTyped: boolean;
}

/** A CallToolResult, parsed. */
interface Result {
  readonly text: string;
  readonly body: ObjectNode;
  readonly content: ArrayNode | undefined;
  readonly structured: ObjectNode | undefined;
}

/** A result as a host shows all of it. What is nested too deep to edit, or is no such result, stays as it is. */
export function fitToHost(text: string, host: HostProfile, tool: ToolFacts): string {
  const mayBeTexts = host.resourceTexts === "lost" && text.includes('"resource"');
  const mayBeStructure = host.half !== "unknown" && text.includes('"structuredContent"');
  if (!mayBeTexts && !mayBeStructure) return text;
  try {
    const plain = mayBeTexts ? putTexts(text) : text;
    return mayBeStructure ? putStructure(plain, host, tool) : plain;
  } catch {
    return text;
  }
}

function readResult(text: string): Result | undefined {
  const body = parseJson(text);
  if (body.type !== "Object") return undefined;
  const content = valueAt(body, "content");
  const structured = valueAt(body, "structuredContent");
  if (content !== undefined && content.type !== "Array") return undefined;
  return { text, body, content, structured: structured?.type === "Object" ? structured : undefined };
}

// --- embedded texts --------------------------------------------------------------------------

/** Replaces embedded resources that are texts by text blocks. */
function putTexts(text: string): string {
  const result = readResult(text);
  if (result?.content === undefined) return text;
  const edits: Edit[] = [];
  const entries: string[] = [];
  for (const [index, { value }] of result.content.elements.entries()) {
    const resource = valueAt(value, "resource");
    const said = stringAt(resource, "text");
    const at = `/content/${index}`;
    if (said === undefined || text.includes(`"at":"${at}`)) continue;
    const uri = (stringAt(resource, "uri") ?? "").slice(0, MAX_URI);
    edits.push(replaceEdit(value, JSON.stringify({ type: "text", text: `[sluice] Resource ${uri}:\n${said}` })));
    entries.push(`{"at":"${at}","was":${sliceSource(text, value)}}`);
  }
  return edits.length === 0 ? text : applyEdits(text, [...edits, ...noteEdits(result.body, entries)]);
}

// --- the structured half ---------------------------------------------------------------------

function putStructure(text: string, host: HostProfile, tool: ToolFacts): string {
  const result = readResult(text);
  if (result?.structured === undefined || result.structured.members.length === 0) return text;
  const blocks = result.content?.elements.map(({ value }) => value) ?? [];
  if (host.half === "content" || (host.half === "both" && host.structuredAlone === "lost" && blocks.length === 0)) {
    const isShown = blocks.length === 0 && host.structuredAlone === "shown";
    return isShown || blocks.some(isServersText) ? text : addStructure(result, result.structured);
  }
  const hidesBlocks = host.half === "structured" && host.hides === "all" && blocks.some((block) => !isText(block));
  // A client that checks results refuses one without the half that its schema is of.
  return hidesBlocks && (!tool.isTyped || !host.checksResults) ? moveStructure(result, result.structured) : text;
}

const isText = (block: ValueNode): boolean => stringAt(block, "type") === "text";

/** Whether a block is a text of the server's, or its resource. Our own sentences tell nothing of `structuredContent`. */
function isServersText(block: ValueNode): boolean {
  if (stringAt(valueAt(block, "resource"), "text") !== undefined) return true;
  const said = stringAt(block, "text");
  return said !== undefined && said !== "" && !said.startsWith("[sluice] ");
}

/** Says in a block of its own what the structured half says. */
function addStructure({ text, body, content }: Result, structured: ObjectNode): string {
  const block = JSON.stringify({ type: "text", text: sliceSource(text, structured) });
  if (content === undefined) {
    const edits = noteEdits(body, ['{"at":"/content","added":true}']);
    return applyEdits(text, [appendEdit(body, `"content":[${block}]`), ...edits]);
  }
  const entry = `{"at":"/content/${content.elements.length}","added":true}`;
  return applyEdits(text, [appendEdit(content, block), ...noteEdits(body, [entry])]);
}

/** Says what the structured half says in the first block, and leaves that half out, since it would hide the other blocks. */
function moveStructure({ text, body, content }: Result, structured: ObjectNode): string {
  if (content === undefined) return text;
  const block = JSON.stringify({ type: "text", text: sliceSource(text, structured) });
  const { start } = findSpan(content);
  const first = { at: start + 1, remove: 0, insert: content.elements.length === 0 ? block : `${block},` };
  const moved = applyEdits(text, [first, ...removeEdits(body, (name) => name === "structuredContent")]);
  const [before, list] = takeList({ text, body, content });
  const entry = `{"at":"","was":${before}${list === "[]" ? "" : `,"refs":${list}`}}`;
  const after = parseJson(moved);
  const meta = valueAt(after, "_meta");
  const refs = valueAt(meta, REFS);
  if (refs !== undefined) return applyEdits(moved, [replaceEdit(refs, `[${entry}]`)]);
  if (meta?.type === "Object") return applyEdits(moved, [appendEdit(meta, `"${REFS}":[${entry}]`)]);
  return after.type === "Object" ? applyEdits(moved, [appendEdit(after, `"_meta":{"${REFS}":[${entry}]}`)]) : text;
}

/** A result without its list of references, and the list. Blocks that the list has stand empty in it. */
function takeList({
  text,
  body,
  content,
}: Pick<Result, "text" | "body"> & { readonly content: ArrayNode }): readonly [string, string] {
  const meta = valueAt(body, "_meta");
  const refs = valueAt(meta, REFS);
  if (meta?.type !== "Object" || refs?.type !== "Array") return [text, "[]"];
  const list = sliceSource(text, refs);
  const emptied = content.elements.flatMap(({ value }, index) =>
    list.includes(`"at":"/content/${index}","was":`) ? [replaceEdit(value, "null")] : [],
  );
  return [applyEdits(text, [...emptied, ...removeEdits(meta, (name) => name === REFS)]), list];
}

// --- the list of references ------------------------------------------------------------------

/** Adds entries to the list that `restore` goes by, which may not exist yet. */
export function noteEdits(body: ObjectNode, entries: readonly string[]): readonly Edit[] {
  const meta = valueAt(body, "_meta");
  const refs = valueAt(meta, REFS);
  if (refs?.type === "Array") return [appendEdit(refs, entries.join(","))];
  const list = `"${REFS}":[${entries.join(",")}`;
  if (meta?.type === "Object") return [appendEdit(meta, `${list}]`)];
  return [appendEdit(body, `"_meta":{${list},{"at":"/_meta","added":true}]}`)];
}

function stringAt(node: ValueNode | undefined, name: string): string | undefined {
  const value = valueAt(node, name);
  return value?.type === "String" ? stringOr(value.value) : undefined;
}
