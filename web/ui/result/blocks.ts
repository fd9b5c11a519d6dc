/**
 * The blocks of what a server sent, in order.
 * @module
 */
import { JsonNode, type JsonChildren } from "./json-node.js";
import type { Hole, MarkedText } from "./marked-text.js";
import { bodyOf } from "./sent-tree.js";

/** What a block is: a content block by its type, an entry of `resources/read`, a member of the result, or all of it. */
export type BlockKind = "text" | "image" | "audio" | "resource" | "resource_link" | "entry" | "member" | "other";

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
  /** How many there are. */
  readonly length: number;
  /** The block of an index from 0; throws where there is none. */
  at(index: number): Block;
}

/** Bytes that a block carries: taken out, or still there because the model is shown them. */
export interface Load {
  /** What took their place; null when they are still there. */
  readonly hole: Hole | null;
  /** What the server calls their type. */
  readonly mimeType: string | null;
  /** How many bytes are still there; null when they were taken out. */
  readonly inline: number | null;
  /** The member that holds them. */
  readonly member: "data" | "blob" | "text" | "resource";
}

const LISTS = ["content", "contents"];

/** The blocks of what was sent: those of its content, then its other members; of what is no result, the value. */
export function blocksOf(sent: MarkedText): Blocks {
  const root = JsonNode.of(sent);
  if (root === null) return only([]);
  const body = bodyOf(root);
  if (body.kind === "array" && isContent(body)) return listed(body.children, "content", []);
  if (body.kind !== "object") return only([{ kind: "other", name: "value", node: body }]);
  const members = membersOf(body);
  const list = members.find(({ name, node }) => LISTS.includes(name) && node.kind === "array");
  if (list === undefined) {
    const known = members.some(({ name }) => name === "structuredContent" || LISTS.includes(name));
    return only(known ? members : [{ kind: "other", name: "value", node: body }]);
  }
  const rest = members.filter((member) => member !== list);
  rest.sort((a, b) => Number(b.name === "structuredContent") - Number(a.name === "structuredContent"));
  return listed(list.node.children, list.name, rest);
}

/** The bytes of a typed block or of an entry; null when it has none. */
export function loadOf({ kind, node }: Block): Load | null {
  if (kind === "image" || kind === "audio") return loadIn(node, node, "data");
  if (kind === "entry") return loadIn(node, node, "blob") ?? whole(node, node.hole, "resource");
  const resource = kind === "resource" ? node.member("resource") : null;
  if (resource === null) return null;
  return whole(node, resource.hole, "resource") ?? loadIn(resource, resource, "blob");
}

/** What a block says in words; null when it says nothing. */
export function wordsOf({ kind, node }: Block): JsonNode | null {
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

function membersOf(body: JsonNode): Block[] {
  return Array.from({ length: body.children.length }, (_, index) => ({
    kind: "member",
    name: body.children.key(index)?.text ?? "",
    node: body.children.at(index),
  }));
}

function listed(items: JsonChildren, list: string, rest: readonly Block[]): Blocks {
  return {
    length: items.length + rest.length,
    at(index) {
      const behind = index < items.length ? undefined : rest.at(index - items.length);
      if (behind !== undefined) return behind;
      const node = items.at(index);
      return { kind: list === "contents" ? "entry" : kindOf(node), name: `${list} ${index}`, node };
    },
  };
}

function only(blocks: readonly Block[]): Blocks {
  return listed(new JsonNode({ text: "[]", holes: [] }, 0, 2).children, "", blocks);
}

function isContent(body: JsonNode): boolean {
  return body.children.length > 0 && kindOf(body.children.at(0)) !== "other";
}

function kindOf(node: JsonNode): BlockKind {
  const type = node.saying("type");
  const known = ["text", "image", "audio", "resource", "resource_link"] as const;
  return known.find((kind) => kind === type) ?? "other";
}
