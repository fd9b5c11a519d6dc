/**
 * `sluice resources list`
 * @module
 */
import { humanSize } from "../../core/amounts.js";
import type { ListedResource } from "../../tools/resources/connection.js";
import type { Invocation } from "../spec.js";
import type { Column } from "../table.js";
import type { Terminal } from "../terminal.js";
import { printListing } from "./listing.js";

const COLUMNS: readonly Column[] = [
  { title: "URI" },
  { title: "TYPE" },
  { title: "SIZE", right: true },
  { title: "NAME" },
];

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const forPeople = terminal.output.isTerminal;
  return printListing(invocation, terminal, {
    list: (node, context) => node.listResources(context),
    columns: COLUMNS,
    row: (resource) => rowOf(resource, forPeople),
    noun: "resource",
  });
}

function rowOf({ uri, mime_type, size_bytes, title, name }: ListedResource, forPeople: boolean): string[] {
  const size = size_bytes === undefined ? "" : forPeople ? humanSize(size_bytes) : String(size_bytes);
  return [uri, mime_type ?? "", size, title ?? name];
}
