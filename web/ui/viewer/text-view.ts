/**
 * Text on screen: numbered rows, of which only those in view are in the document.
 * @module
 */
import { button, element } from "./element.js";
import type { Lines } from "./lines.js";
import { VirtualRows } from "./rows.js";

/** The height of a row in pixels, as the styles have it. */
const ROW = 20;

/** A word of a row and the class that colours it. */
export interface Token {
  /** What is written. */
  readonly text: string;
  /** A class of the styles; empty for plain text. */
  readonly look: string;
}

/** How a text is shown. */
export interface TextTerms {
  /** What it is called, for screen readers. */
  readonly label: string;
  /** Whether long lines begin wrapped. */
  readonly wraps: boolean;
  /** The colours of a row; undefined while there are none. */
  readonly tokens?: (index: number) => readonly Token[] | undefined;
}

/** A view of lines, which may still be coming: set `count` of what is returned. */
export function textView(host: HTMLElement, lines: Lines, terms: TextTerms, signal: AbortSignal): VirtualRows {
  const body = element("div", "rows");
  const scroller = element("div", "text", { tabindex: "0", role: "group", "aria-label": terms.label }, body);
  let wraps = terms.wraps;
  const rows = new VirtualRows(
    { scroller, body, height: ROW, measured: () => wraps, noun: "Rows", draw: (index) => drawRow(index) },
    signal,
  );
  const wrapping = button("Wrap lines", () => wrap(!wraps), signal);
  const wrap = (wanted: boolean): void => {
    wraps = wanted;
    wrapping.ariaPressed = String(wanted);
    scroller.classList.toggle("wraps", wanted);
    rows.remeasure();
  };
  const drawRow = (index: number): HTMLElement => {
    const { line, text } = lines.row(index);
    const number = element("span", "number", { "aria-hidden": "true" }, line === 0 ? "" : String(line));
    const written = element("code", "written");
    const tokens = terms.tokens?.(index);
    if (tokens === undefined) written.textContent = text;
    else
      written.append(
        ...tokens.map((token) => (token.look === "" ? token.text : element("span", token.look, {}, token.text))),
      );
    return element("div", "line", {}, number, written);
  };
  wrapping.ariaPressed = String(wraps);
  scroller.classList.toggle("wraps", wraps);
  host.append(element("div", "bar", {}, wrapping, rows.bar), scroller);
  return rows;
}
