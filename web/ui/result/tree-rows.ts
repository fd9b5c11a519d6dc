/**
 * The rows of a tree of JSON values: those that are open, found as they are opened.
 * @module
 */
import { JsonNode } from "./json-node.js";
import { holesWithin, type MarkedText } from "./marked-text.js";

/** Children that are shown at once. */
export const PAGE = 100;
/** Values that are open from the start, since something in them was taken out. */
const OPENED = 20;

/** One row. */
export interface Row {
  /** Indexes from the root, joined by `/`; the root's is empty. */
  readonly path: string;
  /** From 1. */
  readonly level: number;
  /** From 1, among its siblings. */
  readonly position: number;
  /** How many siblings there are, itself among them. */
  readonly siblings: number;
  /** Its key; an index in an array; null for the root. */
  readonly key: MarkedText | number | null;
  /** The value; what a string holds, when that is JSON. */
  readonly node: JsonNode;
  /** Whether the value is JSON in a string. */
  readonly nested: boolean;
  /** Whether its children are shown; null when it has none. */
  readonly open: boolean | null;
  /** Children that are left to show: this row asks for them. 0 for a row of a value. */
  readonly left: number;
  /** Keys and indexes from the root. */
  readonly keys: readonly string[];
}

interface Known {
  readonly node: JsonNode;
  readonly nested: boolean;
}

/** A tree, and what of it is open. */
export class TreeRows {
  readonly #root: JsonNode;
  readonly #known = new Map<string, Known>();
  readonly #open = new Map<string, number>();
  #opened = 0;

  constructor(root: JsonNode, open: boolean) {
    this.#root = root;
    if (open) this.#open.set("", PAGE);
  }

  /** Shows the children of a row, or hides them. */
  toggle(path: string, open: boolean): void {
    if (open) this.#open.set(path, this.#open.get(path) ?? PAGE);
    else this.#open.delete(path);
  }

  /** Shows the next children of a row. */
  showMore(path: string): void {
    this.#open.set(path, (this.#open.get(path) ?? 0) + PAGE);
  }

  /** The rows that are to be seen, in order. */
  rows(): Row[] {
    const rows: Row[] = [];
    const waiting: Row[] = [this.#row("", this.#root, null, [], 1, 1, 1)];
    for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
      rows.push(row);
      if (row.open === true && row.left === 0) waiting.push(...this.#childrenOf(row).toReversed());
    }
    return rows;
  }

  #childrenOf(row: Row): Row[] {
    const { children } = row.node;
    const shown = Math.min(children.length, this.#open.get(row.path) ?? 0);
    const rows: Row[] = [];
    for (let index = 0; index < shown; index += 1) {
      const path = row.path === "" ? String(index) : `${row.path}/${index}`;
      const key = children.key(index) ?? index;
      const keys = [...row.keys, typeof key === "number" ? String(key) : key.text];
      rows.push(this.#row(path, children.at(index), key, keys, row.level + 1, index + 1, children.length));
    }
    const left = children.length - shown;
    if (left > 0) {
      const more = { path: `${row.path}+`, position: shown + 1, siblings: children.length, level: row.level + 1 };
      rows.push({ ...row, ...more, key: null, open: null, left });
    }
    return rows;
  }

  #row(
    path: string,
    node: JsonNode,
    key: Row["key"],
    keys: readonly string[],
    level: number,
    position: number,
    siblings: number,
  ): Row {
    const known = this.#value(path, node);
    const open = known.node.children.length > 0 ? this.#open.has(path) : null;
    return { path, key, keys, level, position, siblings, ...known, open, left: 0 };
  }

  #openForHoles(path: string, { source, begin, end, children, hole }: JsonNode): void {
    if (this.#opened >= OPENED || hole !== null || children.length === 0) return;
    if (holesWithin(source, begin, end).length === 0) return;
    this.#opened += 1;
    if (!this.#open.has(path)) this.#open.set(path, PAGE);
  }

  #value(path: string, node: JsonNode): Known {
    let known = this.#known.get(path);
    if (known === undefined) {
      const inner = innerOf(node);
      known = { node: inner ?? node, nested: inner !== null };
      this.#known.set(path, known);
      this.#openForHoles(path, known.node);
    }
    return known;
  }
}

/** The object or array that a string holds as text; null when it holds none. */
export function innerOf(node: JsonNode): JsonNode | null {
  if (node.kind !== "string" || !/^"(?:\s|\\[nrt])*[[{]/.test(node.source.text.slice(node.begin, node.begin + 80)))
    return null;
  const inner = JsonNode.of(node.said);
  return inner !== null && (inner.kind === "object" || inner.kind === "array") ? inner : null;
}
