/**
 * What a client gives, which may be any host's.
 * @module
 */
import { SluiceError } from "../../errors/error.js";

/** What a text was, and when it was added. */
export interface DatedText {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
}

/** A piece of a history. */
export interface Page {
  /** Newest first. */
  readonly found: readonly DatedText[];
  /** Where what is older begins; undefined where nothing is. */
  readonly next: readonly [seen: string, before: string] | undefined;
}

/** A text; null where there is none. Throws SluiceError E_STORE_READ for anything else. */
export function textOf(reply: unknown): string | null {
  if (reply === null || typeof reply === "string") return reply;
  throw strange();
}

/** Texts. Throws SluiceError E_STORE_READ for anything else. */
export function textsOf(reply: unknown): readonly string[] {
  if (Array.isArray(reply) && reply.every((each) => typeof each === "string")) return reply;
  throw strange();
}

/** Whether it was done; some clients give numbers as strings. Throws SluiceError E_STORE_WRITE for what is neither 1 nor 0. */
export function isDone(reply: unknown): boolean {
  const said = typeof reply === "number" || typeof reply === "bigint" ? String(reply) : reply;
  if (said === "1" || said === "0") return said === "1";
  throw new SluiceError(
    "E_STORE_WRITE",
    "The client does not say whether it was done: let it give the server's numbers as numbers.",
  );
}

/** A piece of a history, behind so many that were seen before. Throws SluiceError E_STORE_READ for anything else. */
export function pageOf(reply: unknown, seenBefore: string): Page {
  const [next, ...texts]: readonly unknown[] = Array.isArray(reply) ? reply : [];
  const [, seen, before] = /^(\d+) (\d+)$/.exec(textOf(next) ?? "") ?? [];
  if (next !== "" && !(before !== undefined && Number(seen) > Number(seenBefore))) throw strange();
  const found = texts.map((each) => {
    const [, at, text] = /^(\d+) \d+ ([^]*)$/.exec(textOf(each) ?? "") ?? [];
    if (text === undefined) throw strange();
    return { at: Number(at), text };
  });
  return { found, next: seen === undefined || before === undefined ? undefined : [seen, before] };
}

function strange(): SluiceError {
  return new SluiceError("E_STORE_READ", "The client gives replies that are not strings: let it give them as strings.");
}
