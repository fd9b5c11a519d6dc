/**
 * `sluice tools call`: calls a tool, and prints what a model would see of its result.
 *
 * The operands and options are in `../commands/sources.ts`.
 * @module
 */
import { isObject, nearest } from "../../errors/arguments.js";
import { readBounded, decodePieces } from "../../jsonrpc/bytes.js";
import type { ToolNode } from "../../tools-node.js";
import type { ToolResult } from "../../tools/result.js";
import type { ToolContext, ToolProgress } from "../../tools/context.js";
import { ToolClientError } from "../../tools/errors.js";
import type { Invocation } from "../command.js";
import { notJson } from "../configuration.js";
import { Exit, exitCodeOfAnswer, UsageError } from "../exit.js";
import { openInput } from "../terminal/input.js";
import { indent } from "../terminal/json.js";
import { StatusLine } from "../terminal/progress.js";
import { nameStore } from "../terminal/report.js";
import { parseScope } from "../store/scope.js";
import { openStore } from "../store/store.js";
import { fileName, onOneLine, type Terminal } from "../terminal/terminal.js";
import { readSource } from "./named-sources.js";
import { printingTo, usingSource } from "./source-connection.js";

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const { source, tool } = splitToolName(invocation);
  const config = await readSource(source, invocation);
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
    const result = await usingSource(config, { store, terminal, onEvent }, async (node) => {
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

/** Splits SOURCE.TOOL. The name of a source has no dots. */
function splitToolName({ operands: [name = ""], command }: Invocation): {
  readonly source: string;
  readonly tool: string;
} {
  const dot = name.indexOf(".");
  if (dot < 1 || dot === name.length - 1) {
    throw new UsageError(
      `${command} takes SOURCE.TOOL, for instance filesystem.read_media_file; \`sluice tools list\` lists the tools`,
      command,
    );
  }
  return { source: name.slice(0, dot), tool: name.slice(dot + 1) };
}

/** Throws ToolClientError for an unknown tool, with the name that was probably meant. */
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

/** Largest arguments, in bytes. No server accepts larger ones. */
const MAX_BYTES = 64 * 1024 * 1024;

type ToolArguments = Readonly<Record<string, unknown>>;

/**
 * Reads the value of `--args`: a JSON object, `@FILE`, or `-` for standard input.
 *
 * @throws UsageError if it is no JSON object or too large; CommandError 66 if the file cannot be read.
 */
async function readArguments(written: string | undefined, terminal: Terminal, command: string): Promise<ToolArguments> {
  if (written === undefined) return {};
  const file = written === "-" ? written : written.startsWith("@") ? written.slice(1) : undefined;
  if (file === "") throw new UsageError("--args @FILE needs the name of a file", command);
  const text = file === undefined ? written : await readText(file, terminal, command);
  const where = file === undefined ? "--args" : file === "-" ? "standard input" : fileName(file);
  return objectIn(text, where, command);
}

async function readText(file: string, terminal: Terminal, command: string): Promise<string> {
  const { chunks } = await openInput(file, terminal);
  const bytes = await readBounded(chunks, MAX_BYTES);
  if (bytes === undefined) throw new UsageError(`--args takes ${MAX_BYTES / 1024 / 1024} MiB at most`, command);
  return decodePieces([bytes]);
}

async function objectIn(text: string, where: string, command: string): Promise<ToolArguments> {
  const example = `--args '{"path": "a.png"}'`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const what = text.trim() === "" ? "is empty" : await notJson(text);
    throw new UsageError(`${where} ${what}; arguments must be a JSON object, for instance ${example}`, command);
  }
  if (isObject(value)) return value;
  throw new UsageError(`${where} must be a JSON object, for instance ${example}`, command);
}
