/**
 * JSON of which the end is missing: what of it is whole.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { JsonScanner, type JsonKind, type JsonVisitor } from "./value-scanner.js";

/** What of a cut document is whole. */
export interface WholeJson {
  /** Bytes from its beginning that stay. */
  readonly end: number;
  /** What closes the containers that are open there. */
  readonly closers: string;
}

/**
 * Finds what is whole: of the outermost array that is open its whole elements, and what stands before it; without one, the whole members of
 * the objects that are open. Undefined where nothing is.
 *
 *     {"page":2,"rows":[{"id":1,"tags":[]},{"id":2,"ta       {"page":2,"rows":[{"id":1,"tags":[]}  ]}
 *     the document                                          what stays, and what closes it
 */
export async function findWholeJson(chunks: AsyncIterable<Uint8Array>): Promise<WholeJson | undefined> {
  const open = new OpenContainers();
  const scanner = new JsonScanner(open, 0);
  try {
    for await (const chunk of chunks) scanner.push(chunk);
    scanner.end();
  } catch (error) {
    // What stands behind the cut is no JSON.
    if (!(error instanceof SluiceError) || !error.code.startsWith("E_JSON")) throw error;
  }
  return open.findWhole();
}

/** Follows which containers are open, and where the last whole value ends in each. */
class OpenContainers implements JsonVisitor {
  readonly #open: { readonly closer: string; end: number }[] = [];
  /** The end of the root, once it is whole. */
  #end: number | undefined;
  /** The end of a number that may go on. */
  #number: number | undefined;

  wantsKey(): boolean {
    return false;
  }

  beginValue(kind: JsonKind, at: number): void {
    this.#endNumber();
    if (kind === "array" || kind === "object") this.#open.push({ closer: kind === "array" ? "]" : "}", end: at + 1 });
  }

  endValue(kind: JsonKind, end: number): boolean {
    this.#endNumber();
    if (kind === "array" || kind === "object") this.#open.pop();
    if (kind === "number") this.#number = end;
    else this.#endAt(end);
    return true;
  }

  /** A number is whole once something follows it. */
  #endNumber(): void {
    if (this.#number !== undefined) this.#endAt(this.#number);
    this.#number = undefined;
  }

  #endAt(end: number): void {
    const around = this.#open.at(-1);
    if (around === undefined) this.#end = end;
    else around.end = end;
  }

  findWhole(): WholeJson | undefined {
    if (this.#end !== undefined) return { end: this.#end, closers: "" };
    const array = this.#open.findIndex(({ closer }) => closer === "]");
    const kept = array < 0 ? this.#open : this.#open.slice(0, array + 1);
    const last = kept.at(-1);
    if (last === undefined) return undefined;
    const closers = kept.map(({ closer }) => closer).toReversed();
    return { end: last.end, closers: closers.join("") };
  }
}
