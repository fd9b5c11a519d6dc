/**
 * What is in each tab.
 * @module
 */
import { type Row, rowsOfHeld } from "./rows.js";
import type { Held } from "./shelf.js";
import type { ResourceTab } from "./tabs.js";

/** The rows of every tab. */
export type Lists = Readonly<Record<ResourceTab, readonly Row[]>>;

/** Every tab, of what is listed and of what is known besides. */
export function listsOf(resources: readonly Row[], templates: readonly Row[], held: readonly Held[]): Lists {
  return {
    resources,
    templates,
    subscribed: rowsOfHeld(
      held.filter(({ isSubscribed }) => isSubscribed),
      resources,
    ),
    cached: rowsOfHeld(
      held.filter(({ reading }) => reading !== undefined),
      resources,
    ),
  };
}

/** How many rows there are in each. */
export function countsOf({ resources, templates, subscribed, cached }: Lists): Readonly<Record<ResourceTab, number>> {
  return {
    resources: resources.length,
    templates: templates.length,
    subscribed: subscribed.length,
    cached: cached.length,
  };
}
