/**
 * JSON edited as text: a parser that tells offsets, and splices. What is not edited keeps its spelling: numbers of any
 * length, escapes, order and repetition of keys.
 * @module
 */
import { parse, type MemberNode, type ObjectNode, type ArrayNode, type ValueNode } from "@humanwhocodes/momoa";
import { SluiceError } from "../errors/error.js";

export type { ArrayNode, MemberNode, ObjectNode, StringNode, ValueNode } from "@humanwhocodes/momoa";

/** Deepest nesting that is read: the parser recurses, and so does what walks over its nodes. */
export const MAX_DEPTH = 200;

/** Most values in one text: each costs some 300 bytes of memory as a node. */
export const MAX_VALUES = 250_000;

/** One splice: at an offset of the text, in UTF-16 units as all offsets here, `remove` units give way to `insert`. */
export interface Edit {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

/** Where a value or a member stands: the offset of its first character, and the one behind its last. */
interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a JSON text. The nodes say where they stand, see {@link spanOf}.
 *
 * @throws SluiceError E_JSON_SYNTAX for what `JSON.parse` refuses, E_JSON_DEPTH beyond {@link MAX_DEPTH} levels,
 * E_TOO_LARGE beyond {@link MAX_VALUES} values.
 */
export function parseJson(text: string): ValueNode {
  checkBounds(text);
  try {
    // The offsets come from a parser that lets control characters in strings pass, so the engine's own judges.
    JSON.parse(text);
    return parse(text, { mode: "json" }).body;
  } catch {
    // Not as the cause: what engines and parsers say of a syntax error quotes the text.
    throw new SluiceError("E_JSON_SYNTAX", "This is no JSON text: check what the sender wrote.");
  }
}

/** Where a node stands in the text that was parsed. */
export function spanOf(node: ValueNode | MemberNode): TextSpan {
  return { start: node.loc.start.offset, end: node.loc.end.offset };
}

/** The source text of a node. */
export function sourceOf(text: string, node: ValueNode | MemberNode): string {
  return text.slice(node.loc.start.offset, node.loc.end.offset);
}

const membersByName = new WeakMap<ObjectNode, ReadonlyMap<string, MemberNode>>();

/** The members of an object by name; of a repeated name the last, as `JSON.parse` has it. */
export function membersOf(object: ObjectNode): ReadonlyMap<string, MemberNode> {
  let members = membersByName.get(object);
  if (members === undefined) {
    members = new Map(object.members.map((member) => [nameOf(member), member]));
    membersByName.set(object, members);
  }
  return members;
}

/** The name of a member, without quotes and escapes. */
export function nameOf({ name }: MemberNode): string {
  return name.type === "String" ? name.value : name.name;
}

/** The value of a member; undefined where the node is no object or has no such member. */
export function valueAt(node: ValueNode | undefined, name: string): ValueNode | undefined {
  return node?.type === "Object" ? membersOf(node).get(name)?.value : undefined;
}

/** Applies splices of one text, in any order. Throws E_MISUSE when two overlap or one is outside. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  const pieces: string[] = [];
  let from = 0;
  // Sorting is stable: what is inserted at one offset stays in the order given.
  for (const { at, remove, insert } of [...edits].sort((one, other) => one.at - other.at)) {
    if (at < from || at + remove > text.length) {
      throw new SluiceError("E_MISUSE", "Edits of one text must lie within it and must not overlap.");
    }
    pieces.push(text.slice(from, at), insert);
    from = at + remove;
  }
  return pieces.join("") + text.slice(from);
}

/** Writes something before a node, and something behind it. */
export function wrapEdits(node: ValueNode, before: string, behind: string): Edit[] {
  const { start, end } = spanOf(node);
  return [
    { at: start, remove: 0, insert: before },
    { at: end, remove: 0, insert: behind },
  ];
}

/** Writes something in place of a node. */
export function replaceEdit(node: ValueNode | MemberNode, insert: string): Edit {
  const { start, end } = spanOf(node);
  return { at: start, remove: end - start, insert };
}

/** Adds an element or a `"name":value` as the last one. */
export function appendEdit(container: ArrayNode | ObjectNode, insert: string): Edit {
  const last = container.type === "Array" ? container.elements.at(-1) : container.members.at(-1);
  const at = last === undefined ? container.loc.start.offset + 1 : last.loc.end.offset;
  return { at, remove: 0, insert: last === undefined ? insert : `,${insert}` };
}

/** Takes members out, each with one comma. All that go from one object go in one call: neighbours share commas. */
export function removeEdits(object: ObjectNode, goes: (name: string) => boolean): Edit[] {
  const edits: Edit[] = [];
  const { members } = object;
  // Up to here everything goes: then a member has no comma left before it, and takes the one behind.
  let leading = true;
  for (const [index, member] of members.entries()) {
    const { start, end } = spanOf(member);
    if (!goes(nameOf(member))) {
      leading = false;
      continue;
    }
    const next = members[index + 1];
    const before = members[index - 1];
    const from = leading || before === undefined ? start : spanOf(before).end;
    const to = leading && next !== undefined ? spanOf(next).start : end;
    edits.push({ at: from, remove: to - from, insert: "" });
  }
  return edits;
}

/** Counts levels and values without recursion. A text that is no JSON is found out by the parser. */
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

/** The offset of the quote that ends the string which begins at `from`; the text's length if none does. */
function closingQuote(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text.charCodeAt(first - 1) === 0x5c && first - 1 > from) first -= 1;
    if ((quote - first) % 2 === 0) return quote;
  }
  return text.length;
}
