/**
 * What stands beside the text of a document: footnotes, endnotes and comments, numbered in the order in which they are referred to.
 * @module
 */
import { oneLine, type BlockWriter } from "./blocks.js";

/** Most notes of a kind, and most characters of all together. */
export const MAX_NOTES = 20_000;
export const MAX_NOTE_CHARS = 16_000_000;

/** Longest quote of the words that a comment is about, and most comments that are about the same words. */
const MAX_QUOTE = 200;
const MAX_OPEN = 50;

/** Longest name of an author. */
const MAX_AUTHOR = 100;

/** What is told of documents with tracked changes, and of those with hidden text. */
export const TRACKED_CHANGES =
  "The document has tracked changes. They are marked where they stand; what is marked as deleted or moved away is not part of the text once they are accepted.";
export const HIDDEN_TEXT = "Text that people see only when they show hidden text is marked as hidden.";

/** A footnote, an endnote or a comment. */
export interface Note {
  readonly text: string;
  readonly author: string;
  /** `2026-01-31`, or the empty string. */
  readonly day: string;
  /** The comment that it answers. */
  readonly parent?: string;
  readonly isResolved?: boolean;
}

/** Notes by id. */
export type Notes = ReadonlyMap<string, Note>;

/** What can be referred to: the kinds of notes, as their elements are called. */
export type NoteKind = "footnote" | "endnote" | "comment";

/** An author in one line. */
export function nameAuthor(author: string | undefined): string {
  return oneLine((author ?? "").slice(0, 1024).replaceAll(/[[\]]/g, " ")).slice(0, MAX_AUTHOR);
}

/** The day of a date and time of XML, or the empty string. */
export function readDay(date: string | undefined): string {
  return /^\d{4}-\d{2}-\d{2}/.exec(date ?? "")?.[0] ?? "";
}

/** Numbers notes in the order in which they are referred to, and writes those of a part at its end. */
export class NoteWriter {
  readonly #notes: Readonly<Record<NoteKind, Notes>>;
  readonly #numbers: Readonly<Record<NoteKind, Map<string, number>>> = {
    footnote: new Map(),
    endnote: new Map(),
    comment: new Map(),
  };
  #pending: (readonly [kind: NoteKind, id: string])[] = [];
  /** The words of the comments whose range is open, and of those whose range has ended. */
  readonly #open = new Map<string, string[]>();
  readonly #quotes = new Map<string, string>();

  constructor(notes: Readonly<Record<NoteKind, Notes>>) {
    this.#notes = notes;
  }

  /** Refers to a note where it is marked, and gives the mark: `[^1]`, `[^e1]`, `[comment 1]`. */
  refer(kind: NoteKind, id: string): string {
    const numbers = this.#numbers[kind];
    const isNew = !numbers.has(id);
    if (isNew && numbers.size >= MAX_NOTES) return "";
    const number = numbers.get(id) ?? numbers.size + 1;
    numbers.set(id, number);
    if (isNew) this.#pending.push([kind, id]);
    return markNote(kind, number);
  }

  /** Begins the words that a comment is about. */
  openQuote(id: string): void {
    if (this.#open.size < MAX_OPEN && this.#quotes.size < MAX_NOTES) this.#open.set(id, []);
  }

  closeQuote(id: string): void {
    const pieces = this.#open.get(id);
    if (pieces === undefined) return;
    this.#open.delete(id);
    this.#quotes.set(id, shortenQuote(pieces.join("")));
  }

  /** Adds words to all quotes that are open. */
  quote(text: string): void {
    for (const pieces of this.#open.values()) if (pieces.length < MAX_QUOTE) pieces.push(text.slice(0, MAX_QUOTE + 1));
  }

  /** Writes the notes that were referred to since this was last called. */
  write(blocks: BlockWriter): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const wanted of ["footnote", "endnote", "comment"] as const) {
      for (const [kind, id] of pending) if (kind === wanted) this.#writeNote(blocks, kind, id);
    }
  }

  /** Writes the comments that nothing refers to. */
  writeOthers(blocks: BlockWriter): void {
    for (const id of this.#notes.comment.keys()) if (!this.#numbers.comment.has(id)) this.refer("comment", id);
    this.write(blocks);
  }

  #writeNote(blocks: BlockWriter, kind: NoteKind, id: string): void {
    const note = this.#notes[kind].get(id);
    const number = this.#numbers[kind].get(id) ?? 0;
    if (note === undefined) return;
    if (kind !== "comment") {
      blocks.note(`${markNote(kind, number)}:`, note.text);
      return;
    }
    const parent = note.parent === undefined ? undefined : this.#numbers.comment.get(note.parent);
    blocks.note(
      describeComment(number, note, parent === undefined ? (this.#quotes.get(id) ?? "") : "", parent),
      note.text,
    );
  }
}

/** What stands before the text of a comment: `[comment 2] Ann, 2026-01-31, on "these words" (resolved):`. */
export function describeComment(
  number: number,
  { author, day, isResolved }: Note,
  quote: string,
  parent: number | undefined,
): string {
  const said = [
    author,
    day,
    quote === "" ? "" : `on "${quote}"`,
    parent === undefined ? "" : `answers comment ${parent}`,
  ]
    .filter((each) => each !== "")
    .join(", ");
  const head = said === "" ? markNote("comment", number) : `${markNote("comment", number)} ${said}`;
  return `${head}${isResolved === true ? " (resolved)" : ""}:`;
}

function markNote(kind: NoteKind, number: number): string {
  if (kind === "comment") return `[comment ${number}]`;
  return kind === "footnote" ? `[^${number}]` : `[^e${number}]`;
}

/** The words that a comment is about, in one line. */
export function shortenQuote(text: string): string {
  const line = oneLine(text);
  return line.length <= MAX_QUOTE ? line : `${line.slice(0, MAX_QUOTE - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
