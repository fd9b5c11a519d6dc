/**
 * What a source tells, as a line for people.
 * @module
 */
import type { ToolNodeEvent } from "mcp-sluice/tools";

/** An event that is worth a line. */
export type Told = Exclude<ToolNodeEvent, { readonly kind: "resource" | "tools_changed" }>;

/** The line, and whether something is wrong. */
export function lineOf(event: Told): { readonly level: "info" | "warn"; readonly text: string } {
  switch (event.kind) {
    case "stored": {
      const ids = event.artifacts.map(({ id }) => id).join(", ");
      return { level: "info", text: `${event.tool}: stored ${ids}` };
    }
    case "expanded":
      return { level: "info", text: `${event.tool}: ${event.id} was put into ${event.path} as ${event.form}` };
    case "failed":
      return { level: "warn", text: `${event.tool}: ${event.error.message}` };
    case "retry":
      return { level: "warn", text: `${event.error.message} Trying again in ${event.wait_s.toFixed(1)} s.` };
    case "waiting":
      return { level: event.is_over ? "warn" : "info", text: `${event.tool}: silent for ${event.after_s} s` };
    case "left_alone":
      return { level: "warn", text: "The server keeps failing, and is left alone for a while." };
    case "recovered":
      return { level: "info", text: "The server answers again." };
    default:
      return { level: "warn", text: `${event.count} tools are left out: their names cannot be shown.` };
  }
}
