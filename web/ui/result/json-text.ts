/**
 * The values of a JSON text and where they are. Nothing is parsed into objects: numbers of any length, the order of keys and duplicate
 * keys are kept, and time is linear for any input, also for invalid JSON.
 * @module
 */
import { type Hole, holesWithin, type MarkedText } from "./marked-text.js";

const QUOTE = 34;
const BACKSLASH = 92;
/** Shorter containers are scanned again when needed. */
const LONG = 1_000;
/** Ends of deeper containers are not noted. */
const MOST_NOTED = 64;
const SCALAR = /[^\s,:[\]{}"]+/y;

/** The position after white space. */
export function skipSpace(text: string, at: number): number {
  let place = at;
  for (;;) {
    const unit = text.charCodeAt(place);
    if (unit !== 32 && unit !== 10 && unit !== 13 && unit !== 9) return place;
    place += 1;
  }
}

/** The position after the string at `at`; -1 if it has no end. */
export function endOfString(text: string, at: number): number {
  let quote = at;
  for (;;) {
    quote = text.indexOf('"', quote + 1);
    if (quote < 0) return -1;
    let before = quote;
    while (before > at + 1 && text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
}

/** Ends of long containers by their start, so that a text is scanned once and not once per level. */
type Ends = Map<number, number>;

/** The position after the value at `at`; -1 if it is invalid. `ends` caches positions. */
function endOfValue(text: string, at: number, ends?: Ends): number {
  const first = text.charAt(at);
  if (first === '"') return endOfString(text, at);
  if (first === "{" || first === "[") return ends?.get(at) ?? endOfContainer(text, at, ends);
  SCALAR.lastIndex = at;
  return SCALAR.test(text) ? SCALAR.lastIndex : -1;
}

/** The value of a JSON string. Invalid escapes stay as they are. */
function decodeString(source: string): string {
  try {
    const value: unknown = JSON.parse(source);
    return typeof value === "string" ? value : source;
  } catch {
    return source.replace(/^"|"$/g, "");
  }
}

/** Places in what a string says, in order, as places in its source, which begins at `begin` of `text`. */
export function sourcePlaces(text: string, begin: number, places: readonly number[]): number[] {
  let at = begin + 1;
  let said = 0;
  return places.map((place) => {
    while (said < place && at < text.length) {
      const escape = text.charCodeAt(at) === BACKSLASH;
      at += escape ? (text.charAt(at + 1) === "u" ? 6 : 2) : 1;
      said += 1;
    }
    return at;
  });
}

function endOfContainer(text: string, at: number, ends?: Ends): number {
  const open: number[] = [];
  let depth = 0;
  for (let place = at; place < text.length; place += 1) {
    const unit = text.charCodeAt(place);
    if (unit === QUOTE) {
      place = endOfString(text, place) - 1;
      if (place < 0) return -1;
    } else if (unit === 123 || unit === 91) {
      if (depth < MOST_NOTED) open[depth] = place;
      depth += 1;
    } else if (unit === 125 || unit === 93) {
      depth -= 1;
      const begin = open[depth] ?? place;
      if (depth < MOST_NOTED && place - begin >= LONG) ends?.set(begin, place + 1);
      if (depth === 0) return place + 1;
    }
  }
  return -1;
}

/** What a value is. */
type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null";

/** Texts up to this length are checked with a parser, longer ones by their brackets. */
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

  /** The value of a whole text; null if it is not JSON. */
  static of(source: MarkedText): JsonNode | null {
    let root = this.#roots.get(source);
    if (root === undefined) this.#roots.set(source, (root = readRoot(source)));
    return root;
  }

  /** Its kind, by its first character. */
  get kind(): JsonKind {
    const first = this.source.text.charAt(this.begin);
    if (first === "{") return "object";
    if (first === "[") return "array";
    if (first === '"') return "string";
    if (first === "t" || first === "f") return "boolean";
    return first === "n" ? "null" : "number";
  }

  /** Its source. */
  get json(): string {
    return this.source.text.slice(this.begin, this.end);
  }

  /** The value of a string with its holes; otherwise the source. */
  get said(): MarkedText {
    this.#said ??=
      this.kind === "string" ? sliceText(this.source, this.begin, this.end) : { text: this.json, holes: [] };
    return this.#said;
  }

  /** The hole that replaces the whole value; null if there is none. */
  get hole(): Hole | null {
    if (this.kind !== "string") return null;
    const inside = holesWithin(this.source, this.begin, this.end);
    const hole = inside.at(0);
    if (hole === undefined || inside.length > 1) return null;
    return hole.begin <= this.begin + 1 && hole.end >= this.end - 1 ? hole : null;
  }

  /** Its members or elements; none for a scalar. */
  get children(): JsonChildren {
    return (this.#children ??= new JsonChildren(this, this.#ends));
  }

  /** The last member of a name; null if there is none. */
  member(name: string): JsonNode | null {
    if (this.kind !== "object") return null;
    const written = JSON.stringify(name);
    for (let index = this.children.length - 1; index >= 0; index -= 1) {
      const key = this.children.keySource(index);
      if (key === written || (key.includes("\\") && decodeString(key) === name)) return this.children.at(index);
    }
    return null;
  }

  /** The value of a string member without holes; otherwise null. */
  saying(name: string): string | null {
    const value = this.member(name);
    if (value?.kind !== "string") return null;
    const { text, holes } = value.said;
    return holes.length === 0 ? text : null;
  }
}

/** The values in a container. Keeps only their positions. */
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

  /** The value at an index from 0. Throws if there is none. */
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
    return this.#keyed ? sliceText(this.#source, this.#place(index, 0), this.#place(index, 1)) : null;
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

function sliceText(source: MarkedText, begin: number, end: number): MarkedText {
  const inside = holesWithin(source, begin, end);
  const said = decodeString(source.text.slice(begin, end));
  if (inside.length === 0) return { text: said, holes: [] };
  let written = begin + 1;
  let length = 0;
  const holes = inside.map((hole) => {
    // A hole that stands for a whole value covers the quotes too.
    const from = Math.max(hole.begin, begin + 1);
    const to = Math.min(hole.end, end - 1);
    const start = length + decodeString(`"${source.text.slice(written, from)}"`).length;
    length = start + decodeString(`"${source.text.slice(from, to)}"`).length;
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
