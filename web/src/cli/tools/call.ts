/**
 * `sluice tools call`: one call, and what a model would see of its result.
 * @module
 */
import { nearest } from "../../errors/nearest.js";
import type { ToolNode } from "../../tools-node.js";
import type { ToolContext, ToolProgress } from "../../tools/context.js";
import { ToolClientError } from "../../tools/errors.js";
import type { ToolResult } from "../../tools/tool-answer.js";
import { Exit, exitCodeOfAnswer, UsageError } from "../exit.js";
import { indent } from "../pretty.js";
import { nameStore } from "../report.js";
import { parseScope } from "../scope.js";
import type { Invocation } from "../spec.js";
import { openStore } from "../store.js";
import type { Terminal } from "../terminal.js";
import { readArguments } from "./arguments.js";
import { printingTo } from "./log.js";
import { NamedSources } from "./named-sources.js";
import { onOneLine } from "./rows.js";
import { StatusLine } from "./status-line.js";
import { usingSource } from "./using-source.js";

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const { source, tool } = partsOf(invocation);
  const sources = await NamedSources.read(invocation.value("config"), invocation.command);
  const config = sources.find(source);
  const scope = parseScope(invocation.values("scope"), invocation.command);
  const args = await readArguments(invocation.value("args"), terminal, invocation.command);
  const store = openStore(invocation.value("store"));
  const { signal } = terminal;
  const status = new StatusLine(terminal.errors, `connecting to ${source}`);
  const context: ToolContext = {
    signal,
    ...(scope !== undefined && { scope }),
    onProgress: (progress) => status.say(`${onOneLine(tool)}: ${progressText(progress)}`),
  };
  const onEvent = printingTo(status);
  try {
    const result = await usingSource(config, { store, signal, onEvent, errors: terminal.errors }, async (node) => {
      checkTool(tool, node);
      status.say(`calling ${onOneLine(tool)}`);
      return node.call(tool, args, context);
    });
    status.done();
    return await print(result, invocation, terminal);
  } finally {
    status.done();
  }
}

/** The name of a source has no dots. */
function partsOf({ operands: [name = ""], command }: Invocation): { readonly source: string; readonly tool: string } {
  const dot = name.indexOf(".");
  if (dot < 1 || dot === name.length - 1) {
    throw new UsageError(
      `${command} takes SOURCE.TOOL, for instance filesystem.read_media_file; \`sluice tools list\` lists them`,
      command,
    );
  }
  return { source: name.slice(0, dot), tool: name.slice(dot + 1) };
}

/** Throws a ToolClientError with the name that was probably meant, or where to look. */
function checkTool(tool: string, node: ToolNode): void {
  const names = node.getTools().map(({ name }) => name.slice(node.name.length + 1));
  if (names.includes(tool)) return;
  const meant = nearest(tool, names);
  const hint = meant === undefined ? "`sluice tools list` shows what it has" : `did you mean ${meant}?`;
  throw new ToolClientError(`the source ${node.name} has no tool ${JSON.stringify(tool.slice(0, 128))}; ${hint}`);
}

function progressText({ progress, total, message }: ToolProgress): string {
  const how = total === undefined ? String(progress) : `${progress} of ${total}`;
  return message === undefined ? how : `${how}, ${onOneLine(message.slice(0, 200))}`;
}

async function print(result: ToolResult, invocation: Invocation, { output, errors }: Terminal): Promise<number> {
  const { text, failures, isError } = result;
  await output.write(`${invocation.has("pretty") ? indent(text) : text.trimEnd()}\n`);
  if (failures.length > 0) await nameStore(errors, invocation.value("store"));
  return isError ? Exit.failure : exitCodeOfAnswer(failures);
}
