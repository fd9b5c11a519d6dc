/**
 * What happens at a source, in lines for people.
 * @module
 */
import { counted, humanSize } from "../../core/amounts.js";
import type { AnswerRef } from "../../core/sluice.js";
import type { ToolNodeEvent } from "../../tools/event.js";
import { onOneLine } from "./rows.js";
import type { StatusLine } from "./status-line.js";

/** Characters of a line: names come from servers. */
const MAX_LINE = 1000;

/** A line for each thing stored, for what failed, and for what is tried again; none for the rest. */
export function linesOf(event: ToolNodeEvent): readonly string[] {
  // A server that sends its content twice has it stored once.
  if (event.kind === "stored") return [...new Set(event.artifacts.map((ref) => storedLine(event.tool, ref)))];
  if (event.kind === "failed") return [logLine(event.error.message)];
  if (event.kind === "left_out")
    return [logLine(`${counted(event.count, "tool")} left out: their names cannot be shown.`)];
  if (event.kind === "retry") {
    return [logLine(`${event.error.message} Trying again in ${event.wait_s.toFixed(1)} s.`)];
  }
  return [];
}

/** A listener that prints those lines above a status line. */
export function printingTo(status: StatusLine): (event: ToolNodeEvent) => void {
  return (event) => {
    for (const line of linesOf(event)) status.print(line);
  };
}

/** What became of one artifact, and where it came from. */
export function storedLine(where: string, { id, source, mime_type, size_bytes }: AnswerRef): string {
  const told = source["description"];
  const what = typeof told === "string" ? told : `${mime_type ?? "content"}, ${humanSize(size_bytes)}`;
  const became = source["truncated"] === true ? "could not be stored" : `stored as ${id}`;
  return logLine(`${where}: ${what}: ${became}`);
}

/** A sentence as the command says it. */
export function logLine(text: string): string {
  return `sluice: ${onOneLine(text.slice(0, MAX_LINE))}`;
}
