/**
 * Many JSON pointers followed in one walk.
 * @module
 */
import type { JsonNode } from "./json-node.js";

/** A value that pointers lead to. */
export interface Match<T> {
  /** The value. */
  readonly node: JsonNode;
  /** What it stands in, and as which of its children; null for the root. */
  readonly place: { readonly parent: JsonNode; readonly index: number } | null;
  /** What the pointers to it were added with. */
  readonly tags: readonly T[];
}

interface Step<T> {
  /** By name, then by place among members of that name; -1 is the last of them. */
  readonly next: Map<string, Map<number, Step<T>>>;
  readonly tags: T[];
}

const LAST = -1;

/** A tree of pointers (RFC 6901; `~d<n>` behind a name is the n-th of members of that name, without it the last is meant). */
export class Pointers<T> {
  readonly #root: Step<T> = { next: new Map(), tags: [] };

  /** Adds a pointer; false when it is malformed. */
  add(pointer: string, tag: T): boolean {
    const [start, ...tokens] = pointer.split("/");
    if (start !== "") return false;
    let step = this.#root;
    for (const token of tokens) {
      const read = readToken(token);
      if (read === null) return false;
      const byPlace = kept(step.next, read.name, () => new Map<number, Step<T>>());
      step = kept(byPlace, read.duplicate, () => ({ next: new Map(), tags: [] }));
    }
    step.tags.push(tag);
    return true;
  }

  /** The values below a root that pointers lead to. */
  *walk(root: JsonNode): Generator<Match<T>> {
    const open: { step: Step<T>; node: JsonNode; place: Match<T>["place"] }[] = [
      { step: this.#root, node: root, place: null },
    ];
    for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
      const { step, node, place } = visit;
      if (step.tags.length > 0) yield { node, place, tags: step.tags };
      if (step.next.size === 0) continue;
      for (const [index, next] of node.kind === "array" ? elements(step, node) : members(step, node)) {
        open.push({ step: next, node: node.children.at(index), place: { parent: node, index } });
      }
    }
  }
}

function* elements<T>(step: Step<T>, node: JsonNode): Generator<[number, Step<T>]> {
  for (const [name, byPlace] of step.next) {
    const next = byPlace.get(LAST);
    const index = /^(?:0|[1-9]\d{0,8})$/.test(name) ? Number(name) : Infinity;
    if (next !== undefined && index < node.children.length) yield [index, next];
  }
}

function* members<T>(step: Step<T>, node: JsonNode): Generator<[number, Step<T>]> {
  if (node.kind !== "object") return;
  const seen = new Map<string, { count: number; last: number }>();
  for (let index = 0; index < node.children.length; index += 1) {
    const name = node.children.key(index)?.text ?? "";
    const byPlace = step.next.get(name);
    if (byPlace === undefined) continue;
    const so = kept(seen, name, () => ({ count: 0, last: index }));
    so.last = index;
    const next = byPlace.get(so.count);
    so.count += 1;
    if (next !== undefined) yield [index, next];
  }
  for (const [name, { last }] of seen) {
    const next = step.next.get(name)?.get(LAST);
    if (next !== undefined) yield [last, next];
  }
}

function readToken(token: string): { name: string; duplicate: number } | null {
  const match = /^((?:[^~]|~[01])*)(?:~d(\d{1,8}))?$/s.exec(token);
  if (match === null) return null;
  const name = match.at(1) ?? "";
  const digits = match.at(2);
  const plain = name.replaceAll("~1", "/").replaceAll("~0", "~");
  return { name: plain, duplicate: digits === undefined ? LAST : Number(digits) };
}

function kept<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
