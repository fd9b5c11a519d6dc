/**
 * Values in JSON text, found when they are asked for.
 * @module
 */
import { decoded, endOfString, endOfValue, skipSpace, type Ends } from "./json-scan.js";
import { holesWithin, type Hole, type MarkedText } from "./marked-text.js";

/** What a value is. */
export type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null";

/** Texts up to this length are known to be JSON only if a parser takes them; longer ones by their brackets. */
const PARSED = 2_000_000;

/** One value in a text. */
export class JsonNode {
  static readonly #roots = new WeakMap<MarkedText, JsonNode | null>();
  readonly #ends: Ends;
  #children: JsonChildren | undefined;
  #said: MarkedText | undefined;

  constructor(
    /** The text that it stands in. */
    readonly source: MarkedText,
    /** Where it begins. */
    readonly begin: number,
    /** Where it ends. */
    readonly end: number,
    ends: Ends = new Map(),
  ) {
    this.#ends = ends;
  }

  /** The value that a whole text is; null when the text is no JSON. */
  static of(source: MarkedText): JsonNode | null {
    let root = this.#roots.get(source);
    if (root === undefined) this.#roots.set(source, (root = readRoot(source)));
    return root;
  }

  /** What it is, by its first character. */
  get kind(): JsonKind {
    const first = this.source.text.charAt(this.begin);
    if (first === "{") return "object";
    if (first === "[") return "array";
    if (first === '"') return "string";
    if (first === "t" || first === "f") return "boolean";
    return first === "n" ? "null" : "number";
  }

  /** As it is written. */
  get json(): string {
    return this.source.text.slice(this.begin, this.end);
  }

  /** What a string says, with its holes; else the source. */
  get said(): MarkedText {
    this.#said ??=
      this.kind === "string" ? saidBetween(this.source, this.begin, this.end) : { text: this.json, holes: [] };
    return this.#said;
  }

  /** The hole that took the whole value, be it a string or what a string stands for now; null when none did. */
  get hole(): Hole | null {
    if (this.kind !== "string") return null;
    const inside = holesWithin(this.source, this.begin, this.end);
    const hole = inside.at(0);
    if (hole === undefined || inside.length > 1) return null;
    return hole.begin <= this.begin + 1 && hole.end >= this.end - 1 ? hole : null;
  }

  /** Members or elements; none of what is no container. */
  get children(): JsonChildren {
    return (this.#children ??= new JsonChildren(this, this.#ends));
  }

  /** The last member of a name; null when there is none. */
  member(name: string): JsonNode | null {
    if (this.kind !== "object") return null;
    const written = JSON.stringify(name);
    for (let index = this.children.length - 1; index >= 0; index -= 1) {
      const key = this.children.keySource(index);
      if (key === written || (key.includes("\\") && decoded(key) === name)) return this.children.at(index);
    }
    return null;
  }

  /** What the member of a name says, if it is a string without holes. */
  saying(name: string): string | null {
    const value = this.member(name);
    if (value?.kind !== "string") return null;
    const { text, holes } = value.said;
    return holes.length === 0 ? text : null;
  }
}

/** The values in a container: their places, and nothing else is kept. */
export class JsonChildren {
  readonly #places: number[] = [];
  readonly #source: MarkedText;
  readonly #keyed: boolean;
  readonly #ends: Ends;
  readonly #nodes = new Map<number, JsonNode>();

  constructor(container: JsonNode, ends: Ends) {
    this.#ends = ends;
    this.#source = container.source;
    this.#keyed = container.kind === "object";
    if (this.#keyed || container.kind === "array") this.#find(container);
  }

  /** How many there are. */
  get length(): number {
    return this.#places.length / 4;
  }

  /** The value of an index from 0; throws where there is none. */
  at(index: number): JsonNode {
    let node = this.#nodes.get(index);
    if (node === undefined) {
      node = new JsonNode(this.#source, this.#place(index, 2), this.#place(index, 3), this.#ends);
      this.#nodes.set(index, node);
    }
    return node;
  }

  /** The key of a member as it is written; an empty text in an array. */
  keySource(index: number): string {
    return this.#source.text.slice(this.#place(index, 0), this.#place(index, 1));
  }

  /** The key of a member with its holes; null in an array. */
  key(index: number): MarkedText | null {
    return this.#keyed ? saidBetween(this.#source, this.#place(index, 0), this.#place(index, 1)) : null;
  }

  /** Where the key of a member begins and ends. */
  keyPlace(index: number): readonly [number, number] {
    return [this.#place(index, 0), this.#place(index, 1)];
  }

  #place(index: number, which: number): number {
    const place = this.#places.at(index * 4 + which);
    if (place === undefined) throw new RangeError(`There is no value ${index} in this container.`);
    return place;
  }

  #find(container: JsonNode): void {
    const { text } = this.#source;
    let at = skipSpace(text, container.begin + 1);
    while (at < container.end - 1) {
      const begin = at;
      let end = at;
      if (this.#keyed) {
        end = text.charAt(at) === '"' ? endOfString(text, at) : -1;
        if (end < 0) return;
        at = skipSpace(text, skipSpace(text, end) + 1);
      }
      const valueEnd = endOfValue(text, at, this.#ends);
      if (valueEnd < 0 || valueEnd > container.end) return;
      this.#places.push(begin, end, at, valueEnd);
      at = skipSpace(text, skipSpace(text, valueEnd) + 1);
    }
  }
}

function saidBetween(source: MarkedText, begin: number, end: number): MarkedText {
  const inside = holesWithin(source, begin, end);
  const said = decoded(source.text.slice(begin, end));
  if (inside.length === 0) return { text: said, holes: [] };
  let written = begin + 1;
  let length = 0;
  const holes = inside.map((hole) => {
    // A hole that stands for a whole value covers the quotes too.
    const from = Math.max(hole.begin, begin + 1);
    const to = Math.min(hole.end, end - 1);
    const start = length + decoded(`"${source.text.slice(written, from)}"`).length;
    length = start + decoded(`"${source.text.slice(from, to)}"`).length;
    written = to;
    return { ...hole, begin: start, end: length };
  });
  return { text: said, holes };
}

function readRoot(source: MarkedText): JsonNode | null {
  const { text } = source;
  const begin = skipSpace(text, 0);
  const ends: Ends = new Map();
  const end = endOfValue(text, begin, ends);
  if (end < 0 || skipSpace(text, end) !== text.length) return null;
  return text.length <= PARSED && !parses(text) ? null : new JsonNode(source, begin, end, ends);
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
