/**
 * Operators that draw on one page of a PDF; points from the lower left corner.
 * @module
 */
import { literal } from "./pdf.js";

/** Red, green and blue from 0 to 1. */
export type Ink = readonly [red: number, green: number, blue: number];

/** How a text stands. */
export interface TextStyle {
  /** Points; 10 when left out. */
  readonly size?: number;
  /** Not so when left out. */
  readonly bold?: boolean;
  /** Nearly black when left out. */
  readonly ink?: Ink;
  /** Where `x` is; `left` when left out. Exact for numbers alone: of other characters no widths are known. */
  readonly align?: "left" | "center" | "right";
}

/** What is drawn on one page, in order. */
export class Sheet {
  readonly #operators: string[] = [];

  /** The operators so far. */
  get drawing(): string {
    return this.#operators.join("\n");
  }

  /** A filled rectangle. */
  box(x: number, y: number, width: number, height: number, ink: Ink): void {
    this.#operators.push(`${ink.join(" ")} rg ${[x, y, width, height].map(short).join(" ")} re f`);
  }

  /** A horizontal line. */
  rule(x: number, y: number, width: number, ink: Ink): void {
    this.box(x, y, width, 0.6, ink);
  }

  /** One line of text. */
  text(x: number, y: number, text: string, { size = 10, bold = false, ink = BLACK, align }: TextStyle = {}): void {
    const width = align === undefined || align === "left" ? 0 : widthOf(text) * size;
    const left = x - (align === "center" ? width / 2 : width);
    const font = bold ? "/F2" : "/F1";
    this.#operators.push(
      `${ink.join(" ")} rg BT ${font} ${size} Tf ${short(left)} ${short(y)} Td ${literal(text)} Tj ET`,
    );
  }

  /** The page's picture. */
  picture(x: number, y: number, width: number, height: number): void {
    this.#operators.push(`q ${short(width)} 0 0 ${short(height)} ${short(x)} ${short(y)} cm /Im1 Do Q`);
  }
}

const BLACK: Ink = [0.1, 0.12, 0.16];

/** In units of the size, as in Helvetica; other characters as its average. */
const WIDTHS: ReadonlyMap<string, number> = new Map([
  ..."0123456789$".split("").map((digit): [string, number] => [digit, 0.556]),
  [",", 0.278],
  [".", 0.278],
  [" ", 0.278],
  ["+", 0.584],
  ["-", 0.333],
  ["%", 0.889],
  ["k", 0.5],
]);

function widthOf(text: string): number {
  return Array.from(text).reduce((sum, character) => sum + (WIDTHS.get(character) ?? 0.53), 0);
}

function short(points: number): string {
  return String(Math.round(points * 100) / 100);
}
