/**
 * `sluice resources …`: lists and reads the resources of a source.
 *
 * The operands and options are in `../commands/sources.ts`.
 * @module
 */
import { MemoryArtifactStore } from "../../artifacts/memory.js";
import { countNoun, humanSize } from "../../core/amounts.js";
import type { ToolNode } from "../../tools-node.js";
import type { ToolContext } from "../../tools/context.js";
import type { Listing } from "../../tools/resources/listing.js";
import type { ListedResource } from "../../tools/source-features.js";
import type { ResourceContent, ResourceReading } from "../../tools/resources/cache.js";
import type { Invocation } from "../command.js";
import { Exit, exitCodeOfAnswer } from "../exit.js";
import { printJson } from "../terminal/json.js";
import { StatusLine } from "../terminal/progress.js";
import { nameStore, reportFailures } from "../terminal/report.js";
import { parseScope } from "../store/scope.js";
import { openStore } from "../store/store.js";
import { printRows, type Column } from "../terminal/table.js";
import { onOneLine, printable, type Output, type Terminal } from "../terminal/terminal.js";
import { readSource } from "./named-sources.js";
import { logLine, printingTo, formatStored, usingSource } from "./source-connection.js";

const RESOURCE_COLUMNS: readonly Column[] = [
  { title: "URI" },
  { title: "TYPE" },
  { title: "SIZE", right: true },
  { title: "NAME" },
];

export async function listResources(invocation: Invocation, terminal: Terminal): Promise<number> {
  const forPeople = terminal.output.isTerminal;
  return printListing(invocation, terminal, {
    list: (node, context) => node.listResources(context),
    columns: RESOURCE_COLUMNS,
    row: (resource) => toRow(resource, forPeople),
    noun: "resource",
  });
}

function toRow({ uri, mime_type, size_bytes, title, name }: ListedResource, forPeople: boolean): string[] {
  const size = size_bytes === undefined ? "" : forPeople ? humanSize(size_bytes) : String(size_bytes);
  return [uri, mime_type ?? "", size, title ?? name];
}

const TEMPLATE_COLUMNS: readonly Column[] = [{ title: "TEMPLATE" }, { title: "TYPE" }, { title: "NAME" }];

export async function listTemplates(invocation: Invocation, terminal: Terminal): Promise<number> {
  return printListing(invocation, terminal, {
    list: (node, context) => node.listResourceTemplates(context),
    columns: TEMPLATE_COLUMNS,
    row: ({ uri_template, mime_type, title, name }) => [uri_template, mime_type ?? "", title ?? name],
    noun: "template",
  });
}

interface ListingKind<T> {
  readonly list: (node: ToolNode, context: ToolContext) => Promise<Listing<T>>;
  readonly columns: readonly Column[];
  readonly row: (item: T) => readonly string[];
  /** The word for one item. */
  readonly noun: string;
}

/** Prints a listing of a source as rows or JSON, and how many items were left out. */
async function printListing<T>(
  invocation: Invocation,
  terminal: Terminal,
  { list, columns, row, noun }: ListingKind<T>,
): Promise<number> {
  const [name = ""] = invocation.operands;
  const { output, errors, signal } = terminal;
  const config = await readSource(name, invocation);
  const status = new StatusLine(errors, `asking ${name}`);
  const listing = usingSource(config, { store: new MemoryArtifactStore(), terminal }, (node) => list(node, { signal }));
  const { items, left_out } = await listing.finally(() => status.done());
  if (invocation.has("json")) await printJson(items, output);
  else await printRows(columns, items.map(row), output);
  if (left_out > 0) {
    await errors.write(
      `${logLine(`${name}: ${countNoun(left_out, noun)} left out: too many, or with an invalid URI`)}\n`,
    );
  }
  return Exit.ok;
}

export async function readResource(invocation: Invocation, terminal: Terminal): Promise<number> {
  const [name = "", uri = ""] = invocation.operands;
  const { errors, output, signal } = terminal;
  const config = await readSource(name, invocation);
  const scope = parseScope(invocation.values("scope"), invocation.command);
  const store = openStore(invocation.value("store"));
  const status = new StatusLine(errors, `reading from ${name}`);
  const onEvent = printingTo(status);
  const reading = await usingSource(config, { store, terminal, onEvent }, (node) =>
    node.readResource(uri, { signal, ...(scope !== undefined && { scope }) }),
  ).finally(() => status.done());
  await print(reading, invocation.has("json"), output);
  for (const ref of reading.artifacts) await errors.write(`${formatStored(name, ref)}\n`);
  await reportFailures(reading.failures, errors);
  if (reading.failures.length > 0) await nameStore(errors, invocation.value("store"));
  return exitCodeOfAnswer(reading.failures);
}

async function print({ contents, artifacts }: ResourceReading, json: boolean, output: Output): Promise<void> {
  if (json) return printJson({ contents, artifacts }, output);
  for (const content of contents) {
    if (contents.length > 1) await output.write(`${output.bold(`==> ${onOneLine(content.uri)} <==`)}\n`);
    await output.write(formatContent(content, output.isTerminal || contents.length > 1, output.isTerminal));
  }
}

/** The content to print. On a terminal, text is made safe for it. */
function formatContent(content: ResourceContent, endsLine: boolean, isTerminal: boolean): string {
  if (content.kind === "artifact") return `${onOneLine(content.summary)}\n`;
  const { text } = content;
  const shown = isTerminal
    ? text
        .split(/(\r?\n|\t)/)
        .map(showPart)
        .join("")
    : text;
  return !endsLine || shown === "" || shown.endsWith("\n") ? shown : `${shown}\n`;
}

function showPart(part: string): string {
  return /^(?:\r?\n|\t)$/.test(part) ? part : printable(part);
}
