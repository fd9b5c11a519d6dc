/**
 * What a source lists, on standard output.
 * @module
 */
import { MemoryArtifactStore } from "../../artifacts/memory.js";
import { counted } from "../../core/amounts.js";
import type { ToolNode } from "../../tools-node.js";
import type { ToolContext } from "../../tools/context.js";
import type { Listing } from "../../tools/resources/listed.js";
import { Exit } from "../exit.js";
import type { Invocation } from "../spec.js";
import type { Column } from "../table.js";
import type { Terminal } from "../terminal.js";
import { logLine } from "../tools/log.js";
import { NamedSources } from "../tools/named-sources.js";
import { printRows } from "../tools/rows.js";
import { StatusLine } from "../tools/status-line.js";
import { usingSource } from "../tools/using-source.js";

/** One kind of list. */
export interface ListingKind<T> {
  readonly list: (node: ToolNode, context: ToolContext) => Promise<Listing<T>>;
  readonly columns: readonly Column[];
  readonly row: (item: T) => readonly string[];
  /** What one of them is called. */
  readonly noun: string;
}

/** Lists what the source has, in rows or as JSON, and says how many were left out. */
export async function printListing<T>(
  invocation: Invocation,
  { output, errors, signal }: Terminal,
  { list, columns, row, noun }: ListingKind<T>,
): Promise<number> {
  const [name = ""] = invocation.operands;
  const sources = await NamedSources.read(invocation.value("config"), invocation.command);
  const config = sources.find(name);
  const status = new StatusLine(errors, `asking ${name}`);
  const listing = usingSource(config, { store: new MemoryArtifactStore(), signal, errors }, (node) =>
    list(node, { signal }),
  );
  const { items, left_out } = await listing.finally(() => status.done());
  if (invocation.has("json")) await output.write(`${JSON.stringify(items, null, 2)}\n`);
  else await printRows(columns, items.map(row), output);
  if (left_out > 0) {
    await errors.write(`${logLine(`${name}: ${counted(left_out, noun)} left out: too many, or with an unfit URI`)}\n`);
  }
  return Exit.ok;
}
