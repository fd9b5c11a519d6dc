/**
 * Equations of Word and PowerPoint (Office MathML) and MathML as a line of text: `x=(-b±√(b^2-4ac))/(2a)`.
 * @module
 */
import { oneLine } from "./blocks.js";

/** Elements that are put together in a way of their own, by what they are called in either language. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ["f", "fraction"],
  ["mfrac", "fraction"],
  ["sSup", "power"],
  ["msup", "power"],
  ["mover", "over"],
  ["sSub", "index"],
  ["msub", "index"],
  ["munder", "index"],
  ["limLow", "index"],
  ["limUpp", "over"],
  ["sSubSup", "both"],
  ["msubsup", "both"],
  ["munderover", "both"],
  ["rad", "root"],
  ["mroot", "root-behind"],
  ["msqrt", "square-root"],
  ["nary", "sum"],
  ["d", "fence"],
  ["mfenced", "fence"],
  ["mtr", "row"],
  ["mr", "row"],
  ["mtable", "matrix"],
  ["m", "matrix"],
  ["eqArr", "matrix"],
  ["func", "function"],
]);

/** Elements that say how something looks, or what it is called by a machine. */
const UNSEEN: ReadonlySet<string> = new Set(["annotation", "annotation-xml"]);

/** Longest text of an equation. */
const MAX_TEXT = 20_000;

/** Most parts of one element. */
const MAX_PARTS = 1000;

interface Frame {
  readonly name: string;
  /** Texts of the children that are parts: numerator and denominator. */
  readonly parts: string[];
  text: string;
  /** The sign of a sum, and what stands around a fence. */
  sign: string;
  open: string;
  close: string;
}

/** Puts an equation together while its elements come. Tell it the elements within `oMath` or `math`, without prefixes. */
export class EquationText {
  readonly #frames: Frame[] = [makeFrame("")];
  #unseen = 0;
  #chars = 0;

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#unseen > 0 || UNSEEN.has(name)) {
      this.#unseen++;
      return;
    }
    const frame = this.#frames.at(-1) as Frame;
    const value = attributes["m:val"] ?? attributes["val"] ?? "";
    if (name === "chr") this.#owner().sign = value;
    else if (name === "begChr") this.#owner().open = value;
    else if (name === "endChr") this.#owner().close = value;
    else if (name === "br" || name === "mspace") frame.text += " ";
    const next = makeFrame(name);
    if (name === "mfenced") {
      next.open = attributes["open"] ?? "(";
      next.close = attributes["close"] ?? ")";
    }
    this.#frames.push(next);
  }

  /** Closes an element. True if it is the equation itself. */
  close(): boolean {
    if (this.#unseen > 0) {
      this.#unseen--;
      return false;
    }
    const frame = this.#frames.length > 1 ? this.#frames.pop() : undefined;
    const outer = this.#frames.at(-1);
    if (frame === undefined || outer === undefined) return true;
    if (frame.name.endsWith("Pr")) return false;
    const text = combine(frame);
    if (outer.parts.length < MAX_PARTS) outer.parts.push(text);
    outer.text += text;
    return false;
  }

  text(text: string): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined || this.#unseen > 0 || this.#chars > MAX_TEXT) return;
    this.#chars += text.length;
    frame.text += text;
  }

  toString(): string {
    return oneLine(this.#frames[0]?.text ?? "");
  }

  /** The element whose properties are open. */
  #owner(): Frame {
    return (this.#frames.at(-2) ?? this.#frames[0]) as Frame;
  }
}

function makeFrame(name: string): Frame {
  return { name, parts: [], text: "", sign: "∫", open: "(", close: ")" };
}

function combine({ name, parts, text, sign, open, close }: Frame): string {
  const [first = "", second = "", third = ""] = parts;
  switch (KINDS.get(name)) {
    case "fraction":
      return `${group(first)}/${group(second)}`;
    case "power":
    case "over":
      return `${group(first)}^${group(second)}`;
    case "index":
      return `${group(first)}_${group(second)}`;
    case "both":
      return `${group(first)}_${group(second)}^${group(third)}`;
    case "square-root":
      return `√${group(text)}`;
    case "root":
      // The degree comes first, and is empty for square roots.
      return parts.length < 2 || first === "" ? `√${group(second || first)}` : `root(${first}, ${second})`;
    case "root-behind":
      return `root(${second}, ${first})`;
    case "sum": {
      const from = first === "" ? "" : `_${group(first)}`;
      const to = second === "" ? "" : `^${group(second)}`;
      return `${sign}${from}${to} ${third}`;
    }
    case "fence":
      return `${open}${parts.join(", ")}${close}`;
    case "row":
      return parts.join(", ");
    case "matrix":
      return `[${parts.join("; ")}]`;
    case "function":
      return `${first}${group(second)}`;
    default:
      return text;
  }
}

/** Parentheses around what is more than one number or name, unless it has some. */
function group(text: string): string {
  const trimmed = text.trim();
  return /^[\p{L}\p{M}\p{N}.]*$/u.test(trimmed) || /^\([^()]*\)$/.test(trimmed) ? trimmed : `(${trimmed})`;
}
