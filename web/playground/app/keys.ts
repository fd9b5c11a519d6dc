/**
 * What keys do, for people.
 * @module
 */

/** What the help shows. */
export const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["⌘K or Ctrl K", "Find a tool, a view or an action"],
  ["⌘↵ or Ctrl ↵", "Run the tool again"],
  ["/", "Search what is listed"],
  ["g then h, t, r, f, c, g, l", "Try (home), Tools, Resources, My Files, Chat, Guardrails, Log"],
  ["[ and ]", "The result before, the result after"],
  ["?", "These keys"],
  ["Esc", "Close what is open"],
];
