/**
 * Schemas wrapped into others in the text, and what that does to pointers.
 * @module
 */
import {
  appendEdit,
  nameOf,
  removeEdits,
  replaceEdit,
  sourceOf,
  spanOf,
  wrapEdits,
  type ArrayNode,
  type Edit,
  type ObjectNode,
  type ValueNode,
} from "../json-text.js";
import { ANNOTATIONS, isExtension } from "./keywords.js";
import { follow, type Reference } from "./references.js";

interface Wrap {
  readonly before: string;
  readonly behind: string;
  /** From what now stands in the node's place to the node. */
  readonly path: string;
}

/** Collects what is to be changed in one schema document. */
export class Moves {
  readonly #text: string;
  readonly #wraps = new Map<ValueNode, Wrap>();
  readonly #edits: Edit[] = [];
  readonly #root: ObjectNode;
  /** Members of the root that went into the first branch of a new `anyOf` there. */
  #moved: ReadonlySet<string> = new Set();
  /** Where what the root was stands. */
  #rootPath = "";

  constructor(text: string, root: ObjectNode) {
    this.#text = text;
    this.#root = root;
  }

  /** Puts a node into something, around what it was put into before. */
  wrap(node: ValueNode, before: string, behind: string, path: string): void {
    const inner = this.#wraps.get(node) ?? { before: "", behind: "", path: "" };
    this.#wraps.set(node, {
      before: before + inner.before,
      behind: inner.behind + behind,
      path: path + inner.path,
    });
  }

  /** Offers another schema beside one, and keeps in sight what is said about the position. */
  offer(schema: ValueNode, alternative: string): void {
    const members = schema.type === "Object" ? schema.members : [];
    const shown = members
      .filter((member) => ANNOTATIONS.has(nameOf(member)) || isExtension(nameOf(member)))
      .map((member) => `${sourceOf(this.#text, member)},`);
    // Somebody's own remarks also stay where they were: references may lead into them.
    if (schema.type === "Object") this.#edits.push(...removeEdits(schema, (name) => ANNOTATIONS.has(name)));
    this.wrap(schema, `{${shown.join("")}"anyOf":[`, `,${alternative}]}`, "/anyOf/0");
  }

  /** Makes the branches of a `oneOf` one branch, of which any may hold. */
  gather(branches: ArrayNode): void {
    const { start, end } = spanOf(branches);
    this.#edits.push({ at: start + 1, remove: 0, insert: '{"anyOf":[' }, { at: end - 1, remove: 0, insert: "]}" });
    this.wrap(branches, "", "", "/0/anyOf");
  }

  /** Adds a last element or member. */
  append(container: ArrayNode | ObjectNode, insert: string): void {
    this.#edits.push(appendEdit(container, insert));
  }

  /** Writes something in place of a scalar. */
  replace(node: ValueNode, insert: string): void {
    this.#edits.push(replaceEdit(node, insert));
  }

  /** Says which members of the root move into `#/anyOf/0`, and whether they are all that constrains. */
  moveFromRoot(names: ReadonlySet<string>, isAll: boolean): void {
    this.#moved = names;
    this.#rootPath = isAll && names.size > 0 ? "/anyOf/0" : "";
  }

  /** Where a reference points once everything has moved: its own text when that is where it pointed before. */
  relocated(reference: Reference): string {
    const { value } = reference.node;
    const target = follow(reference);
    if (target === undefined) return value;
    const isRoot = reference.base === this.#root;
    let pointer = isRoot && target.steps.length === 0 ? this.#rootPath : "";
    for (const [index, { part, name, node }] of target.steps.entries()) {
      if (isRoot && index === 0 && this.#moved.has(name)) pointer += "/anyOf/0";
      pointer += `/${part}${this.#wraps.get(node)?.path ?? ""}`;
    }
    const [document = ""] = value.split("#", 1);
    return pointer === "" ? value : `${document}#${pointer}`;
  }

  /** All changes as splices of the text. */
  edits(): Edit[] {
    const wraps = [...this.#wraps].flatMap(([node, { before, behind }]) => wrapEdits(node, before, behind));
    return [...wraps, ...this.#edits];
  }
}
