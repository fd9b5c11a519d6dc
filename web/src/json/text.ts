/**
 * Edits JSON as text: a parser that reports offsets, and splices.
 *
 * Everything outside an edit keeps its spelling: numbers of any length, escapes, key order and duplicate keys.
 * @module
 */
import { parse, type MemberNode, type ObjectNode, type ArrayNode, type ValueNode } from "@humanwhocodes/momoa";
import { SluiceError } from "../errors/error.js";

export type { ArrayNode, MemberNode, ObjectNode, StringNode, ValueNode } from "@humanwhocodes/momoa";

/** Deepest nesting that is read. Both the parser and the functions that walk its nodes recurse. */
export const MAX_DEPTH = 200;

/** Most values in one text. Each costs about 300 bytes as a node. */
export const MAX_VALUES = 250_000;

/** One splice: replaces `remove` UTF-16 units at offset `at` by `insert`. All offsets in this file are UTF-16 units. */
export interface Edit {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

/** The range of a value or member: offset of its first character, and the offset after its last. */
interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a JSON text. See {@link findSpan} for the position of a node.
 *
 * @throws SluiceError E_JSON_SYNTAX for what `JSON.parse` refuses, E_JSON_DEPTH beyond {@link MAX_DEPTH} levels,
 * E_TOO_LARGE beyond {@link MAX_VALUES} values.
 */
export function parseJson(text: string): ValueNode {
  checkBounds(text);
  try {
    // momoa reports offsets but accepts control characters in strings, so `JSON.parse` validates.
    JSON.parse(text);
    return parse(text, { mode: "json" }).body;
  } catch {
    // Not passed as `cause`: syntax errors of engines and parsers quote the text.
    throw new SluiceError("E_JSON_SYNTAX", "This is not JSON text: check what the sender wrote.");
  }
}

/**
 * Where a text stops being JSON: `line 1, column 8`, and that it ends too early if it does. Never quotes the text. Empty if
 * the place is unknown.
 */
export function placeOfFault(text: string): string {
  try {
    parse(text, { mode: "json" });
    return "";
  } catch (error) {
    const { line, column, message } = error as Readonly<Record<string, unknown>>;
    if (typeof message === "string" && message.startsWith("Unexpected end of input")) {
      const lines = text.split("\n");
      const last = Array.from(lines.at(-1) ?? "").length + 1;
      return `line ${lines.length}, column ${last}: the document ends before it is complete`;
    }
    return typeof line === "number" && typeof column === "number" ? `line ${line}, column ${column}` : "";
  }
}

/** The range of a node in the parsed text. */
export function findSpan(node: ValueNode | MemberNode): TextSpan {
  return { start: node.loc.start.offset, end: node.loc.end.offset };
}

/** The source text of a node. */
export function sliceSource(text: string, node: ValueNode | MemberNode): string {
  return text.slice(node.loc.start.offset, node.loc.end.offset);
}

const membersByName = new WeakMap<ObjectNode, ReadonlyMap<string, MemberNode>>();

/** The members of an object by name. Of duplicate names the last one wins, as in `JSON.parse`. */
export function mapMembers(object: ObjectNode): ReadonlyMap<string, MemberNode> {
  let members = membersByName.get(object);
  if (members === undefined) {
    members = new Map(object.members.map((member) => [readName(member), member]));
    membersByName.set(object, members);
  }
  return members;
}

/** The name of a member, unquoted and unescaped. */
export function readName({ name }: MemberNode): string {
  return name.type === "String" ? name.value : name.name;
}

/** The value of a member. Undefined if the node is not an object or has no such member. */
export function valueAt(node: ValueNode | undefined, name: string): ValueNode | undefined {
  return node?.type === "Object" ? mapMembers(node).get(name)?.value : undefined;
}

/**
 * Applies splices to a text, in any order.
 *
 * @throws SluiceError E_MISUSE if two overlap or one is out of range.
 */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  const pieces: string[] = [];
  let from = 0;
  // The sort is stable: inserts at one offset stay in the given order.
  for (const { at, remove, insert } of [...edits].sort((one, other) => one.at - other.at)) {
    if (at < from || at + remove > text.length) {
      throw new SluiceError("E_MISUSE", "Edits must lie within the text and must not overlap.");
    }
    pieces.push(text.slice(from, at), insert);
    from = at + remove;
  }
  return pieces.join("") + text.slice(from);
}

/** Inserts text before and after a node. */
export function wrapEdits(node: ValueNode, before: string, behind: string): Edit[] {
  const { start, end } = findSpan(node);
  return [
    { at: start, remove: 0, insert: before },
    { at: end, remove: 0, insert: behind },
  ];
}

/** Replaces a node. */
export function replaceEdit(node: ValueNode | MemberNode, insert: string): Edit {
  const { start, end } = findSpan(node);
  return { at: start, remove: end - start, insert };
}

/** Appends an element or a `"name":value` member. */
export function appendEdit(container: ArrayNode | ObjectNode, insert: string): Edit {
  const last = container.type === "Array" ? container.elements.at(-1) : container.members.at(-1);
  const at = last === undefined ? container.loc.start.offset + 1 : last.loc.end.offset;
  return { at, remove: 0, insert: last === undefined ? insert : `,${insert}` };
}

/**
 * Removes members together with their commas. Pass all members to remove from one object in one call, because
 * neighbours share commas.
 */
export function removeEdits(object: ObjectNode, goes: (name: string) => boolean): Edit[] {
  const edits: Edit[] = [];
  const { members } = object;
  // Every member so far was removed: the next one has no comma before it and takes the comma after it.
  let leading = true;
  for (const [index, member] of members.entries()) {
    const { start, end } = findSpan(member);
    if (!goes(readName(member))) {
      leading = false;
      continue;
    }
    const next = members[index + 1];
    const before = members[index - 1];
    const from = leading || before === undefined ? start : findSpan(before).end;
    const to = leading && next !== undefined ? findSpan(next).start : end;
    edits.push({ at: from, remove: to - from, insert: "" });
  }
  return edits;
}

/** Counts levels and values without recursion. The parser finds syntax errors. */
function checkBounds(text: string): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = closingQuote(text, at);
        break;
      case 0x5b:
      case 0x7b:
        depth += 1;
        values += 1;
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
      case 0x2c:
        values += 1;
        break;
      default:
    }
    if (depth > MAX_DEPTH) {
      throw new SluiceError("E_JSON_DEPTH", `This JSON nests more than ${MAX_DEPTH} levels: flatten it.`);
    }
    if (values > MAX_VALUES) {
      throw new SluiceError("E_TOO_LARGE", `This JSON has more than ${MAX_VALUES} values: send less at once.`);
    }
  }
}

/** The offset of the quote that ends the string beginning at `from`, or the text's length. */
function closingQuote(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text.charCodeAt(first - 1) === 0x5c && first - 1 > from) first -= 1;
    if ((quote - first) % 2 === 0) return quote;
  }
  return text.length;
}
