/**
 * Replaces a text that occurs exactly once, or everywhere.
 * @module
 */
import { countNoun } from "../../core/amounts.js";
import { SluiceError } from "../../errors/error.js";
import { artifactUri } from "../artifact-reader/definition.js";
import type { Inspection } from "../artifact-reader/inspection.js";
import { tellRecords } from "../artifact-reader/records.js";
import { pour, type Readable } from "../artifact-reader/source.js";
import { listFirst, type EditPlan } from "./plan.js";
import type { TextEdit } from "./request.js";
import { Matcher, TextRewriter } from "./rewriter.js";
import { indexOfByte } from "#byte-search";

const NEWLINE = 0x0a;

/** Places that an answer names by their lines. */
const PLACES_NAMED = 5;

/** Bytes that are searched for a text that differs in white space or case. */
const MAX_NEAR_BYTES = 64 * 1024 * 1024;

/** Longest text that is searched for in that way, in characters without white space. */
const MAX_NEAR_CHARS = 16 * 1024;

/** Plans a replacement. Shows at most `most` characters of the artifact. Throws E_INVALID_ARGUMENT. */
export async function planReplacement(
  from: Readable,
  inspection: Inspection,
  edit: TextEdit,
  most: number,
): Promise<EditPlan> {
  const { old, replacement, isAll } = edit;
  const { count, lines } = await findPlaces(from, edit);
  if (count === 0) return absent(from, inspection, edit, most);
  const where = `line${lines.length === 1 ? "" : "s"} ${listFirst(lines, count)}`;
  if (count > 1 && !isAll) {
    throw new SluiceError(
      "E_INVALID_ARGUMENT",
      `old_string occurs ${countNoun(count, "time")}, at ${where}: include more of what surrounds the one you mean, ` +
        "or set replace_all to true for all of them.",
      { path: "old_string" },
    );
  }
  if (isSame(old, replacement)) return { kind: "unchanged", said: "old_string and new_string are the same" };
  const size = from.ref.size_bytes + count * (replacement.length - old.length);
  const said = `${countNoun(count, "place")} replaced (${where})`;
  return { kind: "rewrite", said, size, rewriter: new TextRewriter(old, replacement) };
}

/** How often a text occurs, and the lines of its first places. Unless all are replaced, places may overlap. */
async function findPlaces(
  from: Readable,
  { old, isAll }: TextEdit,
): Promise<{ readonly count: number; readonly lines: readonly number[] }> {
  const matcher = new Matcher(old, !isAll);
  const inside = newlinesIn(old, 0, old.length);
  const lines: number[] = [];
  let count = 0;
  let line = 1;
  await pour(from, { start: 0, end: from.ref.size_bytes }, (chunk) => {
    let lined = 0;
    for (let end = matcher.find(chunk, 0); end >= 0; end = matcher.find(chunk, end)) {
      count += 1;
      if (lines.length === PLACES_NAMED) continue;
      line += newlinesIn(chunk, lined, end);
      lined = end;
      lines.push(line - inside);
    }
    if (lines.length < PLACES_NAMED) line += newlinesIn(chunk, lined, chunk.length);
    return true;
  });
  return { count, lines };
}

function newlinesIn(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = indexOfByte(bytes, NEWLINE, from); at >= 0 && at < to; at = indexOfByte(bytes, NEWLINE, at + 1))
    count += 1;
  return count;
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** The text does not occur. Where something like it does, it is shown as it is. */
async function absent(from: Readable, inspection: Inspection, { oldText }: TextEdit, most: number): Promise<EditPlan> {
  const near = await nearPlace(from, oldText);
  if (near === undefined) {
    throw new SluiceError(
      "E_INVALID_ARGUMENT",
      `old_string does not occur in ${artifactUri(from.ref.id)}: read the place, by search or lines of ${from.tool}, ` +
        "and copy it exactly.",
      { path: "old_string" },
    );
  }
  const { data = "", notes = [] } = await tellRecords(from, inspection, "lines", near, most);
  const where = near.first === near.last ? `Line ${near.first} differs` : `Lines ${near.first}-${near.last} differ`;
  const head =
    `old_string does not occur in ${artifactUri(from.ref.id)}. ${where} from it only in ` +
    `${describeDifference(data, oldText)}; nothing was changed`;
  return { kind: "refused", parts: { head, data, notes } };
}

/** What tells the artifact's lines from the text. Lines are shown without their carriage returns. */
function describeDifference(lines: string, wanted: string): string {
  if (lines.includes(wanted)) return String.raw`line ends: the artifact has \r\n, so write \r\n in both strings`;
  if (bare(lines).includes(bare(wanted))) return "white space: copy it exactly";
  if (lines.toLowerCase().includes(wanted.toLowerCase())) return "upper and lower case: copy it exactly";
  return "white space, upper and lower case, or the form of quotes and dashes: copy it exactly";
}

function bare(text: string): string {
  return text.replaceAll(/\s+/gu, "");
}

/** The lines where the text stands, but for white space, case, and typographic quotes and dashes. */
async function nearPlace(
  from: Readable,
  wanted: string,
): Promise<{ readonly first: number; readonly last: number } | undefined> {
  const finder = new NearFinder(wanted);
  if (!finder.isUsable) return undefined;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  await pour(from, { start: 0, end: Math.min(from.ref.size_bytes, MAX_NEAR_BYTES) }, (chunk) => {
    return !finder.push(decoder.decode(chunk, { stream: true }));
  });
  return finder.lines;
}

/** Finds a text without regard to white space, case, and the form of quotes and dashes. */
class NearFinder {
  readonly #wanted: string;
  #window = "";
  /** The line of each character in the window. */
  #lineOf: number[] = [];
  #line = 1;
  lines: { readonly first: number; readonly last: number } | undefined;

  constructor(wanted: string) {
    this.#wanted = Array.from(wanted, foldCharacter).join("");
  }

  /** Whether the text has more than white space, and is not too long. */
  get isUsable(): boolean {
    return this.#wanted.length > 0 && this.#wanted.length <= MAX_NEAR_CHARS;
  }

  /** Searches the next text. True once it was found. */
  push(text: string): boolean {
    const added: string[] = [];
    for (const character of text) {
      if (character === "\n") this.#line += 1;
      const form = foldCharacter(character);
      if (form === "") continue;
      added.push(form);
      for (let unit = 0; unit < form.length; unit += 1) this.#lineOf.push(this.#line);
    }
    this.#window += added.join("");
    const at = this.#window.indexOf(this.#wanted);
    if (at >= 0) {
      const [first = 1, last = first] = [this.#lineOf[at], this.#lineOf[at + this.#wanted.length - 1]];
      this.lines = { first, last };
      return true;
    }
    const gone = Math.max(0, this.#window.length - this.#wanted.length + 1);
    this.#window = this.#window.slice(gone);
    this.#lineOf = this.#lineOf.slice(gone);
    return false;
  }
}

/** A character as it is compared. Empty for white space. */
function foldCharacter(character: string): string {
  if (/[\s\u00ad\u200b\ufeff]/u.test(character)) return "";
  if (/[\u2018\u2019\u201a\u2032]/u.test(character)) return "'";
  if (/[\u201c\u201d\u201e\u2033]/u.test(character)) return '"';
  if (/[\u2010-\u2015\u2212]/u.test(character)) return "-";
  return character.toLowerCase();
}
