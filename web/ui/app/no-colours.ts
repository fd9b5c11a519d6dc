/**
 * Stands in for the colouring of code, which the app leaves out. Loading it fails, and the code is shown as plain text.
 * @module
 */

/** Colours nothing. Throws always. */
export function createHighlighterCore(): never {
  throw new Error("the app has no colours");
}

/** As above. */
export const createJavaScriptRegexEngine: () => never = createHighlighterCore;
