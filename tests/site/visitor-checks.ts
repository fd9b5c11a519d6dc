/**
 * Fifteen things that somebody checks who sees the playground for the first time. The tests of each have its tag, and
 * `npm run bench:site` makes a table of how many pass and of what they measured.
 * @module
 */

/** What is checked, by the tags of the tests. */
export const CHECKS = {
  "check-1": "a result without any set-up",
  "check-2": "at 390 px nothing scrolls sideways, and every task is possible",
  "check-3": "both sides on one screen, the model's as the library gives it",
  "check-4": "no encoded bytes unless they are asked for",
  "check-5": "the meter adds up",
  "check-6": "much of everything: 10 MB of text, a million rows, 1,000 files",
  "check-7": "every kind of file has a preview, or says why not",
  "check-8": "downloads are the originals, under sensible names",
  "check-9": "files without a server; a broken one with line and column",
  "check-10": "templates and subscriptions",
  "check-11": "a long call",
  "check-12": "a sign-in, after which the call goes on",
  "check-13": "a change of the guardrails is seen at once, a wrong one refused",
  "check-14": "axe in every view and both themes; the keyboard alone",
  "check-15": "without a network",
} as const;
