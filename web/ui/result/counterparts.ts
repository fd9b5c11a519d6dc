/**
 * Finds in the model's text what a server sent.
 * @module
 */
import { endOfString } from "./json-text.js";
import { readReference } from "./marked-text.js";

/** What is pointed at: an artifact by its id, or unchanged text by its JSON source. */
export type Pointed = { readonly id: string } | { readonly source: string; readonly said: string };

/** A range of a text, in UTF-16 units. */
export interface Span {
  /** Where it begins. */
  readonly begin: number;
  /** Where it ends. */
  readonly end: number;
}

interface Mention extends Span {
  readonly id: string;
}

/** Ranges that are highlighted at once. */
const MOST = 50;
/** Longer sources are not searched for. */
const LONGEST = 20_000;
const MOST_MENTIONS = 10_000;
/** Only the beginning of a longer text is searched. */
const SEARCHED = 1_000_000;

/** The model's text and the artifacts in it. */
export class Counterparts {
  readonly #text: string;
  readonly #whole: boolean;
  #mentions: readonly Mention[] | undefined;

  constructor(text: string) {
    this.#text = text.slice(0, SEARCHED);
    this.#whole = text.length <= SEARCHED;
  }

  /** The ranges that show something, in order; none if the model does not see it. */
  of(pointed: Pointed): readonly Span[] {
    if ("id" in pointed)
      return this.#all()
        .filter(({ id }) => id === pointed.id)
        .slice(0, MOST);
    if (this.#whole && pointed.said === this.#text) return [{ begin: 0, end: this.#text.length }];
    return pointed.source.length > LONGEST ? [] : this.#listPassed(pointed.source);
  }

  /** The artifact at a position; null for none. */
  at(place: number): string | null {
    const around = this.#all().filter(({ begin, end }) => begin <= place && place < end);
    return around.sort((a, b) => a.end - a.begin - (b.end - b.begin)).at(0)?.id ?? null;
  }

  #all(): readonly Mention[] {
    return (this.#mentions ??= [...objectsIn(this.#text), ...referencesIn(this.#text)]
      .slice(0, MOST_MENTIONS)
      .sort((a, b) => a.begin - b.begin));
  }

  // The text of a block is lit where a text stands, if there is such a place.
  #listPassed(source: string): Span[] {
    const texts = this.#find(`"text":${source}`).map(({ end }) => ({ begin: end - source.length, end }));
    return texts.length > 0 ? texts : this.#find(source);
  }

  #find(part: string): Span[] {
    const spans: Span[] = [];
    let at = this.#text.indexOf(part);
    while (at >= 0 && spans.length < MOST) {
      spans.push({ begin: at, end: at + part.length });
      at = this.#text.indexOf(part, at + part.length);
    }
    return spans;
  }
}

const ARTIFACT = /\s*:\s*\{\s*"id"\s*:\s*"([^"\\]{1,300})"/y;

// {…"artifact":{"id":"…"…}…}: the object around it says what the artifact is.
function* objectsIn(text: string): Generator<Mention> {
  const open: { begin: number; id: string | null }[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') {
      const end = endOfString(text, at);
      if (end < 0) break;
      const top = open.at(-1);
      if (end - at === 10 && top !== undefined && text.startsWith('"artifact"', at)) {
        ARTIFACT.lastIndex = end;
        top.id = ARTIFACT.exec(text)?.[1] ?? top.id;
      }
      at = end - 1;
    } else if (character === "{") {
      open.push({ begin: at, id: null });
    } else if (character === "}") {
      const closed = open.pop();
      if (closed !== undefined && closed.id !== null) yield { id: closed.id, begin: closed.begin, end: at + 1 };
    }
  }
  // A text that was cut in the middle still shows what stood at its end.
  for (const { begin, id } of open) {
    if (id !== null) yield { id, begin, end: text.length };
  }
}

function* referencesIn(text: string): Generator<Mention> {
  for (const { 0: uri, index } of text.matchAll(/artifact:\/\/[\w.~%-]+(?:\?[\w.~%/=&-]*)?/g)) {
    const reference = readReference(uri);
    if (reference !== null) yield { id: reference.id, begin: index, end: index + uri.length };
  }
}
