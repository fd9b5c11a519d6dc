/**
 * Links in results: added for clients known to accept them, replaced by text for clients that fail on them or drop them.
 * @module
 */
import { plainType } from "../core/media-type.js";
import type { AnswerRef, Transformed } from "../core/types.js";
import {
  appendEdit,
  applyEdits,
  parseJson,
  replaceEdit,
  sliceSource,
  valueAt,
  type Edit,
  type ValueNode,
} from "../json/text.js";
import { stringOr } from "../jsonrpc/rpc.js";
import { noteEdits } from "./host-result.js";

/** Most links in one result: some clients read each of them at once. */
const MAX_LINKS = 8;

const REFS = "sluice/refs";

/**
 * Appends a `resource_link` for each artifact to a reduced CallToolResult. `restore` removes them. Anything else stays
 * unchanged.
 */
export function withLinks(reduced: Transformed): string {
  return orAsItIs(reduced.text, () => addLinks(reduced));
}

/** Leaves a result that is nested too deep to edit unchanged. */
function orAsItIs(text: string, edited: () => string): string {
  try {
    return edited();
  } catch {
    return text;
  }
}

function addLinks({ text, artifacts }: Transformed): string {
  const kept = artifacts.filter(({ source }) => source.truncated !== true);
  const stored = [...new Map(kept.map((ref) => [ref.id, ref])).values()].slice(0, MAX_LINKS);
  if (stored.length === 0) return text;
  const result = parseJson(text);
  const content = valueAt(result, "content");
  const refs = valueAt(valueAt(result, "_meta"), REFS);
  if (content?.type !== "Array" || refs?.type !== "Array") return text;
  const first = content.elements.length;
  const added = stored.map((_, index) => JSON.stringify({ at: `/content/${first + index}`, added: true }));
  return applyEdits(text, [
    appendEdit(content, stored.map((ref) => JSON.stringify(linkTo(ref))).join(",")),
    appendEdit(refs, added.join(",")),
  ]);
}

function linkTo({ id, filename, mime_type, size_bytes }: AnswerRef): object {
  const mimeType = plainType(mime_type);
  return {
    type: "resource_link",
    uri: `artifact://${id}`,
    name: filename ?? id,
    ...(mimeType !== undefined && { mimeType }),
    size: size_bytes,
  };
}

/** Characters of a name and of a URI that are shown. */
const MAX_NAME = 60;
const MAX_URI = 2000;

/**
 * Replaces `resource_link` blocks by text, for a client that throws on them or drops them. `restore` puts them back. A link with
 * diverted content stays.
 */
export function withLinksAsText({ text }: Transformed): string {
  return text.includes("resource_link") ? orAsItIs(text, () => replaceLinks(text)) : text;
}

function replaceLinks(text: string): string {
  const result = parseJson(text);
  const content = valueAt(result, "content");
  if (result.type !== "Object" || content?.type !== "Array") return text;
  const edits: Edit[] = [];
  const entries: string[] = [];
  for (const [index, { value }] of content.elements.entries()) {
    const at = `/content/${index}`;
    if (textAt(value, "type") !== "resource_link" || text.includes(`"at":"${at}/`)) continue;
    edits.push(replaceEdit(value, JSON.stringify({ type: "text", text: sentenceFor(value) })));
    entries.push(`{"at":"${at}","was":${sliceSource(text, value)}}`);
  }
  return edits.length === 0 ? text : applyEdits(text, [...edits, ...noteEdits(result, entries)]);
}

function sentenceFor(link: ValueNode): string {
  const name = (textAt(link, "name") ?? "").replace(/[\p{C}\p{Z}]+/gu, " ").slice(0, MAX_NAME);
  const type = plainType(textAt(link, "mimeType") ?? null);
  const of = type === undefined ? "" : `, ${type}`;
  const uri = (textAt(link, "uri") ?? "").slice(0, MAX_URI);
  return `[sluice] Link to a resource of this server, without its content: ${JSON.stringify(name)}${of}: ${uri}`;
}

function textAt(node: ValueNode, name: string): string | undefined {
  const value = valueAt(node, name);
  return value?.type === "String" ? stringOr(value.value) : undefined;
}
