/**
 * From a connection string to commands: a UTCP manual with `cli` call templates, as text, in a file, or printed by a
 * command; or a command alone.
 * @module
 */
import { readFile, stat } from "node:fs/promises";
import { quoted, subjectOf } from "../../adapting/place.js";
import { ToolConnectionError } from "../../errors.js";
import { wrong } from "../../problem.js";
import type { SourceTerms } from "../terms.js";
import {
  boundedText,
  isObject,
  kindOf,
  MAX_DOCUMENT,
  parsedDocument,
  tooLarge,
  type Document,
} from "../utcp/document.js";
import { manualTools } from "../utcp/manual.js";
import { isProgram, programName } from "./program.js";
import { CommandRun, environment, type Running } from "./run.js";
import { bareTool, commandTool, type CommandTool } from "./template.js";
import { wordsOf } from "./words.js";

const INLINE = /^\s*\{|^\s*(?:utcp_version|manual_version|tools|call_template_type|commands)\s*:.*\n/;
const FILE = /\.(?:json|ya?ml)$/i;

/**
 * Finds a source's commands. A command is run to find out more only where `utcp_mode` is `manual_url`.
 *
 * @throws ToolNodeError E_TOOL_CONFIG where there is no manual that can be read, what `wordsOf` throws for its commands;
 * ToolConnectionError where a command's own program is not there.
 */
export async function discovered(
  terms: SourceTerms,
  running: Pick<Running, "signal" | "processes">,
): Promise<readonly CommandTool[]> {
  const { name, connection, utcp_mode: mode = "auto" } = terms;
  const subject = subjectOf({ source: name });
  if (INLINE.test(connection)) return toolsOf(await parsedDocument(connection, subject), name, subject);
  const words = wordsOf(connection, subject);
  const [first = ""] = words;
  if (mode !== "base_url" && words.length === 1 && FILE.test(first)) {
    return toolsOf(await parsedDocument(await readText(first, subject), subject), name, subject);
  }
  const env = environment(null, terms.env ?? {});
  if (!(await isProgram(first, env))) throw noProgram(first, subject);
  if (mode !== "manual_url") return [bareTool(words)];
  const run = new CommandRun([{ words: () => words, isShown: true }], { ...running, env, folder: null, subject });
  return toolsOf(await parsedDocument(await printed(run, subject), subject), name, subject);
}

function toolsOf(document: Document | undefined, source: string, subject: string): readonly CommandTool[] {
  if (document !== undefined && kindOf(document) === "manual") {
    return manualTools(document, ["cli"], source, subject).map(commandTool);
  }
  if (document?.["call_template_type"] !== "cli") {
    throw wrong(`${subject} has no UTCP manual: its connection must be one, a file of one, or a command.`);
  }
  return [single(document, source)];
}

function noProgram(program: string, subject: string): ToolConnectionError {
  const remedy = "install it, or put its folder on the PATH of the source's environment";
  const sentence = `${subject} cannot be started: there is no program ${quoted(programName(program))} that may be run: ${remedy}.`;
  return new ToolConnectionError(sentence, { neverSent: true, category: "non_retryable" });
}

/** A call template without a manual around it. */
function single(template: Document, source: string): CommandTool {
  const { name: written, description, inputs } = template;
  const name = typeof written === "string" && written !== "" ? written.slice(0, 128) : "run";
  return commandTool({
    name,
    description: typeof description === "string" ? description : "",
    inputs: isObject(inputs) ? inputs : {},
    outputs: null,
    template,
    at: "",
    subject: subjectOf({ source, tool: name }),
  });
}

async function readText(path: string, subject: string): Promise<string> {
  try {
    if ((await stat(path)).size > MAX_DOCUMENT) throw tooLarge(subject);
    return await readFile(path, "utf8");
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).syscall !== "string") throw error;
    // Where the file is, is nobody's business but its owner's.
    throw wrong(`${subject} has a file of a manual that cannot be read: check its path and permissions.`);
  }
}

async function printed(run: CommandRun, subject: string): Promise<string> {
  const text = await boundedText(run.output());
  if (text === undefined) throw tooLarge(subject);
  if (!run.isSuccess) throw wrong(`${subject} has a command that fails to print a manual: run it by hand to see why.`);
  return text;
}
