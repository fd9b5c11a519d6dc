/**
 * Numbers of lists and headings, as the programs show them: `1.`, `a)`, `4.2`.
 * @module
 */
import type { DocumentPackage } from "./package.js";
import { getAttribute, readCount, localName, readXml } from "./xml.js";

/** How a number is written. */
export type NumberStyle = "decimal" | "lower-letter" | "upper-letter" | "lower-roman" | "upper-roman";

/** Largest number that is written in letters or in Roman numerals. */
const MAX_LETTERED = 780;
const MAX_ROMAN = 3999;

const ROMAN: readonly (readonly [value: number, letters: string])[] = [
  [1000, "m"],
  [900, "cm"],
  [500, "d"],
  [400, "cd"],
  [100, "c"],
  [90, "xc"],
  [50, "l"],
  [40, "xl"],
  [10, "x"],
  [9, "ix"],
  [5, "v"],
  [4, "iv"],
  [1, "i"],
];

/**
 * Writes a number. Behind `z` come `aa`, `bb`, as in Word.
 *
 * @param counts whether `aa`, `ab` come there, as in HTML and OpenDocument.
 */
export function formatNumber(value: number, style: NumberStyle, counts = false): string {
  if (style.endsWith("letter") && value >= 1 && value <= MAX_LETTERED) {
    const text = counts ? countLetters(value) : letterAt(value).repeat(Math.ceil(value / 26));
    return style === "upper-letter" ? text.toUpperCase() : text;
  }
  if (style.endsWith("roman") && value >= 1 && value <= MAX_ROMAN) {
    let text = "";
    let left = value;
    for (const [step, letters] of ROMAN) for (; left >= step; left -= step) text += letters;
    return style === "upper-roman" ? text.toUpperCase() : text;
  }
  return String(value);
}

/** `a` for 1, 27, 53. */
function letterAt(value: number): string {
  return String.fromCharCode(97 + ((value - 1) % 26));
}

function countLetters(value: number): string {
  return value <= 26 ? letterAt(value) : countLetters(Math.floor((value - 1) / 26)) + letterAt(value);
}

/** Most lists that are known, and levels of one. */
const MAX_LISTS = 20_000;
const LEVELS = 9;

/** What the formats of Word are here (ECMA-376 part 1, 17.18.59); the others are numbers. */
const WORD_STYLES: ReadonlyMap<string, NumberStyle> = new Map([
  ["lowerLetter", "lower-letter"],
  ["upperLetter", "upper-letter"],
  ["lowerRoman", "lower-roman"],
  ["upperRoman", "upper-roman"],
]);

/** How numbers are written by the first of them, as HTML and OpenDocument name that. */
export const NUMBER_STYLES: ReadonlyMap<string, NumberStyle> = new Map([
  ["a", "lower-letter"],
  ["A", "upper-letter"],
  ["i", "lower-roman"],
  ["I", "upper-roman"],
]);

/** Bullets that say something: what is done, and what is not. */
export const BOXES: ReadonlySet<string> = new Set("☐☑☒✓✔✗✘");

interface Level {
  start: number;
  format: string;
  /** `%1.%2`, where `%1` is the number of the first level. */
  text: string;
  /** Whether the numbers of all levels are digits. */
  isLegal: boolean;
  /** Whether a level above begins it again. */
  restarts: boolean;
  /** The style whose paragraphs are of this level. */
  style: string | undefined;
}

interface Scheme {
  readonly levels: Level[];
  /** The style that it is made for, or whose scheme it takes. */
  link: string | undefined;
  takes: string | undefined;
  /** How far each level has counted. */
  readonly counters: (number | undefined)[];
}

interface WordList {
  scheme: string;
  /** Numbers that levels begin with in this list, until they have. */
  readonly starts: Map<number, number>;
  readonly levels: Map<number, Level>;
}

/** The lists of a document of Word. Ask it for each numbered paragraph, in order. */
export class WordNumbering {
  readonly #schemes = new Map<string, Scheme>();
  readonly #lists = new Map<string, WordList>();
  /** Schemes that styles are linked to, as they are asked for. */
  readonly #linked = new Map<string, Scheme>();

  /** Reads `numbering.xml`. Without a part, all lists have bullets. */
  static async read(source: DocumentPackage, part: string | undefined): Promise<WordNumbering> {
    const numbering = new WordNumbering();
    if (part !== undefined && source.has(part)) await numbering.#read(source.read(part));
    return numbering;
  }

  async #read(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    let scheme: Scheme | undefined;
    let list: WordList | undefined;
    let level: Level | undefined;
    let override = 0;
    await readXml(chunks, {
      open: (tag, attributes) => {
        const value = getAttribute(attributes, "val");
        switch (localName(tag)) {
          case "abstractNum":
            scheme = { levels: [], link: undefined, takes: undefined, counters: [] };
            if (this.#schemes.size < MAX_LISTS)
              this.#schemes.set(getAttribute(attributes, "abstractNumId") ?? "", scheme);
            break;
          case "num":
            list = { scheme: "", starts: new Map(), levels: new Map() };
            if (this.#lists.size < MAX_LISTS) this.#lists.set(getAttribute(attributes, "numId") ?? "", list);
            break;
          case "abstractNumId":
            if (list !== undefined) list.scheme = value ?? "";
            break;
          case "lvlOverride":
            override = readCount(getAttribute(attributes, "ilvl"), 0, LEVELS - 1, 0);
            break;
          case "startOverride":
            list?.starts.set(override, readCount(value, 0, 1_000_000, 1));
            break;
          case "lvl": {
            const at = readCount(getAttribute(attributes, "ilvl"), 0, LEVELS - 1, 0);
            level = makeLevel();
            if (list !== undefined) list.levels.set(at, level);
            else if (scheme !== undefined) scheme.levels[at] = level;
            break;
          }
          case "start":
            if (level !== undefined) level.start = readCount(value, 0, 1_000_000, 1);
            break;
          case "numFmt":
            if (level !== undefined) level.format = value ?? "decimal";
            break;
          case "lvlText":
            if (level !== undefined) level.text = (value ?? "").slice(0, 100);
            break;
          case "isLgl":
            if (level !== undefined) level.isLegal = value !== "0" && value !== "false";
            break;
          case "lvlRestart":
            if (level !== undefined) level.restarts = value !== "0";
            break;
          case "pStyle":
            if (level !== undefined) level.style = value;
            break;
          case "styleLink":
            if (scheme !== undefined) scheme.link = value;
            break;
          case "numStyleLink":
            if (scheme !== undefined) scheme.takes = value;
            break;
        }
      },
      close: (tag) => {
        const name = localName(tag);
        if (name === "lvl") level = undefined;
        else if (name === "abstractNum") scheme = undefined;
        else if (name === "num") list = undefined;
      },
    });
  }

  /** The level of a list whose paragraphs have this style; 0 if there is none. */
  levelOfStyle(listId: string, style: string): number {
    const levels = this.#scheme(this.#lists.get(listId))?.levels ?? [];
    return Math.max(
      0,
      levels.findIndex((level: Level | undefined) => level?.style === style),
    );
  }

  /**
   * Counts the next paragraph of a list, and gives what stands before it: `-` for a bullet and for a list that is not known, the empty
   * string for a level without a mark.
   */
  count(listId: string, at: number): string {
    const list = this.#lists.get(listId);
    const scheme = this.#scheme(list);
    if (list === undefined || scheme === undefined) return "-";
    const { counters } = scheme;
    const levelAt = (index: number): Level | undefined => list.levels.get(index) ?? scheme.levels[index];
    const level = levelAt(at);
    if (level === undefined) return "-";
    const start = list.starts.get(at);
    list.starts.delete(at);
    const before = counters[at];
    counters[at] = start ?? (before === undefined ? level.start : before + 1);
    for (let deeper = at + 1; deeper < LEVELS; deeper++)
      if (levelAt(deeper)?.restarts !== false) counters[deeper] = undefined;
    if (level.format === "bullet") return BOXES.has(level.text) ? level.text : "-";
    if (level.format === "none" && !/%[1-9]/.test(level.text)) return level.text.trim();
    return level.text
      .replaceAll(/%([1-9])/g, (_, digit: string) => {
        const index = Number(digit) - 1;
        const other = levelAt(index);
        const value = (counters[index] ??= other?.start ?? 1);
        return formatWord(value, level.isLegal ? "decimal" : (other?.format ?? "decimal"));
      })
      .trim();
  }

  /** The scheme that a list goes by: its own, or that which a style links it to. */
  #scheme(list: WordList | undefined): Scheme | undefined {
    const scheme = this.#schemes.get(list?.scheme ?? "");
    if (scheme?.takes === undefined) return scheme;
    let linked = this.#linked.get(scheme.takes);
    if (linked === undefined) {
      linked = [...this.#schemes.values()].find(({ link }) => link === scheme.takes) ?? scheme;
      this.#linked.set(scheme.takes, linked);
    }
    return linked;
  }
}

function makeLevel(): Level {
  return { start: 1, format: "decimal", text: "", isLegal: false, restarts: true, style: undefined };
}

function formatWord(value: number, format: string): string {
  if (format === "none") return "";
  if (format === "decimalZero") return String(value).padStart(2, "0");
  if (format === "ordinal") return `${value}${ordinalEnding(value)}`;
  return formatNumber(value, WORD_STYLES.get(format) ?? "decimal");
}

function ordinalEnding(value: number): string {
  const tens = value % 100;
  if (tens >= 11 && tens <= 13) return "th";
  return ["th", "st", "nd", "rd"][value % 10] ?? "th";
}
