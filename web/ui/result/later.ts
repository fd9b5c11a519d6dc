/**
 * The views that are not seen at first: loaded when one of them is chosen.
 * @module
 */
import { SluiceResultDiff } from "./diff-view.js";
import { SluiceResultLines } from "./lines-view.js";
import { SluiceResultRaw } from "./raw-view.js";

/** Defines their elements. */
export function defineLater(): void {
  for (const [name, element] of ELEMENTS) {
    if (customElements.get(name) === undefined) customElements.define(name, element);
  }
}

const ELEMENTS = [
  ["sluice-result-lines", SluiceResultLines],
  ["sluice-result-diff", SluiceResultDiff],
  ["sluice-result-raw", SluiceResultRaw],
] as const;
