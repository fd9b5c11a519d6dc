/**
 * Restores what a server sent from a reduced result and its list of edits. References stay as holes. The list comes from a document,
 * so it is checked.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import { JsonNode, sourcePlaces } from "./json-text.js";
import { type HoleKind, joinTexts, type MarkedText, readReference, SCHEME } from "./marked-text.js";

/** The key of the list in `_meta`. */
const LIST = "sluice/refs";

/**
 * The JSON text that a server sent, with holes. `reduced` is a result in the `mcp` dialect; `refs` is its list as JSON text, for
 * a result without `_meta`. Text that is not JSON is returned unchanged. Throws E_RESTORE_REFS if the list does not fit.
 */
export function restoreSentText(reduced: string, refs?: string): MarkedText {
  const plain: MarkedText = { text: reduced, holes: [] };
  const root = JsonNode.of(plain);
  if (root === null) return plain;
  const body = findBody(root);
  const meta = body.member("_meta");
  const own = meta?.member(LIST) ?? null;
  const list = own ?? (refs === undefined ? null : JsonNode.of({ text: refs, holes: [] }));
  if (list === null) return plain;
  const cutter = new Restorer(body);
  cutter.undo(readEdits(list));
  if (meta !== null && own !== null) cutter.takeListOut(meta, own);
  return cutter.finish(0, reduced.length);
}

/** The result, without a JSON-RPC envelope. */
export function findBody(root: JsonNode): JsonNode {
  const result = root.member("result");
  return root.member("jsonrpc") !== null && result !== null ? result : root;
}

/** Entries of a list. */
const MOST = 0x20000;

/** One entry: a reference, an addition, or a replacement. */
interface Edit {
  /** A JSON pointer into the reduced result. */
  readonly at: string;
  /** The reference; empty for other entries. */
  readonly uri: string;
  /** The number of `artifact://` before it in the string. */
  readonly n: number;
  /** What stood there. */
  readonly kind: HoleKind;
  /** Whether it is in the member's key. */
  readonly key: boolean;
  /** Quotes that were added on both sides. */
  readonly wrap: string;
  /** The value was added. */
  readonly added: boolean;
  /** The replaced value, for a replacement. */
  readonly was: JsonNode | null;
  /** The list of the replaced value. */
  readonly refs: JsonNode | null;
}

/** Parses a list. Throws E_RESTORE_REFS with the path of the fault. */
function readEdits(list: JsonNode): Edit[] {
  if (list.kind !== "array") throw misfit("", "The list of references is not an array.");
  if (list.children.length > MOST) throw misfit("", "The list of references is too long.");
  return Array.from({ length: list.children.length }, (_, index) => readEdit(list.children.at(index)));
}

/** The error of a list that does not fit its document. */
function misfit(path: string, message: string): SluiceError {
  return new SluiceError(
    "E_RESTORE_REFS",
    `${message} Pass the result to restore unchanged, exactly as Sluice returned it.`,
    {
      path: path.slice(0, 200),
    },
  );
}

function readEdit(entry: JsonNode): Edit {
  const kind = entry.saying("kind") ?? "run";
  const edit = {
    at: entry.saying("at") ?? "",
    uri: entry.saying("uri") ?? "",
    n: Number(entry.member("n")?.json ?? 0),
    key: entry.member("key")?.json === "true",
    wrap: entry.saying("wrap") ?? "",
    added: entry.member("added")?.json === "true",
    was: entry.member("was"),
    refs: entry.member("refs"),
  };
  const says = [edit.uri !== "", edit.added, edit.was !== null].filter(Boolean).length;
  const known = isKind(kind) && Number.isInteger(edit.n) && edit.n >= 0 && entry.member("at") !== null;
  if (!known || says !== 1) throw misfit(edit.at, "An entry of the list of references is malformed.");
  return { ...edit, kind };
}

function isKind(name: string): name is HoleKind {
  return name === "run" || name === "text" || name === "bytes" || name === "json";
}

/** A value that pointers lead to. */
interface Match<T> {
  /** The value. */
  readonly node: JsonNode;
  /** Its parent and index; null for the root. */
  readonly place: { readonly parent: JsonNode; readonly index: number } | null;
  /** The tags of the pointers to it. */
  readonly tags: readonly T[];
}

interface Step<T> {
  /** By name, then by place among members of that name; -1 is the last of them. */
  readonly next: Map<string, Map<number, Step<T>>>;
  readonly tags: T[];
}

const LAST = -1;

/** A tree of pointers (RFC 6901; `~d<n>` behind a name is the n-th of members of that name, without it the last is meant). */
class Pointers<T> {
  readonly #root: Step<T> = { next: new Map(), tags: [] };

  /** Adds a pointer; false when it is malformed. */
  add(pointer: string, tag: T): boolean {
    const [start, ...tokens] = pointer.split("/");
    if (start !== "") return false;
    let step = this.#root;
    for (const token of tokens) {
      const read = readToken(token);
      if (read === null) return false;
      const byPlace = findEntry(step.next, read.name, () => new Map<number, Step<T>>());
      step = findEntry(byPlace, read.duplicate, () => ({ next: new Map(), tags: [] }));
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
    const so = findEntry(seen, name, () => ({ count: 0, last: index }));
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

function findEntry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

/** Nesting of replaced values; the core writes one level. */
const MOST_NESTING = 4;

interface Cut extends MarkedText {
  readonly from: number;
  readonly to: number;
}

/** Undoes edits of one value. Values are identified by their start. */
class Restorer {
  readonly #root: JsonNode;
  readonly #depth: number;
  readonly #cuts: Cut[] = [];
  readonly #removed = new Set<number>();
  readonly #shrunk = new Map<number, JsonNode>();
  readonly #replaced = new Set<number>();

  constructor(root: JsonNode, depth = 0) {
    this.#root = root;
    this.#depth = depth;
  }

  /** Undoes edits. Throws E_RESTORE_REFS if one does not fit. */
  undo(edits: readonly Edit[]): void {
    const pointers = new Pointers<Edit>();
    for (const edit of edits) {
      if (!pointers.add(edit.at, edit)) throw misfit(edit.at, "A pointer is malformed.");
    }
    const lost = new Set(edits);
    for (const match of pointers.walk(this.#root)) {
      for (const edit of match.tags) lost.delete(edit);
      this.#undoAt(match);
    }
    for (const edit of lost) throw misfit(edit.at, "The result has nothing at this path.");
  }

  /** Removes the list itself from the root's `_meta`. */
  takeListOut(meta: JsonNode, list: JsonNode): void {
    if ([this.#root, meta, list].some((node) => this.#replaced.has(node.begin))) return;
    const added = this.#removed.has(meta.begin);
    if (added && meta.children.length === 1) return;
    // Keep what others added to `_meta` since.
    if (added) this.#removed.delete(meta.begin);
    this.#remove(meta, list);
  }

  /** The restored text of a range. Throws E_RESTORE_REFS. */
  finish(begin: number, end: number): MarkedText {
    this.#removeMembers();
    const { text } = this.#root.source;
    const parts: MarkedText[] = [];
    let at = begin;
    for (const cut of this.#cuts.sort((a, b) => a.from - b.from || a.to - b.to)) {
      if (cut.from < at) throw misfit("", "Two entries of the list of references have the same path.");
      parts.push({ text: text.slice(at, cut.from), holes: [] }, cut);
      at = cut.to;
    }
    parts.push({ text: text.slice(at, end), holes: [] });
    return joinTexts(parts);
  }

  #undoAt({ node, place, tags }: Match<Edit>): void {
    for (const edit of tags) {
      if (edit.was !== null) this.#replace(node, edit, edit.was);
      if (!edit.added) continue;
      if (place === null) throw misfit(edit.at, "Restoring would leave nothing.");
      this.#remove(place.parent, node);
    }
    const references = tags.filter(({ uri }) => uri !== "");
    const inKey = references.find(({ key }) => key);
    if (inKey !== undefined) {
      if (place?.parent.kind !== "object") throw misfit(inKey.at, "The result has no key at this path.");
      const [begin, end] = place.parent.children.keyPlace(place.index);
      this.#fill(begin, end, place.parent.children.key(place.index)?.text ?? "", references, true);
    }
    const inValue = references.find(({ key }) => !key);
    if (inValue === undefined) return;
    if (node.kind !== "string") throw misfit(inValue.at, "A reference is expected here, but this is not a string.");
    this.#fill(node.begin, node.end, node.said.text, references, false);
  }

  #fill(begin: number, end: number, said: string, all: readonly Edit[], key: boolean): void {
    const edits = all.filter((edit) => edit.key === key).sort((a, b) => a.n - b.n);
    const { text } = this.#root.source;
    let n = 0;
    let place = said.indexOf(SCHEME);
    const places: number[] = [];
    for (const { at, n: before, wrap, uri } of edits) {
      for (; n < before && place >= 0; n += 1) place = said.indexOf(SCHEME, place + SCHEME.length);
      const from = place - wrap.length;
      const fits = place >= 0 && from >= (places.at(-1) ?? 0) && said.startsWith(wrap + uri + wrap, from);
      if (!fits) throw misfit(at, "The reference in the list differs from the one in the result.");
      places.push(from, from + uri.length + wrap.length * 2);
    }
    const written = sourcePlaces(text, begin, places);
    edits.forEach((edit, index) => {
      const value = edit.kind === "json" || (edit.kind === "bytes" && edit.wrap === "");
      if (value && (edits.length > 1 || said !== edit.uri)) throw misfit(edit.at, "One value has two references.");
      const from = value ? begin : (written[index * 2] ?? begin);
      const to = value ? end : (written[index * 2 + 1] ?? end);
      this.#cuts.push({ from, to, ...hole(edit, text.slice(from, to)) });
    });
  }

  #replace(node: JsonNode, { at, refs }: Edit, was: JsonNode): void {
    if (this.#depth >= MOST_NESTING) throw misfit(at, "References are nested too deeply.");
    if (this.#replaced.has(node.begin)) throw misfit(at, "One path has two values.");
    this.#replaced.add(node.begin);
    const inner = new Restorer(was, this.#depth + 1);
    if (refs !== null) inner.undo(readEdits(refs));
    this.#cuts.push({ from: node.begin, to: node.end, ...inner.finish(was.begin, was.end) });
  }

  #remove(container: JsonNode, value: JsonNode): void {
    this.#shrunk.set(container.begin, container);
    this.#removed.add(value.begin);
  }

  // A removed value takes the comma before it, or the one after it if it is first.
  #removeMembers(): void {
    for (const { children } of this.#shrunk.values()) {
      let kept = false;
      let before = 0;
      for (let index = 0; index < children.length; index += 1) {
        const { begin, end } = children.at(index);
        if (!this.#removed.has(begin)) kept = true;
        else if (kept) this.#cuts.push({ from: before, to: end, text: "", holes: [] });
        else {
          const to = index + 1 < children.length ? children.keyPlace(index + 1)[0] : end;
          this.#cuts.push({ from: children.keyPlace(index)[0], to, text: "", holes: [] });
        }
        before = end;
      }
    }
  }
}

function hole({ at, uri, kind }: Edit, text: string): MarkedText {
  const reference = readReference(uri);
  if (reference === null) throw misfit(at, "An entry of the list of references does not name an artifact.");
  return { text, holes: [{ begin: 0, end: text.length, kind, ...reference }] };
}
