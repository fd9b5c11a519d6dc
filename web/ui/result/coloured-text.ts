/**
 * The model's text as it is drawn: in sections, of which those in view are coloured. A long text stays a few nodes.
 * @module
 */
import type { ResultContext } from "./chips.js";
import type { Span } from "./counterparts.js";
import { type JsonToken, jsonTokens } from "./json-tokens.js";
import { readReference } from "./marked-text.js";
import { toSafeName } from "../plain-text.js";

/** Tokens of a section. */
const SECTION = 60;
/** Sections that stay coloured, out of view too. */
const MOST_COLOURED = 2;
/** Inline base64 that the model sees. */
const RUN = /(?<=")[A-Za-z0-9+/_-]{201,}={0,2}(?=\\*"|$)/g;

/** How a text is drawn. */
export interface TextLook {
  /** The result around it; without it references are plain text. */
  readonly context: ResultContext | undefined;
  /** Characters that fit a line. */
  readonly columns: number;
}

/** What the element around a text is asked and told. */
export interface TextHost {
  /** The scrolling element. */
  readonly area: HTMLElement;
  /** The element of the text. */
  readonly code: HTMLElement;
  /** Whether nodes may be replaced now. */
  readonly mayRedraw: () => boolean;
  /** Nodes have been replaced. */
  readonly redrawn: () => void;
}

/** A stretch of a text. */
interface Section extends Span {
  readonly tokens: readonly JsonToken[];
}

/** A text in an element. Built of nodes: a template for each token would need four times as many. */
export class ColouredText {
  readonly #host: TextHost;
  #text = "";
  #look: TextLook = { context: undefined, columns: 60 };
  #sections: readonly Section[] = [];
  #elements: readonly HTMLElement[] = [];
  readonly #inView = new Set<number>();
  /** The sections that are coloured, the last seen at the end. */
  readonly #coloured = new Set<number>();
  #observer: IntersectionObserver | undefined;
  #places: TextPlaces | undefined;

  constructor(host: TextHost) {
    this.#host = host;
  }

  /** Draws a text. One that continues the text before stays coloured where it was. */
  draw(text: string, look: TextLook): void {
    if (!text.startsWith(this.#text) || this.#text === "") this.#coloured.clear();
    this.#text = text;
    this.#look = look;
    this.#sections = divideText(text);
    for (let at = 0; this.#coloured.size < Math.min(MOST_COLOURED, this.#sections.length); at += 1)
      this.#coloured.add(at);
    this.#elements = this.#sections.map((_, at) => {
      const element = span("section", this.#parts(at));
      element.dataset["at"] = String(at);
      return element;
    });
    this.#host.code.replaceChildren(...this.#elements);
    this.watch();
    this.#redrawn();
  }

  /** Draws what is coloured again. */
  redraw(look: TextLook): void {
    this.#look = look;
    for (const at of this.#coloured) this.#fill(at);
    this.#redrawn();
  }

  /** Colours the section at an offset. */
  show(offset: number): void {
    const at = this.#sections.findIndex(({ end }) => end > offset);
    if (at !== -1) this.#colour([at]);
  }

  /** Begins to follow what is in view. */
  watch(): void {
    this.unwatch();
    this.#observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const at = Number((target as HTMLElement).dataset["at"]);
          if (isIntersecting) this.#inView.add(at);
          else this.#inView.delete(at);
        }
        if (this.#host.mayRedraw()) this.#colour([...this.#inView]);
      },
      { root: this.#host.area, rootMargin: "200px" },
    );
    for (const element of this.#elements) this.#observer.observe(element);
  }

  /** Stops it. */
  unwatch(): void {
    this.#observer?.disconnect();
    this.#observer = undefined;
    this.#inView.clear();
  }

  /** The ranges of spans. */
  ranges(spans: readonly Span[]): Range[] {
    return spans.flatMap((each) => (each.begin < this.#text.length ? (this.#textPlaces.range(each) ?? []) : []));
  }

  /** The text offset of a position in a node; null for other nodes. */
  offset(node: Node, within: number): number | null {
    return this.#textPlaces.offset(node, within);
  }

  get #textPlaces(): TextPlaces {
    return (this.#places ??= new TextPlaces(this.#host.code));
  }

  /** Colours sections, in the place of what was seen longest ago. */
  #colour(sections: readonly number[]): void {
    const before = new Set(this.#coloured);
    for (const at of sections) {
      this.#coloured.delete(at);
      this.#coloured.add(at);
    }
    for (const at of this.#coloured) {
      if (this.#coloured.size <= MOST_COLOURED) break;
      if (!this.#inView.has(at) && !sections.includes(at)) this.#coloured.delete(at);
    }
    const changed = [...before, ...this.#coloured].filter((at) => before.has(at) !== this.#coloured.has(at));
    for (const at of changed) this.#fill(at);
    if (changed.length > 0) this.#redrawn();
  }

  #fill(at: number): void {
    this.#elements[at]?.replaceChildren(...this.#parts(at));
  }

  #parts(at: number): Part[] {
    const section = this.#sections[at];
    if (section === undefined) return [];
    if (this.#coloured.has(at)) return colourSection(this.#text, section, this.#look);
    return shortenBase64(this.#text.slice(section.begin, section.end));
  }

  #redrawn(): void {
    this.#places = undefined;
    this.#host.redrawn();
  }
}

/** Whether a text looks like JSON. */
export function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

/** JSON text in sections, which end where a token does; other text is one. */
function divideText(text: string): readonly Section[] {
  const sections: Section[] = [];
  let tokens: JsonToken[] = [];
  let begin = 0;
  for (const token of isJson(text) ? jsonTokens(text) : []) {
    tokens.push(token);
    if (tokens.length < SECTION) continue;
    const end = behind(text, token.end);
    sections.push({ begin, end, tokens });
    tokens = [];
    begin = end;
  }
  if (begin < text.length || sections.length === 0) sections.push({ begin, end: text.length, tokens });
  return sections;
}

// A comma or a colon stays in the line of what it follows.
function behind(text: string, at: number): number {
  return /[,:]/.test(text.charAt(at)) ? at + 1 : at;
}

type Part = HTMLElement | string;

function span(name: string, parts: readonly Part[]): HTMLElement {
  const element = document.createElement("span");
  element.className = name;
  element.append(...parts.filter((part) => part !== ""));
  return element;
}

// Colours JSON, shows inline base64 shortened, and makes buttons of references.
function colourSection(text: string, { begin, end, tokens }: Section, { context, columns }: TextLook): Part[] {
  const all: Part[] = [];
  let at = begin;
  for (const token of tokens) {
    if (token.begin > at) all.push(text.slice(at, token.begin));
    at = behind(text, token.end);
    const part = tokenPart(token, text.slice(token.begin, token.end), context);
    const after = text.slice(token.end, at);
    // A line breaks between tokens and, only where one is longer than a line, within it.
    if (at - token.begin <= columns) all.push(span("whole", [part, after]));
    else all.push(part, after, document.createElement("wbr"));
  }
  all.push(...shortenBase64(text.slice(at, end)));
  return all.filter((part) => part !== "");
}

function tokenPart({ kind }: JsonToken, text: string, context: ResultContext | undefined): HTMLElement {
  const said = kind === "s" && text.length < 400 ? text.slice(1, -1) : "";
  const id = readReference(said)?.id ?? said;
  const artifact = id === "" ? undefined : context?.artifacts.get(id);
  if (artifact === undefined) return span(kind, kind === "s" ? shortenBase64(text) : [text]);
  const name = toSafeName(artifact.filename, "");
  const reference = span("ref", [text]);
  reference.role = "button";
  reference.tabIndex = 0;
  reference.title = `Preview: ${name || id}`;
  Object.assign(reference.dataset, { id, name });
  return reference;
}

function shortenBase64(text: string): Part[] {
  const all: Part[] = [];
  let at = 0;
  for (const { 0: run, index } of text.matchAll(RUN)) {
    all.push(text.slice(at, index), span("run", [run]));
    at = index + run.length;
  }
  all.push(text.slice(at));
  return all.filter((part) => part !== "");
}

/** The text nodes of an element and their offsets. */
class TextPlaces {
  readonly #nodes: Text[] = [];
  readonly #starts: number[] = [];
  #length = 0;

  constructor(root: Node) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode() !== null) {
      const node = walker.currentNode as Text;
      this.#nodes.push(node);
      this.#starts.push(this.#length);
      this.#length += node.length;
    }
  }

  /** The range of a span; null if there is no text. */
  range({ begin, end }: Span): Range | null {
    const from = this.#place(Math.min(begin, this.#length));
    const to = this.#place(Math.min(end, this.#length));
    if (from === null || to === null) return null;
    const range = document.createRange();
    range.setStart(...from);
    range.setEnd(...to);
    return range;
  }

  /** The text offset of a position in a node; null for other nodes. */
  offset(node: Node, within: number): number | null {
    const index = this.#nodes.indexOf(node as Text);
    return index < 0 ? null : (this.#starts[index] ?? 0) + within;
  }

  #place(at: number): [Text, number] | null {
    let index = this.#starts.findIndex((start, place) => start + (this.#nodes[place]?.length ?? 0) >= at);
    if (index < 0) index = this.#nodes.length - 1;
    const node = this.#nodes.at(index);
    return node === undefined ? null : [node, at - (this.#starts[index] ?? 0)];
  }
}
