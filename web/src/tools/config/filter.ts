/**
 * Which of a source's tools are offered: patterns that are compiled once, and held against names that a server chose.
 * @module
 */

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

/** What a repetition without an end leaves, as the binary logarithm: as many ways as a name has characters. */
const ENDLESS = 7;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:,\d*)?\})\??/y;

/** A group that is being read: its alternatives so far, the one at hand, and what stood last in that. */
interface Group {
  /** Ways through the alternatives that are over. */
  others: number;
  /** Choices of the one at hand, without its last part. */
  before: number;
  /** Choices of the last part, which a quantifier may repeat. */
  last: number;
}

/**
 * The binary logarithm of the ways in which a valid pattern can be tried before it fails, at worst: engines that go back try
 * them all. Infinity where a group that leaves a choice is repeated.
 */
function choicesIn(pattern: string): number {
  const open: Group[] = [];
  let group: Group = { others: 0, before: 0, last: 0 };
  let at = 0;
  while (at < pattern.length) {
    const end = endOfPart(pattern, at);
    const part = pattern[at];
    if (part === "(") {
      open.push(group);
      group = { others: 0, before: 0, last: 0 };
    } else if (part === ")") {
      const choices = choicesOf(group);
      const outer = open.pop() ?? { others: 0, before: 0, last: 0 };
      group = { others: outer.others, before: outer.before + outer.last, last: choices };
    } else if (part === "|") {
      group = { others: group.others + 2 ** (group.before + group.last), before: 0, last: 0 };
    } else if (isQuantifier(pattern, at)) {
      group.last = repeated(group.last, pattern.slice(at, end));
    } else {
      group = { others: group.others, before: group.before + group.last, last: 0 };
    }
    at = end;
  }
  return choicesOf(group);
}

function choicesOf({ others, before, last }: Group): number {
  return others === 0 ? before + last : Math.log2(others + 2 ** (before + last));
}

function repeated(choices: number, quantifier: string): number {
  if (quantifier.startsWith("?")) return choices + 1;
  if (choices > 0) return Number.POSITIVE_INFINITY;
  return /^\{\d+\}/.test(quantifier) ? 0 : ENDLESS;
}

function isQuantifier(pattern: string, at: number): boolean {
  QUANTIFIER.lastIndex = at;
  return QUANTIFIER.test(pattern);
}

/** Where the escape, the class, the quantifier, the opening of a group or the character that begins here ends. */
function endOfPart(pattern: string, at: number): number {
  if (pattern[at] === "\\") return at + 2;
  if (pattern[at] === "[") return endOfClass(pattern, at);
  // The question mark says which kind of group it is, and leaves no choice.
  if (pattern[at] === "(") return pattern[at + 1] === "?" ? at + 2 : at + 1;
  return isQuantifier(pattern, at) ? QUANTIFIER.lastIndex : at + 1;
}

function endOfClass(pattern: string, at: number): number {
  let end = at + 1;
  while (end < pattern.length && pattern[end] !== "]") end += pattern[end] === "\\" ? 2 : 1;
  return end + 1;
}
