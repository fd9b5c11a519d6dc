/**
 * A line on standard error for each thing that a proxy stored, put into arguments, or failed at.
 * @module
 */
import type { DoorEvent } from "../../mcp/door.js";
import type { Output } from "../terminal.js";
import { printable } from "../words.js";

/** Characters of a line: names come from servers. */
const MAX_LINE = 1000;

/** Writes what happens at a door; it does not wait for whoever reads it. */
export function logOf(errors: Output): (event: DoorEvent) => void {
  return (event) => {
    for (const line of linesOf(event))
      void errors.write(`sluice: ${printable(line.slice(0, MAX_LINE))}\n`).catch(() => undefined);
  };
}

function linesOf(event: DoorEvent): readonly string[] {
  if (event.kind === "failed") return [event.error.message];
  if (event.kind === "expanded") {
    return [`${event.tool}: ${event.id} was put into its argument ${event.path} as ${event.form}`];
  }
  return event.artifacts.map(({ id, source }) => {
    const what = typeof source["description"] === "string" ? source["description"] : "content";
    const where = source["truncated"] === true ? "could not be stored" : `stored as ${id}`;
    return `${event.tool ?? "a message"}: ${what}: ${where}`;
  });
}
