/**
 * A JSON document that is edited: what is not changed keeps its spelling, what is added follows its neighbours' layout.
 * @module
 */
import { countNoun } from "../../core/amounts.js";
import { SluiceError } from "../../errors/error.js";
import { joinPointer } from "../../json/pointer.js";
import { MAX_DEPTH, readName, parseJson, findSpan, type MemberNode, type ValueNode } from "../../json/text.js";
import { quote } from "../artifact-reader/definition.js";
import { lineStartIn, unitBetween, writeJson, type Layout } from "./json-layout.js";

/** Deepest nesting that is written. */
const MAX_WRITTEN_DEPTH = 1000;

/** Most characters that copies of one document may add. */
const MAX_COPIED = 64 * 1024 * 1024;

/** A text that values are parts of. */
interface Source {
  readonly text: string;
  /** Whether a space follows its colons and commas within a line. */
  readonly isSpaced: boolean;
}

/** A value: a part of a source until it is opened, then a container with its items. */
interface Value {
  readonly source: Source;
  /** Undefined for the whole text of the source, which is parsed when it is opened. */
  readonly node: ValueNode | undefined;
  container: Container | undefined;
}

interface Container {
  readonly isArray: boolean;
  /** Removed members of objects stay, marked. */
  readonly items: Item[];
  /** Members of an object by name. Several where the text has duplicates. */
  readonly byName: Map<string, Item[]>;
  /** White space before the first item, after each comma as a rule, and before the closing bracket. */
  opening: string;
  separator: string;
  closing: string;
  /** Number of elements, or of different names. */
  count: number;
}

interface Item {
  /** White space before it, unless it is the first. */
  readonly before: string;
  /** The name as it is written, with the colon and the space around it. Empty in arrays. */
  readonly name: string;
  value: Value;
  /** White space between the value and the comma after it. */
  readonly after: string;
  isRemoved: boolean;
}

/** A place in the document: the container, and the token in it. Undefined for the document itself. */
interface Place {
  readonly parent: Value;
  readonly container: Container;
  readonly token: string;
  /** The tokens that lead to the container. */
  readonly path: readonly string[];
  /** Line starts of the containers that lead here, the innermost last. */
  readonly lineStarts: readonly string[];
}

/** A document in the making. All methods throw E_INVALID_ARGUMENT for a place that is not there, with the remedy. */
export class JsonDocument {
  readonly #before: string;
  readonly #after: string;
  readonly #tool: string;
  readonly #isSpaced: boolean;
  /** The line start of the whole document. */
  readonly #outerStart: string;
  #root: Value;
  #copied = 0;

  /**
   * `tool` is the name of the tool that reads, for remedies.
   *
   * @throws SluiceError E_JSON_SYNTAX, E_JSON_DEPTH, E_TOO_LARGE.
   */
  constructor(text: string, tool: string) {
    const node = parseJson(text);
    const { start, end } = findSpan(node);
    this.#before = text.slice(0, start);
    this.#after = text.slice(end);
    this.#tool = tool;
    this.#isSpaced = isSpacedIn(text, node);
    this.#outerStart = text.includes("\r\n") ? "\r\n" : "\n";
    this.#root = { source: { text, isSpaced: this.#isSpaced }, node, container: undefined };
  }

  /** The document as text. Throws E_JSON_DEPTH. */
  text(): string {
    const pieces: string[] = [this.#before];
    write(this.#root, pieces, 0);
    pieces.push(this.#after);
    return pieces.join("");
  }

  /** Number of elements of the document. Undefined if it is not an array. */
  get length(): number | undefined {
    const container = open(this.#root);
    return container?.isArray === true ? container.count : undefined;
  }

  /** Whether a value is an array. */
  isArray(path: readonly string[]): boolean {
    return open(this.#valueAt(path))?.isArray === true;
  }

  /** Adds a value, or replaces the member of that name (RFC 6902 §4.1). */
  add(path: readonly string[], value: unknown): void {
    this.#insert(path, (layout) => newValue(value, layout));
  }

  /** Replaces a value (§4.3). */
  replace(path: readonly string[], value: unknown): void {
    const place = this.#findPlace(path);
    if (place === undefined) this.#root = newValue(value, this.#rootLayout());
    else this.#set(place, this.#itemAt(place), (layout) => newValue(value, layout));
  }

  /** Removes a value (§4.2). */
  remove(path: readonly string[]): void {
    this.#take(path);
  }

  /** Moves a value, as it is written (§4.4). */
  move(from: readonly string[], path: readonly string[]): void {
    const isInside = path.length > from.length && from.every((token, at) => token === path[at]);
    if (isInside) throw wrong(`${name(from)} cannot be moved into itself`, "copy it, or choose another path");
    if (from.length === path.length && from.every((token, at) => token === path[at])) {
      this.#valueAt(from);
      return;
    }
    const value = this.#take(from);
    this.#insert(path, () => value);
  }

  /** Copies a value, as it is written (§4.5). */
  copy(from: readonly string[], path: readonly string[]): void {
    const text = writeValue(this.#valueAt(from));
    this.#copied += text.length;
    if (this.#copied > MAX_COPIED) throw new SluiceError("E_TOO_LARGE", "The copies add more than 64 MiB: copy less");
    this.#insert(path, () => wholeValue(text, this.#isSpaced));
  }

  /** Whether a value equals another one (§4.6). */
  equals(path: readonly string[], value: unknown): boolean {
    return isEqual(this.#valueAt(path), value);
  }

  #valueAt(path: readonly string[]): Value {
    const place = this.#findPlace(path);
    return place === undefined ? this.#root : this.#itemAt(place).value;
  }

  #findPlace(path: readonly string[]): Place | undefined {
    let place: Place | undefined;
    let value = this.#root;
    const lineStarts: string[] = [];
    for (const [at, token] of path.entries()) {
      const leading = path.slice(0, at);
      if (place !== undefined) value = this.#itemAt(place).value;
      const container = open(value);
      if (container === undefined) throw this.#nowhere(value, leading, token);
      const start = container.count === 0 ? undefined : lineStartIn(container.opening);
      if (start !== undefined) lineStarts.push(start);
      place = { parent: value, container, token, path: leading, lineStarts: [...lineStarts] };
    }
    return place;
  }

  #itemAt(place: Place): Item {
    const { parent, container, token, path } = place;
    const item = container.isArray ? container.items[parseIndex(token)] : container.byName.get(token)?.at(-1);
    if (item === undefined || item.isRemoved) throw this.#nowhere(parent, path, token);
    return item;
  }

  /** Detaches a value. All members of a name go: those before the last one would show otherwise. */
  #take(path: readonly string[]): Value {
    const place = this.#findPlace(path);
    if (place === undefined) throw wrong("The whole document cannot be removed", 'replace "" by another value');
    const { container, token } = place;
    const { value } = this.#itemAt(place);
    container.count -= 1;
    if (container.isArray) container.items.splice(parseIndex(token), 1);
    else for (const item of container.byName.get(token) ?? []) item.isRemoved = true;
    return value;
  }

  #insert(path: readonly string[], make: (layout: Layout) => Value): void {
    const place = this.#findPlace(path);
    if (place === undefined) {
      this.#root = make(this.#rootLayout());
      return;
    }
    const { container, token } = place;
    const present = container.isArray ? undefined : lastPresent(container.byName.get(token) ?? []);
    if (present === undefined) this.#insertItem(place, make);
    else this.#set(place, present, make);
  }

  /** Gives an item another value, laid out as the old one. */
  #set(place: Place, item: Item, make: (layout: Layout) => Value): void {
    const lineStart = lineStartIn(place.container.opening) ?? place.lineStarts.at(-1) ?? this.#outerStart;
    const unit = isSplit(item.value) ? this.#unit(place.lineStarts) : "";
    item.value = make({ lineStart, unit, isSpaced: this.#isSpaced });
  }

  #insertItem(place: Place, make: (layout: Layout) => Value): void {
    const { container, token, parent, path, lineStarts } = place;
    const { items, isArray } = container;
    const index = isArray && token !== "-" ? parseIndex(token) : items.length;
    if (!(index <= items.length)) throw this.#nowhere(parent, path, token);
    if (container.count === 0) this.#layOut(place);
    const neighbour = isArray ? (items[index - 1] ?? items[index]) : lastPresent(items);
    const start = lineStartIn(container.opening);
    const isMany =
      neighbour !== undefined && isContainer(neighbour.value) ? isSplit(neighbour.value) : start !== undefined;
    const unit = isMany ? this.#unit(start === undefined ? lineStarts : startsWith(lineStarts, start)) : "";
    const lineStart = start ?? lineStarts.at(-1) ?? this.#outerStart;
    const value = make({ lineStart, unit, isSpaced: this.#isSpaced });
    const isColonSpaced = this.#isSpaced || start !== undefined;
    const colon = /\s*:\s*$/.exec(neighbour?.name ?? "")?.[0] ?? (isColonSpaced ? ": " : ":");
    const named = isArray ? "" : JSON.stringify(token) + colon;
    const item: Item = { before: container.separator, name: named, value, after: "", isRemoved: false };
    items.splice(index, 0, item);
    container.count += 1;
    if (!isArray) container.byName.set(token, [item]);
  }

  /** Lays out an empty container for its first item: on lines of its own where the document is indented. */
  #layOut({ container, lineStarts }: Place): void {
    const outer = lineStarts.at(-1) ?? (this.#isIndented() ? this.#outerStart : undefined);
    container.opening = outer === undefined ? "" : outer + this.#unit(lineStarts);
    container.closing = outer ?? "";
    container.separator = outer === undefined ? (this.#isSpaced ? " " : "") : container.opening;
  }

  #isIndented(): boolean {
    return open(this.#root)?.opening.includes("\n") === true;
  }

  #unit(lineStarts: readonly string[]): string {
    return unitBetween(lineStarts.at(-2) ?? this.#outerStart, lineStarts.at(-1) ?? this.#outerStart);
  }

  #rootLayout(): Layout {
    const inner = lineStartIn(open(this.#root)?.opening ?? "");
    const unit = inner === undefined ? "" : unitBetween(this.#outerStart, inner);
    return { lineStart: this.#outerStart, unit, isSpaced: this.#isSpaced };
  }

  /** E_INVALID_ARGUMENT: where the path ends, and what is there. */
  #nowhere(value: Value, path: readonly string[], token: string): SluiceError {
    const container = open(value);
    let remedy = `read pointer ${quote(joinPointer(path))} with ${this.#tool}`;
    if (container?.isArray === true) {
      const to = joinPointer([...path, container.count - 1]);
      const range = container.count === 0 ? "it is empty" : `its elements are ${joinPointer([...path, 0])} to ${to}`;
      remedy = `${range}, and ${joinPointer([...path, "-"])} adds one`;
    } else if (container !== undefined) remedy += " for its keys";
    return wrong(`${name(path)} is ${nameKind(value)} and has no ${quote(token)}`, remedy);
  }
}

/** A pointer in quotes, for a sentence. */
function name(path: readonly string[]): string {
  return path.length === 0 ? "The document" : quote(joinPointer(path));
}

/** The sentence ends without a full stop: its operation is put before it. */
function wrong(what: string, remedy: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `${what}: ${remedy}`);
}

/** NaN if it is not an index: `-1`, `01`, `1e0`. */
function parseIndex(token: string): number {
  return /^(?:0|[1-9]\d{0,14})$/.test(token) ? Number(token) : Number.NaN;
}

/** The line starts that lead to a place, whose own is the last. */
function startsWith(lineStarts: readonly string[], own: string): readonly string[] {
  return lineStarts.at(-1) === own ? lineStarts : [...lineStarts, own];
}

function lastPresent(items: readonly Item[]): Item | undefined {
  return items.findLast(({ isRemoved }) => !isRemoved);
}

/** Whether a space follows the first colon, or the first comma within a line. */
function isSpacedIn(text: string, node: ValueNode): boolean {
  if (node.type === "Object") {
    const [member] = node.members;
    return member !== undefined && /:\s$/.test(text.slice(findSpan(member).start, findSpan(member.value).start));
  }
  if (node.type !== "Array") return false;
  const [first, second] = node.elements;
  if (first === undefined) return false;
  const between = second === undefined ? "" : text.slice(findSpan(first.value).end, findSpan(second.value).start);
  return between === ", " || isSpacedIn(text, first.value);
}

function newValue(value: unknown, layout: Layout): Value {
  try {
    return wholeValue(writeJson(value, layout), layout.isSpaced);
  } catch {
    throw new SluiceError("E_JSON_DEPTH", `The value nests more than ${MAX_DEPTH} levels: flatten it`);
  }
}

function wholeValue(text: string, isSpaced: boolean): Value {
  return { source: { text, isSpaced }, node: undefined, container: undefined };
}

/** The source text of a value, which is outdated once its container was changed. */
function sourceText({ source, node }: Value): string {
  if (node === undefined) return source.text;
  const { start, end } = findSpan(node);
  return source.text.slice(start, end);
}

function isContainer(value: Value): boolean {
  return value.container !== undefined || /^[[{]/.test(sourceText(value));
}

/** Whether a container has its items on lines of their own. */
function isSplit(value: Value): boolean {
  return value.container?.opening.includes("\n") ?? /^[[{][ \t\r]*\n/.test(sourceText(value));
}

/** Opens a container. Undefined for a scalar. */
function open(value: Value): Container | undefined {
  if (value.container === undefined && isContainer(value)) {
    value.container = toContainer(value.source, value.node ?? parseJson(value.source.text));
  }
  return value.container;
}

function toContainer(source: Source, node: ValueNode): Container | undefined {
  if (node.type !== "Object" && node.type !== "Array") return undefined;
  const { text } = source;
  const parts: readonly { readonly member?: MemberNode; readonly value: ValueNode }[] =
    node.type === "Array" ? node.elements : node.members.map((member) => ({ member, value: member.value }));
  const findStart = (at: number): number => {
    const part = parts[at];
    return part === undefined ? findSpan(node).end - 1 : findSpan(part.member ?? part.value).start;
  };
  const items: Item[] = [];
  const byName = new Map<string, Item[]>();
  const opening = text.slice(findSpan(node).start + 1, findStart(0));
  let separator = lineStartIn(opening) ?? (source.isSpaced ? " " : "");
  for (const [at, { member, value }] of parts.entries()) {
    const { start, end } = findSpan(value);
    const isLast = at === parts.length - 1;
    const comma = isLast ? end : text.indexOf(",", end);
    if (at === 0 && !isLast) separator = text.slice(comma + 1, findStart(1));
    const before =
      at === 0
        ? separator
        : text.slice(text.indexOf(",", findSpan(parts[at - 1]?.value ?? value).end) + 1, findStart(at));
    const item: Item = {
      before,
      name: text.slice(findStart(at), start),
      value: { source, node: value, container: undefined },
      after: text.slice(end, comma),
      isRemoved: false,
    };
    items.push(item);
    if (member === undefined) continue;
    const known = byName.get(readName(member));
    if (known === undefined) byName.set(readName(member), [item]);
    else known.push(item);
  }
  const last = parts.at(-1);
  const closing = last === undefined ? "" : text.slice(findSpan(last.value).end, findSpan(node).end - 1);
  const isArray = node.type === "Array";
  return { isArray, items, byName, opening, separator, closing, count: isArray ? items.length : byName.size };
}

/** The text of a value. Throws E_JSON_DEPTH. */
function writeValue(value: Value): string {
  const pieces: string[] = [];
  write(value, pieces, 0);
  return pieces.join("");
}

function write(value: Value, pieces: string[], depth: number): void {
  const { container } = value;
  // Empty brackets may have white space inside, and keep it while they are empty.
  if (container === undefined || (container.count === 0 && container.items.length === 0 && isEmptyText(value))) {
    pieces.push(sourceText(value));
    return;
  }
  if (depth > MAX_WRITTEN_DEPTH) {
    throw new SluiceError("E_JSON_DEPTH", `The result nests more than ${MAX_WRITTEN_DEPTH} levels: flatten it`);
  }
  const { isArray, items, opening, closing, count } = container;
  pieces.push(isArray ? "[" : "{");
  let isFirst = true;
  for (const { before, name: named, value: inner, after, isRemoved } of items) {
    if (isRemoved) continue;
    pieces.push(isFirst ? opening : `,${before}`, named);
    write(inner, pieces, depth + 1);
    pieces.push(after);
    isFirst = false;
  }
  pieces.push(count === 0 ? "" : closing, isArray ? "]" : "}");
}

function isEmptyText(value: Value): boolean {
  return /^[[{]\s*[\]}]$/.test(sourceText(value));
}

function nameKind(value: Value): string {
  const container = open(value);
  if (container !== undefined) {
    const { isArray, count } = container;
    return isArray ? `an array of ${countNoun(count, "element")}` : `an object of ${countNoun(count, "member")}`;
  }
  const text = sourceText(value);
  if (text.startsWith('"')) return "a string";
  return /^[-\d]/.test(text) ? "a number" : text;
}

/** Compares as RFC 6902 §4.6 does: numbers by value, objects without regard to order. Its time is bounded by `wanted`. */
function isEqual(value: Value, wanted: unknown): boolean {
  const container = open(value);
  if (container === undefined) return isEqualScalar(sourceText(value), wanted);
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted) !== container.isArray) return false;
  if (Array.isArray(wanted)) {
    return wanted.length === container.count && container.items.every((item, at) => isEqual(item.value, wanted[at]));
  }
  const members = Object.entries(wanted);
  return (
    members.length === container.count &&
    members.every(([key, each]) => {
      const item = lastPresent(container.byName.get(key) ?? []);
      return item !== undefined && isEqual(item.value, each);
    })
  );
}

function isEqualScalar(text: string, wanted: unknown): boolean {
  if (typeof wanted === "object" && wanted !== null) return false;
  // A character is one to six in JSON: long texts of another length are not even read.
  const most = typeof wanted === "string" ? 6 * wanted.length + 2 : 400;
  return text.length <= most && (JSON.parse(text) as unknown) === wanted;
}
