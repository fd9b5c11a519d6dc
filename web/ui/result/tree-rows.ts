/**
 * The visible rows of a JSON tree, and how keys move through them.
 * @module
 */
import { JsonNode } from "./json-text.js";
import { holesWithin, type MarkedText } from "./marked-text.js";

/** Children shown at once. */
export const PAGE = 100;
/** Values that start open because something in them was stored. */
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
  /** The value, or the JSON inside a string. */
  readonly node: JsonNode;
  /** Whether the value is JSON in a string. */
  readonly nested: boolean;
  /** Whether its children are shown; null when it has none. */
  readonly open: boolean | null;
  /** For a "more" row, the number of hidden children; otherwise 0. */
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

  /** The visible rows, in order. */
  rows(): Row[] {
    const rows: Row[] = [];
    const waiting: Row[] = [this.#row("", this.#root, null, [], 1, 1, 1)];
    for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
      rows.push(row);
      if (row.open === true && row.left === 0) waiting.push(...this.#listChildren(row).toReversed());
    }
    return rows;
  }

  #listChildren(row: Row): Row[] {
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
      const inner = findInner(node);
      known = { node: inner ?? node, nested: inner !== null };
      this.#known.set(path, known);
      this.#openForHoles(path, known.node);
    }
    return known;
  }
}

/** The object or array inside a string; null if there is none. */
export function findInner(node: JsonNode): JsonNode | null {
  if (node.kind !== "string" || !/^"(?:\s|\\[nrt])*[[{]/.test(node.source.text.slice(node.begin, node.begin + 80)))
    return null;
  const inner = JsonNode.of(node.said);
  return inner !== null && (inner.kind === "object" || inner.kind === "array") ? inner : null;
}

/** A move of the focus, or a row to open or close. */
type Move = { readonly to: string } | { readonly row: Row; readonly open: boolean };

/** The effect of a key at a row; null for none. */
export function moveIn(rows: readonly Row[], current: string, key: string): Move | null {
  const index = rows.findIndex(({ path }) => path === current);
  const row = index < 0 ? undefined : rows.at(index);
  if (row === undefined) return null;
  const to = (place: number): Move => ({ to: rows[Math.max(0, Math.min(place, rows.length - 1))]?.path ?? current });
  switch (key) {
    case "ArrowDown":
      return to(index + 1);
    case "ArrowUp":
      return to(index - 1);
    case "Home":
      return to(0);
    case "End":
      return to(rows.length - 1);
    case "ArrowRight":
      if (row.open === true) return to(index + 1);
      return row.open === false ? { row, open: true } : null;
    case "ArrowLeft":
      return row.open === true ? { row, open: false } : to(findParent(rows, index));
    case "Enter":
    case " ":
      return row.left > 0 || row.open !== null ? { row, open: row.open !== true } : null;
    default:
      return null;
  }
}

function findParent(rows: readonly Row[], index: number): number {
  const level = rows[index]?.level ?? 1;
  for (let at = index - 1; at >= 0; at -= 1) {
    if ((rows[at]?.level ?? 1) < level) return at;
  }
  return index;
}
