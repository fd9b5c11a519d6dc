/**
 * Discovers the tools of a command source: from a UTCP manual as text, in a file, or printed by a command, or from a
 * bare command.
 * @module
 */
import { readFile, stat } from "node:fs/promises";
import { z } from "zod";
import { wordsIn } from "../../config/connection.js";
import { quoteName, toSubject, ToolConnectionError, toUnsupportedError, wrong } from "../../errors.js";
import type { SourceTool } from "../../source-features.js";
import type { Found, SourceDeps } from "../document-source.js";
import { readBoundedText, type Document, detectKind, MAX_DOCUMENT, parseDocument, tooLarge } from "../utcp/document.js";
import { validate, type ManualTool, manualTools, nothingOffered, plainTool, typeRefusal } from "../utcp/manual.js";
import { CommandRun, environment, isProgram, programName, type Running } from "./run.js";
import { isObject } from "../../../errors/arguments.js";

const INLINE = /^\s*\{|^\s*(?:utcp_version|manual_version|tools|call_template_type|commands)\s*:.*\n/;
const FILE = /\.(?:json|ya?ml)$/i;

/**
 * Discovers a source's tools. Runs a command only if `utcp_mode` is `manual_url`.
 *
 * @throws ToolNodeError E_TOOL_CONFIG if there is no readable manual, and errors of `splitWords`; ToolConnectionError if
 *   the program does not exist.
 */
export async function discoverCommands(
  deps: SourceDeps,
  running: Pick<Running, "signal" | "processes">,
): Promise<FoundCommands> {
  const { name, connection, utcp_mode: mode = "auto" } = deps;
  const subject = toSubject({ source: name });
  if (INLINE.test(connection)) return findCommands(await parseDocument(connection, subject), deps, subject);
  const words = splitWords(connection, subject);
  const [first = ""] = words;
  if (mode !== "base_url" && words.length === 1 && FILE.test(first)) {
    return findCommands(await parseDocument(await readText(first, subject), subject), deps, subject);
  }
  const env = environment(null, deps.env ?? {});
  if (!(await isProgram(first, env))) throw noProgram(first, subject);
  if (mode !== "manual_url") return { tools: [bareTool(words)], leftOut: [] };
  const run = new CommandRun([{ words: () => words, isShown: true }], { ...running, env, folder: null, subject });
  return findCommands(await parseDocument(await readPrinted(run, subject), subject), deps, subject);
}

function findCommands(document: Document | undefined, deps: SourceDeps, subject: string): FoundCommands {
  const { name: source, allowed_communication_protocols: allowed = null } = deps;
  if (document !== undefined && detectKind(document) === "manual") {
    const rules = { allowed, byDefault: ["cli"], isOwn: true, runs: ["cli"], elsewhere: "commandsOnly" } as const;
    const { tools, leftOut } = manualTools(document, (type) => typeRefusal(type, rules), source, subject);
    if (tools.length === 0 && leftOut.length > 0) throw nothingOffered(subject, leftOut);
    return { tools: tools.map(commandTool), leftOut };
  }
  if (document?.["call_template_type"] !== "cli") {
    throw wrong(`${subject} has no UTCP manual: its connection must be a manual, a file with one, or a command.`);
  }
  return { tools: [singleTool(document, source)], leftOut: [] };
}

function noProgram(program: string, subject: string): ToolConnectionError {
  const remedy = "install it, or put its folder on the PATH of the source's environment";
  const sentence = `${subject} cannot be started: there is no executable program ${quoteName(programName(program))}: ${remedy}.`;
  return new ToolConnectionError(sentence, { neverSent: true, category: "non_retryable" });
}

/** A call template without a manual. */
function singleTool(template: Document, source: string): CommandTool {
  const { name: written, description, inputs } = template;
  const name = typeof written === "string" && written !== "" ? written.slice(0, 128) : "run";
  return commandTool({
    name,
    fullName: name,
    description: typeof description === "string" ? description : "",
    inputs: isObject(inputs) ? inputs : {},
    outputs: null,
    type: "cli",
    template,
    at: "",
    subject: toSubject({ source, tool: name }),
  });
}

async function readText(path: string, subject: string): Promise<string> {
  try {
    if ((await stat(path)).size > MAX_DOCUMENT) throw tooLarge(subject);
    return await readFile(path, "utf8");
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).syscall !== "string") throw error;
    // The path is not shown.
    throw wrong(`${subject} has a manual file that cannot be read: check its path and permissions.`);
  }
}

async function readPrinted(run: CommandRun, subject: string): Promise<string> {
  const text = await readBoundedText(run.output());
  if (text === undefined) throw tooLarge(subject);
  if (!run.isSuccess) throw wrong(`${subject} has a command that failed to print a manual: run it by hand to see why.`);
  return text;
}

/** One command of a tool. */
interface CommandStep {
  readonly words: readonly string[];
  /** Whether its output is part of the tool's. */
  readonly isShown: boolean;
}

/** How arguments get into a command. */
export type ArgumentStyle =
  /** In place of `UTCP_ARG_name_UTCP_END`. */
  | "placeholders"
  /** After the command, as `--name value`. */
  | "flags"
  /** After the command, as the words of the argument `args`. */
  | "words";

/** How a tool is run. */
interface CommandTemplate {
  readonly steps: readonly CommandStep[];
  readonly style: ArgumentStyle;
  /** May contain variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables to inherit. Null for those that programs need. */
  readonly inherited: readonly string[] | null;
  /** The working directory. Null for that of this process. */
  readonly folder: string | null;
}

/** A tool and how it is run. */
interface CommandTool extends SourceTool {
  readonly template: CommandTemplate;
}

/** The tools of a source. */
export type FoundCommands = Found<CommandTemplate>;

const MAX_STEPS = 32;
const MAX_COMMAND = 32_768;
const MAX_VARIABLES = 200;

const commandText = z.string().min(1).max(MAX_COMMAND);
const step = z.object({ command: commandText, append_to_final_output: z.boolean().nullish() });
const schema = z.object({
  commands: z.array(step).min(1).max(MAX_STEPS).nullish(),
  command_name: commandText.nullish(),
  env_vars: z.record(z.string().min(1).max(256), z.string()).nullish(),
  inherit_env_vars: z.array(z.string()).max(MAX_VARIABLES).nullish(),
  working_dir: z.string().min(1).max(4096).nullish(),
});

/**
 * Reads a tool of a manual.
 *
 * @throws ToolNodeError E_TOOL_CONFIG for an invalid template, and errors of `splitWords`.
 */
function commandTool(tool: ManualTool): CommandTool {
  const { template, at, subject } = tool;
  return { ...plainTool(tool), template: commandTemplate(template, subject, at) };
}

/** Checks a call template. */
function commandTemplate(written: Document, subject: string, at: string): CommandTemplate {
  const place = at === "" ? "tool_call_template" : `${at}.tool_call_template`;
  const template = validate(schema, written, subject, place);
  const { commands, command_name: single, env_vars: env, inherit_env_vars: inherited, working_dir: folder } = template;
  const rest = { env: env ?? {}, inherited: inherited ?? null, folder: folder ?? null };
  if (commands === null || commands === undefined) {
    const steps = [{ words: splitWords(single ?? "", subject), isShown: true }];
    return { steps, style: "flags", ...rest };
  }
  const steps = commands.map(({ command: text, append_to_final_output: isShown }, index) => ({
    words: splitWords(text, subject),
    isShown: isShown ?? index === commands.length - 1,
  }));
  return { steps, style: "placeholders", ...rest };
}

/** The tool of a bare command. The model gives its words. */
function bareTool(words: readonly string[]): CommandTool {
  const program = words[0]?.split(/[/\\]/).pop() ?? "";
  const items = { type: "array", items: { type: "string" }, description: "The command's arguments, one word each" };
  return {
    name: "run",
    description: `Runs ${program} with the given arguments, without a shell, and gives what it prints.`,
    input_schema: { type: "object", properties: { args: items }, additionalProperties: false },
    isRepeatable: false,
    isReadOnly: false,
    template: { steps: [{ words, isShown: true }], style: "words", env: {}, inherited: null, folder: null },
  };
}

const MAX_WORDS = 1000;
/** Shell operators. */
const OPERATOR = /^(?:[|&;]+|\d?(?:>{1,2}|<{1,3})(?:&\d)?)$/;
const SUBSTITUTION = /\$\(/;
/** Placeholders for values. */
const OPEN = /UTCP_ARG_[A-Za-z0-9_]+?_UTCP_END|\$\{?CMD_\d+_OUTPUT\}?/;
/** Programs that run code, and options before code. */
const INTERPRETER =
  /^(?:(?:ba|da|z|k|a|c|tc|fi)?sh|busybox|cmd|powershell|pwsh|node|nodejs|deno|bun|python[\d.]*|perl|ruby|php|lua|osascript|awk|gawk|eval|ssh)(?:\.exe)?$/i;
const CODE = /^(?:-[a-z]*[cepr]|--(?:eval|print|command|execute)|-(?:Encoded)?Command|\/[ckr])$/i;
/** Programs whose first word is code. */
const CODE_FIRST = /^(?:awk|gawk|eval|ssh)$/i;

/**
 * Splits a command at white space. Quotes keep text together; a backslash has no special meaning.
 *
 * @param subject the start of error messages.
 * @throws ToolNodeError E_TOOL_CONFIG for an invalid command; E_TOOL_UNSUPPORTED if it needs a shell, or if a value
 *   would become a program or code.
 */
export function splitWords(command: string, subject: string): readonly string[] {
  const words = wordsIn(command.trim());
  if (words === undefined) throw wrong(`${subject} has a command with a quote that is not closed.`);
  if (command.includes("\0")) throw wrong(`${subject} has a command with a NUL character.`);
  if (words.length === 0) throw wrong(`${subject} has an empty command.`);
  if (words.length > MAX_WORDS) throw wrong(`${subject} has a command of more than ${MAX_WORDS} words.`);
  if (words.some((word) => OPERATOR.test(word) || SUBSTITUTION.test(word))) {
    throw toUnsupportedError(
      `${subject} has a command with pipes, redirections or "$(…)", which only a shell understands: put it into a script and use that.`,
    );
  }
  if (OPEN.test(words[0] as string))
    throw toUnsupportedError(`${subject} lets an argument choose its program: name the program.`);
  if (words.some((word, at) => OPEN.test(word) && isCode(words, at))) {
    throw toUnsupportedError(
      `${subject} puts an argument into code that an interpreter runs: put the code into a script and pass the argument to it.`,
    );
  }
  return words;
}

function isCode(words: readonly string[], at: number): boolean {
  const before = words.slice(0, at);
  const program = before.findLastIndex((word) => INTERPRETER.test(word.split(/[/\\]/).pop() ?? ""));
  if (program < 0) return false;
  const name = words[program]?.split(/[/\\]/).pop() ?? "";
  return CODE.test(words[at - 1] as string) || (CODE_FIRST.test(name) && !before.slice(program + 1).some(isPlain));
}

function isPlain(word: string): boolean {
  return !word.startsWith("-");
}
