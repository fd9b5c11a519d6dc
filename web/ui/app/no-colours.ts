/**
 * In the place of what colours code, which the app leaves out: whoever loads it fails, and shows plain text.
 * @module
 */

/** Colours nothing. Throws always. */
export function createHighlighterCore(): never {
  throw new Error("the app has no colours");
}

/** As above. */
export const createJavaScriptRegexEngine: () => never = createHighlighterCore;
