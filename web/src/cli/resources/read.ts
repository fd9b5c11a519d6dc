/**
 * `sluice resources read`
 * @module
 */
import type { ResourceContent, ResourceReading } from "../../tools/resources/contents.js";
import { exitCodeOfAnswer } from "../exit.js";
import { nameStore, reportFailures } from "../report.js";
import { parseScope } from "../scope.js";
import type { Invocation } from "../spec.js";
import { openStore } from "../store.js";
import type { Output, Terminal } from "../terminal.js";
import { printingTo, storedLine } from "../tools/log.js";
import { NamedSources } from "../tools/named-sources.js";
import { onOneLine } from "../tools/rows.js";
import { StatusLine } from "../tools/status-line.js";
import { usingSource } from "../tools/using-source.js";
import { printable } from "../words.js";

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const [name = "", uri = ""] = invocation.operands;
  const { errors, output, signal } = terminal;
  const sources = await NamedSources.read(invocation.value("config"), invocation.command);
  const config = sources.find(name);
  const scope = parseScope(invocation.values("scope"), invocation.command);
  const store = openStore(invocation.value("store"));
  const status = new StatusLine(errors, `reading from ${name}`);
  const onEvent = printingTo(status);
  const reading = await usingSource(config, { store, signal, onEvent, errors }, (node) =>
    node.readResource(uri, { signal, ...(scope !== undefined && { scope }) }),
  ).finally(() => status.done());
  await print(reading, invocation.has("json"), output);
  for (const ref of reading.artifacts) await errors.write(`${storedLine(name, ref)}\n`);
  await reportFailures(reading.failures, errors);
  if (reading.failures.length > 0) await nameStore(errors, invocation.value("store"));
  return exitCodeOfAnswer(reading.failures);
}

async function print({ contents, artifacts }: ResourceReading, json: boolean, output: Output): Promise<void> {
  if (json) {
    await output.write(`${JSON.stringify({ contents, artifacts }, null, 2)}\n`);
    return;
  }
  for (const content of contents) {
    if (contents.length > 1) await output.write(`${output.bold(`==> ${onOneLine(content.uri)} <==`)}\n`);
    await output.write(written(content, output.isTerminal || contents.length > 1, output.isTerminal));
  }
}

/** A text as it is; on a terminal without what a terminal obeys. */
function written(content: ResourceContent, endsLine: boolean, isTerminal: boolean): string {
  if (content.kind === "artifact") return `${onOneLine(content.summary)}\n`;
  const { text } = content;
  const shown = isTerminal
    ? text
        .split(/(\r?\n|\t)/)
        .map(shownPart)
        .join("")
    : text;
  return !endsLine || shown === "" || shown.endsWith("\n") ? shown : `${shown}\n`;
}

function shownPart(part: string): string {
  return /^(?:\r?\n|\t)$/.test(part) ? part : printable(part);
}
