/**
 * In the place of grammars that the app leaves out: its text stays without colours.
 * @module
 */
import type { LanguageRegistration } from "@shikijs/core/types";

/** No grammar, and none as the default that is asked for: whoever loads it fails, and shows plain text. */
export const grammars: readonly LanguageRegistration[] = [];
