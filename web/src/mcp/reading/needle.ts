/**
 * What is searched for, as bytes: each character in upper and lower case.
 * @module
 */

const ENCODER = new TextEncoder();

/** Matches UTF-8, whatever stands around it. */
export class Needle {
  /** Most bytes that a match has. */
  readonly mostBytes: number;
  /** For each byte, 1 where a match may begin with it. */
  readonly #starts = new Uint8Array(256);
  /** The forms of each character, longest first. */
  readonly #characters: readonly (readonly Uint8Array[])[];

  constructor(text: string) {
    this.#characters = Array.from(text, formsOf);
    this.mostBytes = this.#characters.reduce((sum, forms) => sum + (forms[0]?.length ?? 0), 0);
    for (const form of this.#characters[0] ?? []) this.#starts[form[0] as number] = 1;
  }

  /** The next place at or behind `from` and before `until` where a match may begin; `until` if there is none. */
  candidate(bytes: Uint8Array, from: number, until: number): number {
    let at = from;
    while (at < until && this.#starts[bytes[at] as number] === 0) at += 1;
    return at;
  }

  /** How many bytes match at a place; 0 for no match. */
  matchAt(bytes: Uint8Array, at: number, end: number): number {
    let next = at;
    for (const forms of this.#characters) {
      // No form of a character begins another, so the first that matches is the only one.
      const form = forms.find((each) => startsWith(bytes, next, end, each));
      if (form === undefined) return 0;
      next += form.length;
    }
    return next - at;
  }
}

/** A character as it is, in lower and in upper case, where those are one character too. */
function formsOf(character: string): readonly Uint8Array[] {
  const forms = new Set([character]);
  for (const other of [character.toLowerCase(), character.toUpperCase()]) {
    if (Array.from(other).length === 1) forms.add(other);
  }
  return Array.from(forms, (form) => ENCODER.encode(form)).sort((left, right) => right.length - left.length);
}

function startsWith(bytes: Uint8Array, at: number, end: number, form: Uint8Array): boolean {
  if (at + form.length > end) return false;
  for (let byte = 0; byte < form.length; byte += 1) if (bytes[at + byte] !== form[byte]) return false;
  return true;
}
