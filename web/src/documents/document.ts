/**
 * What converters of documents take and give: text in parts, facts about it, and the bounds of both.
 * @module
 */
import { SluiceError } from "../errors/error.js";

/** What a part of a document is called. */
export type PartNoun = "page" | "slide" | "sheet" | "section" | "column" | "message";

/** A heading, with the part that it stands in. */
export interface DocumentHeading {
  readonly title: string;
  /** From 1. */
  readonly level: number;
  /** Number of the part, from 1. */
  readonly part: number;
}

/** What is told of a document before its text. Bounded: at most 200 names and 200 headings, each of at most 120 characters. */
export interface DocumentFacts {
  readonly part: PartNoun;
  /** How many parts there are. */
  readonly parts: number;
  /** Names of the parts, where they have names: sheets. */
  readonly names?: readonly string[];
  /** What is told behind each name, in its order: `hidden; A1:D20; rows 5-9 hidden`. Empty where there is nothing. */
  readonly about?: readonly string[];
  /** The sheet that `cells` or `values` are of. */
  readonly sheet?: SheetFacts;
  readonly headings: readonly DocumentHeading[];
  readonly title?: string;
  /** Names of the files that are attached to it, with their sizes where those are known. */
  readonly attachments?: readonly string[];
  /** Whether the text ends before the document does, because it came to `maxTextBytes`. */
  readonly truncated?: boolean;
  /** What was left out, each a sentence: long runs of empty rows. At most 20. */
  readonly notices?: readonly string[];
  /** The parts without text, as scanned pages are: runs of them, first and last, from 1. At most 200. */
  readonly withoutText?: readonly (readonly [number, number])[];
}

/** What is told of a sheet with its cells: only places, nothing that the document says. Each list has at most 200 of them. */
export interface SheetFacts {
  /** From 1. */
  readonly number: number;
  /** The last row and the last column with text, from 1; 0 without any. */
  readonly lastRow: number;
  readonly lastColumn: number;
  /** The range that was asked for by its name: `B2:D40`. */
  readonly range?: string;
  /** Runs, first and last, from 1. */
  readonly hiddenRows?: readonly (readonly [number, number])[];
  readonly hiddenColumns?: readonly (readonly [number, number])[];
  /** Whether rows are hidden by a filter. */
  readonly isFiltered?: boolean;
  /** Ranges whose cells are one, with the value of the first. */
  readonly merged?: readonly string[];
  /** Cells that have comments. */
  readonly comments?: readonly string[];
  /** How many charts, images and text boxes there are. */
  readonly drawings?: number;
  /** How many formulas have no value in the file. They are told as formulas. */
  readonly formulas?: number;
  /** How many cells are durations: numbers of days among `values`. */
  readonly durations?: number;
  /** How many cells have a value and a format that shows nothing. */
  readonly blanks?: number;
}

/** A document as text. */
export interface Converted {
  /** The facts, complete once the text has ended. */
  readonly facts: () => DocumentFacts;
  /**
   * Text with `\n` for line ends. Each part but the first begins with a form feed (U+000C), which is nowhere else. Read it once.
   * Throws E_DOCUMENT, E_TOO_LARGE.
   */
  readonly text: AsyncIterable<string>;
}

/**
 * What is made of a document: its text; its rows as CSV with a header; its links, one `text<TAB>url` a line. Of a sheet its `cells` as they
 * are shown, or its `values` to compute with, both as CSV whose records begin with the number of the row.
 */
export type DocumentForm = "text" | "rows" | "cells" | "values" | "links";

/** Options of every converter. */
export interface ConvertOptions {
  readonly form: DocumentForm;
  /**
   * The sheet of `cells` and `values`: its name, its number from 1, a single cell, or the name of a range or a table. Defaults to the first
   * that is not hidden.
   */
  readonly sheet?: string;
  /** Ends the work; the text then throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Most bytes of text; what is longer ends there, and its facts are `truncated`. @default 67108864 */
  readonly maxTextBytes?: number;
  /** Most bytes that all parts of the document may have once they are inflated. @default 268435456 */
  readonly maxBytes?: number;
}

/** The default of `maxTextBytes`. */
export const MAX_TEXT_BYTES: number = 64 * 1024 * 1024;

/** The default of `maxBytes`. */
export const MAX_DOCUMENT_BYTES: number = 256 * 1024 * 1024;

/** Most names of one kind that are told. */
export const MAX_NAMES = 200;
const MAX_NAME_CHARS = 120;
const MAX_ABOUT_CHARS = 240;
const MAX_NOTICES = 20;

/** E_DOCUMENT: the document cannot be read, with what to do instead. */
export function unreadable(sentence: string): SluiceError {
  return new SluiceError("E_DOCUMENT", sentence);
}

/** E_DOCUMENT for a document that is not what it should be. */
export function toDamagedError(kind: string): SluiceError {
  return unreadable(
    `The ${kind} is damaged or incomplete: get it again, or save it again in the program that made it.`,
  );
}

/** E_TOO_LARGE: more bytes than are read. */
export function tooLarge(most: number): SluiceError {
  const mib = Math.max(1, Math.floor(most / 1024 / 1024));
  return new SluiceError(
    "E_TOO_LARGE",
    `The document has more than ${mib} MiB once it is unpacked: split it, or save a part of it as a document of its own.`,
  );
}

/** E_INVALID_ARGUMENT unless the form is one of those that this kind of document has. */
export function checkForm(form: DocumentForm, kind: string, forms: readonly DocumentForm[]): void {
  if (forms.includes(form)) return;
  throw new SluiceError("E_INVALID_ARGUMENT", `A ${kind} has no ${form}: ask for its ${forms.join(" or ")}.`, {
    path: "form",
  });
}

/** Facts as they are found. */
export class FactsBuilder {
  /** Number of the part that was begun last, from 1. */
  at = 0;
  /** How many parts there are, where more are known than are written. */
  total = 1;
  truncated = false;
  sheet: SheetFacts | undefined;
  #title: string | undefined;
  readonly #names: string[] = [];
  readonly #about: string[] = [];
  readonly #headings: DocumentHeading[] = [];
  readonly #notices: string[] = [];
  readonly #withoutText: [number, number][] = [];
  readonly #attachments: string[] = [];

  constructor(public part: PartNoun) {}

  /** A heading in the part that was begun last. */
  heading(title: string, level: number): void {
    const short = shortenLine(title);
    if (short === "" || this.#headings.length >= MAX_NAMES) return;
    this.#headings.push({ title: short, level, part: Math.max(1, this.at) });
  }

  name(name: string): void {
    if (this.#names.length < MAX_NAMES) this.#names.push(shortenLine(name));
  }

  /** What is told behind the name of a part, by its number from 1. What comes later stands behind. */
  about(part: number, words: string): void {
    if (part > MAX_NAMES || words === "") return;
    while (this.#about.length < part) this.#about.push("");
    this.#about[part - 1] = [this.#about[part - 1], words].filter(Boolean).join("; ").slice(0, MAX_ABOUT_CHARS);
  }

  /** The name of an attached file, and its size, which stands behind it. */
  attachment(name: string, size?: string): void {
    if (this.#attachments.length >= MAX_NAMES) return;
    this.#attachments.push(`${shortenLine(name)}${size === undefined ? "" : ` (${size})`}`);
  }

  /** The title of the document; the first that is not empty is taken. */
  title(title: string): void {
    const short = shortenLine(title);
    if (this.#title === undefined && short !== "") this.#title = short;
  }

  /** A part has no text. Parts come in order. */
  partWithoutText(part: number): void {
    const run = this.#withoutText.at(-1);
    if (run !== undefined && run[1] === part - 1) run[1] = part;
    else if (this.#withoutText.length < MAX_NAMES) this.#withoutText.push([part, part]);
  }

  /** A sentence of our own: nothing of the document may stand in it, since it is told outside of the document's data. */
  notice(sentence: string): void {
    if (this.#notices.length < MAX_NOTICES) this.#notices.push(sentence);
  }

  facts(): DocumentFacts {
    return {
      part: this.part,
      parts: Math.max(this.at, this.total),
      ...(this.#names.length > 0 && { names: [...this.#names] }),
      ...(this.#about.length > 0 && { about: [...this.#about] }),
      ...(this.sheet !== undefined && { sheet: this.sheet }),
      headings: [...this.#headings],
      ...(this.#title !== undefined && { title: this.#title }),
      ...(this.#attachments.length > 0 && { attachments: [...this.#attachments] }),
      ...(this.truncated && { truncated: true }),
      ...(this.#notices.length > 0 && { notices: [...this.#notices] }),
      ...(this.#withoutText.length > 0 && { withoutText: [...this.#withoutText] }),
    };
  }
}

/** One line of at most 120 characters. */
export function shortenLine(text: string): string {
  const line = text
    .slice(0, 1024)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  if (line.length <= MAX_NAME_CHARS) return line;
  return `${line.slice(0, MAX_NAME_CHARS - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Thrown by a sink that is full, to unwind from what writes to it. */
class TextFull extends Error {}

// A form feed separates parts; the other controls are of no text, and XML has none of them.
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\0-\u0008\u000B-\u001F\u007F\uFFFE\uFFFF]/g;

/** Characters that are counted together. */
const COUNTED = 32 * 1024;

/** Text without characters that are of no text. */
export function replaceControls(text: string): string {
  return text.replace(CONTROLS, (control) => (control === "\r" ? "" : " "));
}

/** Takes the text of a document, up to a bound, and gives it away piece by piece. */
export class TextSink {
  /** Text that was counted, and text that was not yet. */
  #pending: string[] = [];
  #fresh = "";
  /** Bytes that there is room for, without the fresh text. */
  #left: number;
  readonly #encoder = new TextEncoder();

  constructor(
    maxBytes: number,
    readonly facts: FactsBuilder,
  ) {
    this.#left = maxBytes;
  }

  /** Adds text; what does not fit is cut, and ends the conversion. */
  add(text: string): void {
    const fitting = text.length > this.#left + 1 ? text.slice(0, this.#left + 1) : text;
    this.#append(replaceControls(fitting));
  }

  /** Begins the next part. */
  part(): void {
    if (this.facts.at > 0) this.#append("\f");
    this.facts.at++;
  }

  /** What was added since this was last asked. */
  take(): string {
    this.#count();
    const text = this.#pending.join("");
    this.#pending = [];
    return text;
  }

  #append(text: string): void {
    this.#fresh += text;
    // A character has three bytes at most, a pair of surrogates four.
    if (this.#fresh.length > COUNTED || this.#fresh.length * 3 > this.#left) this.#count();
  }

  #count(): void {
    const text = this.#fresh;
    if (text === "") return;
    this.#fresh = "";
    const bytes = this.#encoder.encode(text).length;
    if (bytes <= this.#left) {
      this.#left -= bytes;
      this.#pending.push(text);
      return;
    }
    // The longest prefix that fits, of whole characters.
    const { read } = this.#encoder.encodeInto(text, new Uint8Array(this.#left));
    this.#pending.push(text.slice(0, read));
    this.#left = 0;
    throw new TextFull();
  }
}

/**
 * A document as text: `steps` does the work and pauses wherever text may be taken.
 *
 * @param kind what it is called where it is damaged: `workbook`.
 */
export function convertText(
  kind: string,
  sink: TextSink,
  options: ConvertOptions,
  steps: () => AsyncGenerator<void, void>,
): Converted {
  const { signal } = options;
  const text = async function* (): AsyncGenerator<string, void> {
    const work = steps();
    try {
      for (let step = await work.next(); step.done !== true; step = await work.next()) {
        signal?.throwIfAborted();
        const piece = sink.take();
        if (piece !== "") yield piece;
      }
    } catch (error) {
      if (!(error instanceof TextFull)) throw toCodedError(error, kind, signal);
      sink.facts.truncated = true;
    } finally {
      await work.return();
    }
    const last = sink.take();
    if (last !== "") yield last;
  };
  return { facts: () => sink.facts.facts(), text: text() };
}

/** What was thrown, as it is told: errors of libraries quote what they read, and are not. */
export function toCodedError(error: unknown, kind: string, signal: AbortSignal | undefined): Error {
  if (error instanceof SluiceError) return error;
  return signal?.aborted === true ? (signal.reason as Error) : toDamagedError(kind);
}

/** A sink for the facts, with the bound of the options. */
export function createSink(facts: FactsBuilder, options: ConvertOptions): TextSink {
  return new TextSink(options.maxTextBytes ?? MAX_TEXT_BYTES, facts);
}
