/**
 * What sources of the server that the page comes from are called here.
 * @module
 */
import type { ServedSource } from "../../engine/serve/contract.js";

/** Names of the demos, which are this page's own. */
const OWN: ReadonlySet<string> = new Set(["demo", "files"]);

/** Its own name, unless a demo has that. */
export function nameOf({ name }: Pick<ServedSource, "name">): string {
  return OWN.has(name) ? `${name}-served` : name;
}
