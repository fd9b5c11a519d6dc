/**
 * The blocks of a result, read at once or in parts.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import { LARGE, pause } from "../pace.js";
import { type JsonChildren, JsonNode } from "./json-text.js";
import type { Hole, MarkedText } from "./marked-text.js";
import { findBody, restoreSentText } from "./restore.js";
import { findInner } from "./tree-rows.js";

/** What a block is: a content block by its type, an entry of `resources/read`, a member of the result, or all of it. */
type BlockKind = "text" | "image" | "audio" | "resource" | "resource_link" | "entry" | "member" | "other";

/** One block. */
export interface Block {
  /** What it is. */
  readonly kind: BlockKind;
  /** Where it stands, e.g. `content 2`, `structuredContent`. */
  readonly name: string;
  /** The value. */
  readonly node: JsonNode;
}

/** The blocks of a result; each is made when it is asked for. */
export interface Blocks {
  /** The number of blocks. */
  readonly length: number;
  /** The block at an index from 0. Throws if there is none. */
  at(index: number): Block;
}

/** The bytes of a block: stored, or inline because the model sees them. */
export interface Load {
  /** The reference that replaces them; null if they are inline. */
  readonly hole: Hole | null;
  /** Their type according to the server. */
  readonly mimeType: string | null;
  /** The number of inline bytes; null if they were stored. */
  readonly inline: number | null;
  /** The member that holds them. */
  readonly member: "data" | "blob" | "text" | "resource";
}

const LISTS = ["content", "contents"];

/** The blocks of a result: its content, then its other members. Any other value is one block. */
export function listBlocks(sent: MarkedText): Blocks {
  const root = JsonNode.of(sent);
  if (root === null) return only([]);
  const body = findBody(root);
  if (body.kind === "array" && isContent(body)) return listItems(body.children, "content", []);
  if (body.kind !== "object") return only([{ kind: "other", name: "value", node: body }]);
  const members = listMembers(body);
  const list = members.find(({ name, node }) => LISTS.includes(name) && node.kind === "array");
  if (list === undefined) {
    const known = members.some(({ name }) => name === "structuredContent" || LISTS.includes(name));
    return only(known ? members : [{ kind: "other", name: "value", node: body }]);
  }
  const rest = members.filter((member) => member !== list);
  rest.sort((a, b) => Number(b.name === "structuredContent") - Number(a.name === "structuredContent"));
  return listItems(list.node.children, list.name, rest);
}

/** The bytes of a block; null if it has none. */
export function readLoad({ kind, node }: Block): Load | null {
  if (kind === "image" || kind === "audio") return loadIn(node, node, "data");
  if (kind === "entry") return loadIn(node, node, "blob") ?? whole(node, node.hole, "resource");
  const resource = kind === "resource" ? node.member("resource") : null;
  if (resource === null) return null;
  return whole(node, resource.hole, "resource") ?? loadIn(resource, resource, "blob");
}

/** The text of a block; null if it has none. */
export function readWords({ kind, node }: Block): JsonNode | null {
  const holder = kind === "resource" ? node.member("resource") : node;
  const words = kind === "text" || kind === "resource" || kind === "entry" ? holder?.member("text") : null;
  return words?.kind === "string" ? words : null;
}

function loadIn(holder: JsonNode, said: JsonNode, member: "data" | "blob"): Load | null {
  const value = holder.member(member);
  if (value?.kind !== "string") return null;
  const mimeType = said.saying("mimeType");
  // Bytes may stand in a `data:` URI, or among white space: the first hole is what the block is about.
  const hole = value.said.holes.at(0);
  if (hole !== undefined) return { hole, mimeType, inline: null, member };
  const characters = value.end - value.begin - 2;
  return { hole: null, mimeType, inline: Math.floor((characters * 3) / 4), member };
}

function whole(holder: JsonNode, hole: Hole | null, member: Load["member"]): Load | null {
  return hole === null ? null : { hole, mimeType: holder.saying("mimeType"), inline: null, member };
}

function listMembers(body: JsonNode): Block[] {
  return Array.from({ length: body.children.length }, (_, index) => ({
    kind: "member",
    name: body.children.key(index)?.text ?? "",
    node: body.children.at(index),
  }));
}

function listItems(items: JsonChildren, list: string, rest: readonly Block[]): Blocks {
  return {
    length: items.length + rest.length,
    at(index) {
      const behind = index < items.length ? undefined : rest.at(index - items.length);
      if (behind !== undefined) return behind;
      const node = items.at(index);
      return { kind: list === "contents" ? "entry" : findKind(node), name: `${list} ${index}`, node };
    },
  };
}

function only(blocks: readonly Block[]): Blocks {
  return listItems(new JsonNode({ text: "[]", holes: [] }, 0, 2).children, "", blocks);
}

function isContent(body: JsonNode): boolean {
  return body.children.length > 0 && findKind(body.children.at(0)) !== "other";
}

function findKind(node: JsonNode): BlockKind {
  const type = node.saying("type");
  const known = ["text", "image", "audio", "resource", "resource_link"] as const;
  return known.find((kind) => kind === type) ?? "other";
}

/** What a server sent, restored. */
export interface Rebuilt {
  /** Its text. */
  readonly sent: MarkedText;
  /** Its blocks. */
  readonly blocks: Blocks;
  /** Why only the reduced result is shown; null if all was restored. */
  readonly problem: string | null;
}

/** Blocks that are read in advance: those shown at once. */
const AHEAD = 50;

/** Restores what a server sent, or returns the reduced result with the reason. */
export function rebuilt(reduced: string, refs: string | undefined): Rebuilt {
  const { sent, problem } = rebuildSent(reduced, refs);
  return { sent, problem, blocks: listBlocks(sent) };
}

/** The same in parts, so that the page stays responsive; null if aborted. */
export async function readLarge(
  reduced: string,
  refs: string | undefined,
  signal: AbortSignal,
): Promise<Rebuilt | null> {
  if (!(await goesOn(signal))) return null;
  const { sent, problem } = rebuildSent(reduced, refs);
  if (!(await goesOn(signal))) return null;
  const blocks = listBlocks(sent);
  for (let index = 0; index < Math.min(blocks.length, AHEAD); index += 1) {
    const words = readWords(blocks.at(index));
    if (words === null || words.end - words.begin <= LARGE) continue;
    // Nodes keep what they were asked for.
    if (!(await goesOn(signal))) return null;
    if (words.said.text.length <= LARGE) continue;
    if (!(await goesOn(signal))) return null;
    findInner(words);
  }
  return (await goesOn(signal)) ? { sent, problem, blocks } : null;
}

async function goesOn(signal: AbortSignal): Promise<boolean> {
  await pause();
  return !signal.aborted;
}

function rebuildSent(reduced: string, refs: string | undefined): Omit<Rebuilt, "blocks"> {
  try {
    return { sent: restoreSentText(reduced, refs), problem: null };
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const problem = `The original result could not be restored, so the reduced one is shown. ${error.message}`;
    return { sent: { text: reduced, holes: [] }, problem };
  }
}
