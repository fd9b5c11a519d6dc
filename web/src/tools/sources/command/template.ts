/**
 * UTCP's `cli` call template: `commands` of version 1.1, `command_name` of version 1.0.
 * @module
 */
import { z } from "zod";
import type { SourceTool } from "../../source.js";
import { inputSchema } from "../http/tool.js";
import type { Document } from "../utcp/document.js";
import { checked, type ManualTool, type Parser } from "../utcp/manual.js";
import { wordsOf } from "./words.js";

/** One command of a tool. */
export interface CommandStep {
  readonly words: readonly string[];
  /** Whether its output is a part of the tool's. */
  readonly isShown: boolean;
}

/** How arguments get into a command. */
export type ArgumentStyle =
  /** In place of `UTCP_ARG_name_UTCP_END`. */
  | "placeholders"
  /** Behind the command, as `--name value`. */
  | "flags"
  /** Behind the command, as the words of the argument `args`. */
  | "words";

/** How a tool is run. */
export interface CommandTemplate {
  readonly steps: readonly CommandStep[];
  readonly style: ArgumentStyle;
  /** May name variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables that are taken over from our environment; null: those that programs cannot do without. */
  readonly inherited: readonly string[] | null;
  /** That of this process where null. */
  readonly folder: string | null;
}

/** A tool and how it is run. */
export interface CommandTool extends SourceTool {
  readonly template: CommandTemplate;
}

const MAX_STEPS = 32;
const MAX_COMMAND = 32_768;
const MAX_VARIABLES = 200;

const command = z.string().min(1).max(MAX_COMMAND);
const step = z.object({ command, append_to_final_output: z.boolean().nullish() });
const schema = z.object({
  commands: z.array(step).min(1).max(MAX_STEPS).nullish(),
  command_name: command.nullish(),
  env_vars: z.record(z.string().min(1).max(256), z.string()).nullish(),
  inherit_env_vars: z.array(z.string()).max(MAX_VARIABLES).nullish(),
  working_dir: z.string().min(1).max(4096).nullish(),
});

/**
 * A tool of a manual as it is run.
 *
 * @throws ToolNodeError E_TOOL_CONFIG for a template that is none, what `wordsOf` throws for its commands.
 */
export function commandTool(tool: ManualTool): CommandTool {
  const { name, description, inputs, outputs, template, at, subject } = tool;
  return {
    name,
    description,
    input_schema: inputSchema(inputs),
    ...(outputs !== null && { output_schema: outputs }),
    // Nothing in a template says that running it again does no harm.
    isRepeatable: false,
    isReadOnly: false,
    template: commandTemplate(template, subject, at),
  };
}

/** A call template, held against what UTCP says of it. */
function commandTemplate(written: Document, subject: string, at: string): CommandTemplate {
  const place = at === "" ? "tool_call_template" : `${at}.tool_call_template`;
  const template = checked(schema as unknown as Parser, written, subject, place) as z.infer<typeof schema>;
  const { commands, command_name: single, env_vars: env, inherit_env_vars: inherited, working_dir: folder } = template;
  const rest = { env: env ?? {}, inherited: inherited ?? null, folder: folder ?? null };
  if (commands === null || commands === undefined) {
    const steps = [{ words: wordsOf(single ?? "", subject), isShown: true }];
    return { steps, style: "flags", ...rest };
  }
  const steps = commands.map(({ command: text, append_to_final_output: isShown }, index) => ({
    words: wordsOf(text, subject),
    isShown: isShown ?? index === commands.length - 1,
  }));
  return { steps, style: "placeholders", ...rest };
}

/** The one tool of a bare command, whose words the model gives. */
export function bareTool(words: readonly string[]): CommandTool {
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
