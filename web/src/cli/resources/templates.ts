/**
 * `sluice resources templates`
 * @module
 */
import type { Invocation } from "../spec.js";
import type { Column } from "../table.js";
import type { Terminal } from "../terminal.js";
import { printListing } from "./listing.js";

const COLUMNS: readonly Column[] = [{ title: "TEMPLATE" }, { title: "TYPE" }, { title: "NAME" }];

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  return printListing(invocation, terminal, {
    list: (node, context) => node.listResourceTemplates(context),
    columns: COLUMNS,
    row: ({ uri_template, mime_type, title, name }) => [uri_template, mime_type ?? "", title ?? name],
    noun: "template",
  });
}
