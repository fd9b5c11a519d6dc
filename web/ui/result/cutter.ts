/**
 * Cuts a reduced value where edits were made, and puts back what stood there; references stay, as holes.
 * @module
 */
import { misfit, readEdits, type Edit } from "./edits.js";
import { sourcePlaces } from "./json-scan.js";
import type { JsonNode } from "./json-node.js";
import { joined, readReference, SCHEME, type MarkedText } from "./marked-text.js";
import { Pointers, type Match } from "./pointers.js";

/** How deep what was replaced may stand inside another's; what the core writes needs one. */
const MOST_NESTING = 4;

interface Cut extends MarkedText {
  readonly from: number;
  readonly to: number;
}

/** One value and what becomes of it. Values are known by where they begin. */
export class Cutter {
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

  /** Undoes edits, of which each must find its place. Throws E_RESTORE_REFS. */
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
    for (const edit of lost) throw misfit(edit.at, "There is nothing at this place of the document.");
  }

  /** Takes our own list out of the root's `_meta`, where no edit has replaced it. */
  takeListOut(meta: JsonNode, list: JsonNode): void {
    if ([this.#root, meta, list].some((node) => this.#replaced.has(node.begin))) return;
    const added = this.#removed.has(meta.begin);
    if (added && meta.children.length === 1) return;
    // Somebody else has written into our `_meta` since: that stays.
    if (added) this.#removed.delete(meta.begin);
    this.#remove(meta, list);
  }

  /** The whole text that the value stands in, as it was. Throws E_RESTORE_REFS. */
  finish(begin: number, end: number): MarkedText {
    this.#removeMembers();
    const { text } = this.#root.source;
    const parts: MarkedText[] = [];
    let at = begin;
    for (const cut of this.#cuts.sort((a, b) => a.from - b.from || a.to - b.to)) {
      if (cut.from < at) throw misfit("", "Two entries of the list of references are about one place.");
      parts.push({ text: text.slice(at, cut.from), holes: [] }, cut);
      at = cut.to;
    }
    parts.push({ text: text.slice(at, end), holes: [] });
    return joined(parts);
  }

  #undoAt({ node, place, tags }: Match<Edit>): void {
    for (const edit of tags) {
      if (edit.was !== null) this.#replace(node, edit, edit.was);
      if (!edit.added) continue;
      if (place === null) throw misfit(edit.at, "Nothing would be left.");
      this.#remove(place.parent, node);
    }
    const references = tags.filter(({ uri }) => uri !== "");
    const inKey = references.find(({ key }) => key);
    if (inKey !== undefined) {
      if (place?.parent.kind !== "object") throw misfit(inKey.at, "There is no key at this place.");
      const [begin, end] = place.parent.children.keyPlace(place.index);
      this.#fill(begin, end, place.parent.children.key(place.index)?.text ?? "", references, true);
    }
    const inValue = references.find(({ key }) => !key);
    if (inValue === undefined) return;
    if (node.kind !== "string") throw misfit(inValue.at, "A reference should stand here, but it is no string.");
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
      if (!fits) throw misfit(at, "The reference in the list is not the one in the document.");
      places.push(from, from + uri.length + wrap.length * 2);
    }
    const written = sourcePlaces(text, begin, places);
    edits.forEach((edit, index) => {
      const value = edit.kind === "json" || (edit.kind === "bytes" && edit.wrap === "");
      if (value && (edits.length > 1 || said !== edit.uri)) throw misfit(edit.at, "Two references for one value.");
      const from = value ? begin : (written[index * 2] ?? begin);
      const to = value ? end : (written[index * 2 + 1] ?? end);
      this.#cuts.push({ from, to, ...hole(edit, text.slice(from, to)) });
    });
  }

  #replace(node: JsonNode, { at, refs }: Edit, was: JsonNode): void {
    if (this.#depth >= MOST_NESTING) throw misfit(at, "References are nested too deeply.");
    if (this.#replaced.has(node.begin)) throw misfit(at, "Two values for one place.");
    this.#replaced.add(node.begin);
    const inner = new Cutter(was, this.#depth + 1);
    if (refs !== null) inner.undo(readEdits(refs));
    this.#cuts.push({ from: node.begin, to: node.end, ...inner.finish(was.begin, was.end) });
  }

  #remove(container: JsonNode, value: JsonNode): void {
    this.#shrunk.set(container.begin, container);
    this.#removed.add(value.begin);
  }

  // A removed value goes with the comma before it, or behind it when nothing that stays is before it.
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
  if (reference === null) throw misfit(at, "An entry of the list of references names no artifact.");
  return { text, holes: [{ begin: 0, end: text.length, kind, ...reference }] };
}
