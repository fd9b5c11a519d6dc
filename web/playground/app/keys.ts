/**
 * What keys do, for people.
 * @module
 */

/** What the help shows. */
export const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["⌘K or Ctrl K", "Find a tool, a view or an action"],
  ["⌘↵ or Ctrl ↵", "Run the tool again"],
  ["/", "Search what is listed"],
  ["g then t, r, f, c, g, l", "Tools, Resources, My Files, Try (calls), Guardrails, Log"],
  ["[ and ]", "The result before, the result after"],
  ["?", "These keys"],
  ["Esc", "Close what is open"],
];
