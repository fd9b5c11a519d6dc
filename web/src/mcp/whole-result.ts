/**
 * Results for programs: scripts that a host lets its model write read the whole result, as the server sent it, where a model reads what
 * is left of it. What is said to them stands in `_meta`.
 * @module
 */
import { isTruncated } from "../artifacts/reference.js";
import { humanSize } from "../core/amounts.js";
import type { AnswerRef, Transformed } from "../core/types.js";
import { appendEdit, applyEdits, parseJson, valueAt } from "../json/text.js";
import { MAX_HEAD, MAX_MESSAGE } from "../jsonrpc/limits.js";
import { objectOr } from "../jsonrpc/rpc.js";
import { noteEdits } from "./host-result.js";

/** Bytes of the largest result that comes whole: a message, without what stands around the result. */
export const MAX_WHOLE: number = MAX_MESSAGE - MAX_HEAD;

/** Most artifacts that are named. */
const MAX_NAMED = 32;

/** A whole result as JSON text, with `_meta["sluice/artifacts"]`. */
export async function joinWhole(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { artifacts }: Transformed,
): Promise<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  text += decoder.decode();
  const stored = artifacts.filter((ref) => !isTruncated(ref)).slice(0, MAX_NAMED);
  return stored.length === 0 ? text : addMeta(text, `"sluice/artifacts":${JSON.stringify(stored.map(nameArtifact))}`);
}

function nameArtifact({ id, mime_type, size_bytes, filename }: AnswerRef): object {
  return { uri: `artifact://${id}`, mime_type, size_bytes, filename };
}

/** Adds a member to `_meta`. A result that is no object, or whose own `_meta` cannot be edited, stays as it is. */
function addMeta(text: string, member: string): string {
  const result: unknown = JSON.parse(text);
  const { _meta } = objectOr(result);
  if (_meta === undefined && Object.keys(objectOr(result)).length > 0) {
    const end = text.lastIndexOf("}");
    return `${text.slice(0, end)},"_meta":{${member}}${text.slice(end)}`;
  }
  try {
    const meta = valueAt(parseJson(text), "_meta");
    return meta?.type === "Object" ? applyEdits(text, [appendEdit(meta, member)]) : text;
  } catch {
    return text;
  }
}

/** Says in a reduced result, in words and in `_meta["sluice/reduced"]`, that a program does not get all of it. */
export function markReduced(text: string, { changed, bytesIn }: Transformed, readTool: string): string {
  if (!changed) return text;
  try {
    const body = parseJson(text);
    const content = valueAt(body, "content");
    if (body.type !== "Object") return text;
    const sentence =
      `[sluice] This result has ${humanSize(bytesIn)}, more than ${humanSize(MAX_WHOLE)} that come whole: strings in it ` +
      `that begin with artifact:// stand for what is left out. Read it with ${readTool}.`;
    const block = JSON.stringify({ type: "text", text: sentence });
    const isList = content?.type === "Array";
    const at = isList ? `/content/${content.elements.length}` : "/content";
    const added = isList ? appendEdit(content, block) : appendEdit(body, `"content":[${block}]`);
    const entries = [JSON.stringify({ at, added: true }), '{"at":"/_meta/sluice~1reduced","added":true}'];
    const noted = applyEdits(text, [added, ...noteEdits(body, entries)]);
    const meta = valueAt(parseJson(noted), "_meta");
    return meta?.type === "Object" ? applyEdits(noted, [appendEdit(meta, '"sluice/reduced":true')]) : text;
  } catch {
    return text;
  }
}
