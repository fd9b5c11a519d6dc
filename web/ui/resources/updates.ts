/**
 * Changes of resources: those that the page keeps count of, and what is told of each.
 * @module
 */
import { plainText } from "../plain-text.js";
import type { Row } from "./rows.js";
import type { Shelf, ShelfChange } from "./shelf.js";

/** What is told of a change; what the person just did there is seen at once. */
const TOLD: Readonly<Partial<Record<ShelfChange["what"], string>>> = {
  read: "was read",
  failed: "failed",
  subscribed: "is subscribed to",
  unsubscribed: "is no longer subscribed to",
  updated: "was updated",
};

/** A change in one sentence, by the name of the resource where it is listed; undefined where nothing is to be told. */
export function sentenceOfChange({ uri, what }: ShelfChange, listed: readonly Row[]): string | undefined {
  const told = TOLD[what];
  if (told === undefined) return undefined;
  const name = listed.find((row) => row.uri === uri)?.name ?? uri;
  return `${plainText(name, 100)} ${told}.`;
}

/** Which of the page's updates the shelf was told of: reading takes a dot away, whatever the page still says. */
export class UpdateMarks {
  #marked: ReadonlySet<string> = new Set();

  /** Tells the shelf of each URI that came to `updates`, once; of those that are listed also where nothing is known of them. */
  mark(updates: ReadonlySet<string>, shelf: Shelf, listed: readonly Row[]): void {
    const uris = new Set(listed.map(({ uri }) => uri));
    for (const uri of updates) {
      if (this.#marked.has(uri)) continue;
      if (uris.has(uri)) shelf.meet(uri);
      shelf.updated(uri);
    }
    this.#marked = new Set(updates);
  }

  /** Another shelf knows of none of them. */
  forget(): void {
    this.#marked = new Set();
  }
}
