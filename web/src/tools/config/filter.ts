/**
 * Which of a source's tools are offered: patterns that are compiled once, and held against names that a server chose.
 * @module
 */
import { choicesIn } from "./choices.js";

/** Patterns that one filter may have. */
export const MAX_PATTERNS = 100;
/** Characters of a pattern. */
export const MAX_PATTERN = 256;
/** Characters of a name that are compared; a longer one is no tool's name (MCP "Tool Names") and never matches. */
const MAX_NAME = 128;
/** Three repetitions and a little more, as a binary logarithm: the worst name then takes less than a second. */
const MAX_CHOICES = 24;

/** Compiled patterns; null lets every tool pass. */
export type ToolFilter = readonly RegExp[] | null;

/**
 * The pattern, anchored at the start of the name and nowhere else, as Python's `re.match`. Undefined where it is no
 * regular expression of JavaScript, or one that some names would keep busy for ever.
 */
export function compilePattern(pattern: string): RegExp | undefined {
  try {
    // Alone first: `a)|(b` would be one in the group below.
    void new RegExp(pattern);
    return choicesIn(pattern) > MAX_CHOICES ? undefined : new RegExp(`^(?:${pattern})`);
  } catch {
    return undefined;
  }
}

/** Whether a tool passes. A filter without patterns lets every tool pass, as one that is not there. */
export function matchesFilter(filter: ToolFilter, name: string): boolean {
  if (filter === null || filter.length === 0) return true;
  return name.length <= MAX_NAME && filter.some((pattern) => pattern.test(name));
}
