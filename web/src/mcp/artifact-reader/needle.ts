/**
 * A text that is searched in bytes, in upper and lower case.
 * @module
 */
import { indexOfByte } from "#byte-search";

/** Bytes between two that a search for one byte may stop at, on average: with more of them it takes longer than to skip by a table. */
const SPARSE = 256;

/** Longest skip that the table holds. */
const MAX_SKIP = 255;

/** A place in the text whose bytes are rare in what is searched. */
interface RarePlace {
  readonly offset: number;
  readonly bytes: readonly number[];
  /** Where each byte comes next. */
  readonly next: number[];
}

/** The search text, with each character in both cases, matched as UTF-8. */
export class Needle {
  /** Most bytes of a match. */
  readonly mostBytes: number;
  /** The forms of each character, longest first. */
  readonly #characters: readonly (readonly Uint8Array[])[];
  /** The bytes that each offset may have, as far as every form of the characters there has the same length. */
  readonly #prefix: readonly (readonly number[])[];
  /** For each byte, 1 if a match may begin with it. */
  readonly #starts = new Uint8Array(256);
  /** For each byte, how far the last byte of the prefix is from there at least (Horspool 1980). */
  readonly #skips: Uint8Array;
  #bytes: Uint8Array = new Uint8Array(0);
  #rare: RarePlace | undefined;

  constructor(text: string) {
    this.#characters = Array.from(text, listForms);
    this.mostBytes = this.#characters.reduce((sum, forms) => sum + (forms[0]?.length ?? 0), 0);
    for (const form of this.#characters[0] ?? []) this.#starts[form[0] as number] = 1;
    this.#prefix = listPrefix(this.#characters);
    const last = this.#prefix.length - 1;
    this.#skips = new Uint8Array(256).fill(Math.min(MAX_SKIP, last + 1));
    for (const [offset, bytes] of this.#prefix.entries()) {
      for (const byte of bytes) this.#skips[byte] = Math.min(MAX_SKIP, last - offset);
    }
  }

  /** Chooses how to search, by some of the bytes. */
  adapt(sample: Uint8Array): void {
    const counts = new Uint32Array(256);
    for (let at = 0; at < sample.length; at += 1) {
      const byte = sample[at] as number;
      counts[byte] = (counts[byte] as number) + 1;
    }
    let least = sample.length / SPARSE;
    this.#rare = undefined;
    for (const [offset, bytes] of this.#prefix.entries()) {
      const count = bytes.reduce((sum, byte) => sum + (counts[byte] as number), 0);
      if (count >= least) continue;
      least = count;
      this.#rare = { offset, bytes, next: bytes.map(() => -1) };
    }
  }

  /** Takes the bytes that are searched next. */
  open(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#rare?.next.fill(-1);
  }

  /** The next offset in `from` … `until` where a match may begin; `until` if there is none. */
  findCandidate(from: number, until: number): number {
    if (this.#prefix.length === 0) return this.#findStart(from, until);
    return Math.min(
      until,
      this.#rare === undefined ? this.#skipTo(from, until) : findRare(this.#bytes, this.#rare, from),
    );
  }

  /** Length of the match at an offset, or 0. */
  matchAt(at: number): number {
    let next = at;
    for (const forms of this.#characters) {
      // No form is a prefix of another, so the first match is the only one.
      const form = forms.find((each) => startsWith(this.#bytes, next, each));
      if (form === undefined) return 0;
      next += form.length;
    }
    return next - at;
  }

  #findStart(from: number, until: number): number {
    const bytes = this.#bytes;
    let at = from;
    while (at < until && this.#starts[bytes[at] as number] === 0) at += 1;
    return at;
  }

  #skipTo(from: number, until: number): number {
    const [bytes, skips, starts, last] = [this.#bytes, this.#skips, this.#starts, this.#prefix.length - 1];
    const end = Math.min(until + last, bytes.length);
    for (let at = from + last; at < end;) {
      const skip = skips[bytes[at] as number] as number;
      if (skip === 0 && starts[bytes[at - last] as number] === 1) return at - last;
      at += skip === 0 ? 1 : skip;
    }
    return until;
  }
}

function findRare(bytes: Uint8Array, { offset, bytes: wanted, next }: RarePlace, from: number): number {
  let nearest = bytes.length;
  for (const [index, byte] of wanted.entries()) {
    let at = next[index] as number;
    if (at < from + offset) {
      const found = indexOfByte(bytes, byte, from + offset);
      at = found < 0 ? bytes.length : found;
      next[index] = at;
    }
    if (at < nearest) nearest = at;
  }
  return nearest === bytes.length ? nearest : nearest - offset;
}

function listPrefix(characters: readonly (readonly Uint8Array[])[]): readonly (readonly number[])[] {
  const prefix: (readonly number[])[] = [];
  for (const forms of characters) {
    const length = forms[0]?.length ?? 0;
    if (forms.some((form) => form.length !== length)) break;
    for (let at = 0; at < length; at += 1) prefix.push([...new Set(forms.map((form) => form[at] as number))]);
  }
  return prefix;
}

const ENCODER = new TextEncoder();

/** A character as it is, and in lower and upper case where those are single characters too. */
function listForms(character: string): readonly Uint8Array[] {
  const forms = new Set([character]);
  for (const other of [character.toLowerCase(), character.toUpperCase()]) {
    if (Array.from(other).length === 1) forms.add(other);
  }
  return Array.from(forms, (form) => ENCODER.encode(form)).sort((left, right) => right.length - left.length);
}

function startsWith(bytes: Uint8Array, at: number, form: Uint8Array): boolean {
  if (at + form.length > bytes.length) return false;
  for (let byte = 0; byte < form.length; byte += 1) if (bytes[at + byte] !== form[byte]) return false;
  return true;
}
