/**
 * In the place of grammars that the app leaves out: its text stays without colours.
 * @module
 */
import type { LanguageRegistration } from "@shikijs/core/types";

/** No grammar: whoever loads it fails, and shows plain text. */
export const grammars: readonly LanguageRegistration[] = [];

export { grammars as default };
