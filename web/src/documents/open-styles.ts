/**
 * Styles of OpenDocument texts and presentations: which words are hidden or raised, how lists count, where pages end.
 * @module
 */
import { BOXES, formatNumber, NUMBER_STYLES } from "./numbering.js";
import { readCount, type MarkupHandler } from "./xml.js";

/** Most styles that are known. */
const MAX_STYLES = 100_000;

/** Longest chain of styles that are based on one another. */
const MAX_CHAIN = 20;

const LEVELS = 10;

type Attributes = Readonly<Record<string, string>>;

interface OpenStyle {
  readonly parent: string | undefined;
  readonly list: string | undefined;
  /** The level of headings that it is for. */
  readonly heading: number | undefined;
  isHidden: boolean | undefined;
  isRaised: boolean | undefined;
  breaksBefore: boolean;
}

/** How one level of a list counts. */
interface ListLevel {
  /** `1`, `a`, `A`, `i`, `I`; empty for none. */
  readonly format: string;
  readonly prefix: string;
  readonly suffix: string;
  /** How many levels its number has. */
  readonly shown: number;
  readonly start: number;
  readonly bullet: string | undefined;
}

/** The styles of `styles.xml` and `content.xml`. Tell it the elements of both. */
export class OpenStyles implements MarkupHandler {
  readonly #styles = new Map<string, OpenStyle>();
  readonly #lists = new Map<string, ListLevel[]>();
  readonly #outline: ListLevel[] = [];
  readonly #hiddenPages = new Set<string>();
  #style: OpenStyle | undefined;
  #name = "";
  #levels: ListLevel[] | undefined;

  open(tag: string, attributes: Attributes): void {
    switch (tag) {
      case "style:style":
        this.#openStyle(attributes);
        break;
      case "style:text-properties":
        if (this.#style === undefined) break;
        if (attributes["text:display"] !== undefined) this.#style.isHidden = attributes["text:display"] === "none";
        if (attributes["style:text-position"] !== undefined)
          this.#style.isRaised = /^(?:super|[1-9])/.test(attributes["style:text-position"]);
        break;
      case "style:paragraph-properties":
        if (this.#style !== undefined && attributes["fo:break-before"] === "page") this.#style.breaksBefore = true;
        break;
      case "style:drawing-page-properties":
        if (attributes["presentation:visibility"] === "hidden" && this.#hiddenPages.size < MAX_STYLES)
          this.#hiddenPages.add(this.#name);
        break;
      case "text:list-style":
        this.#levels = [];
        if (this.#lists.size < MAX_STYLES) this.#lists.set(attributes["style:name"] ?? "", this.#levels);
        break;
      case "text:outline-style":
        this.#levels = this.#outline;
        break;
      case "text:list-level-style-number":
      case "text:list-level-style-bullet":
      case "text:list-level-style-image":
      case "text:outline-level-style":
        if (this.#levels !== undefined)
          this.#levels[readCount(attributes["text:level"], 1, LEVELS, 1) - 1] = readLevel(tag, attributes);
        break;
    }
  }

  close(tag: string): void {
    if (tag === "style:style") this.#style = undefined;
    else if (tag === "text:list-style" || tag === "text:outline-style") this.#levels = undefined;
  }

  #openStyle(attributes: Attributes): void {
    this.#name = attributes["style:name"] ?? "";
    this.#style = {
      parent: attributes["style:parent-style-name"],
      list: attributes["style:list-style-name"],
      // Programs that do not set a level use the names that all have.
      heading: Number(/^Heading_20_([1-9])$/.exec(this.#name)?.[1] ?? 0) || undefined,
      isHidden: undefined,
      isRaised: undefined,
      // Another kind of page begins with a page.
      breaksBefore: (attributes["style:master-page-name"] ?? "") !== "",
    };
    if (this.#styles.size < MAX_STYLES) this.#styles.set(this.#name, this.#style);
  }

  /** Whether what has this style is hidden. */
  isHidden(name: string | undefined): boolean {
    return this.#inherit(name, ({ isHidden }) => isHidden) ?? false;
  }

  /** Whether what has this style is written above the line. */
  isRaised(name: string | undefined): boolean {
    return this.#inherit(name, ({ isRaised }) => isRaised) ?? false;
  }

  /** The level of the headings that a style is for, from 1; 0 for other text. */
  findHeading(name: string | undefined): number {
    return this.#inherit(name, ({ heading }) => heading) ?? 0;
  }

  breaksBefore(name: string | undefined): boolean {
    return name !== undefined && this.#styles.get(name)?.breaksBefore === true;
  }

  isHiddenPage(name: string | undefined): boolean {
    return name !== undefined && this.#hiddenPages.has(name);
  }

  /** The style of lists that a style of paragraphs has, or undefined. */
  findList(name: string | undefined): string | undefined {
    return this.#inherit(name, ({ list }) => (list === "" ? undefined : list));
  }

  /** The number that a level of a list begins with. */
  startOf(list: string | undefined, level: number): number {
    return this.#lists.get(list ?? "")?.[level]?.start ?? 1;
  }

  /** What stands before an item of a list: its number, or `-`. `counts` says how far each level has counted. */
  writeMark(list: string | undefined, level: number, counts: readonly number[]): string {
    return writeLevel(this.#lists.get(list ?? "") ?? [], level, counts);
  }

  /** The number of a heading, or the empty string. `level` is from 0. */
  writeOutline(level: number, counts: readonly number[]): string {
    const mark = this.#outline[level] === undefined ? "" : writeLevel(this.#outline, level, counts);
    return mark === "-" ? "" : mark;
  }

  #inherit<T>(name: string | undefined, read: (style: OpenStyle) => T | undefined): T | undefined {
    let at = name;
    for (let step = 0; at !== undefined && step < MAX_CHAIN; step++) {
      const style = this.#styles.get(at);
      if (style === undefined) return undefined;
      const found = read(style);
      if (found !== undefined) return found;
      at = style.parent;
    }
    return undefined;
  }
}

function readLevel(tag: string, attributes: Attributes): ListLevel {
  const isNumber = tag === "text:list-level-style-number" || tag === "text:outline-level-style";
  return {
    format: attributes["style:num-format"] ?? "",
    prefix: (attributes["style:num-prefix"] ?? "").slice(0, 100),
    suffix: (attributes["style:num-suffix"] ?? "").slice(0, 100),
    shown: readCount(attributes["text:display-levels"], 1, LEVELS, 1),
    start: readCount(attributes["text:start-value"], 0, 1_000_000, 1),
    bullet: isNumber ? undefined : (attributes["text:bullet-char"] ?? "•"),
  };
}

function writeLevel(levels: readonly (ListLevel | undefined)[], at: number, counts: readonly number[]): string {
  const level = levels[at];
  if (level === undefined) return "-";
  if (level.bullet !== undefined) return BOXES.has(level.bullet) ? level.bullet : "-";
  if (level.format === "") return "";
  const numbers: string[] = [];
  for (let index = Math.max(0, at + 1 - level.shown); index <= at; index++) {
    const format = levels[index]?.format ?? "";
    if (format !== "") numbers.push(formatNumber(counts[index] ?? 1, NUMBER_STYLES.get(format) ?? "decimal", true));
  }
  return `${level.prefix}${numbers.join(".")}${level.suffix}`.trim();
}
