/**
 * All commands with their operands, options and examples: an option is added in the file of its command. Parsing, `--help` and
 * completion use this table; `load` names the module that runs the command and reads what was given from its `Invocation`.
 * @module
 */
import type { CommandSpec } from "../command.js";
import { ARTIFACT_COMMANDS, STORE_COMMANDS } from "./artifacts.js";
import { FILE_COMMANDS } from "./files.js";
import { INSTALL_COMMANDS } from "./install.js";
import { JSON_OUT } from "./options.js";
import { RESULT_COMMANDS } from "./results.js";
import { RUN_COMMAND, SERVE_COMMAND } from "./serve.js";
import { RESOURCE_COMMANDS, TOOL_COMMANDS } from "./sources.js";

export const COMMANDS: readonly CommandSpec[] = [
  ...RESULT_COMMANDS,
  ...INSTALL_COMMANDS,
  SERVE_COMMAND,
  RUN_COMMAND,
  ...TOOL_COMMANDS,
  ...RESOURCE_COMMANDS,
  ...ARTIFACT_COMMANDS,
  ...STORE_COMMANDS,
  ...FILE_COMMANDS,
  {
    name: "sniff",
    summary: "recognise the type of a file from its bytes",
    operands: "[FILE…]",
    maxOperands: Number.POSITIVE_INFINITY,
    about: ["Looks at the bytes, not at the name. Reads standard input if no FILE is given."],
    options: [{ ...JSON_OUT, help: "print an array of {file, mime_type, extension, description}" }],
    examples: [
      ["sluice sniff download", "download: PNG image, 640 × 480, 1.0 MB (image/png)"],
      ["curl -s https://example.org/x | sluice sniff --json", "from a pipe"],
    ],
    load: async () => (await import("../sniff.js")).run,
  },
  {
    name: "completion",
    summary: "print a completion script for your shell",
    operands: "bash|zsh|fish",
    choices: ["bash", "zsh", "fish"],
    minOperands: 1,
    maxOperands: 1,
    about: ["Completes commands, options, their values and files while you type."],
    options: [],
    examples: [
      ["sluice completion bash > ~/.local/share/bash-completion/completions/sluice", "for bash"],
      ["sluice completion zsh > ~/.zfunc/_sluice", "for zsh: any folder in fpath before compinit is called"],
      ["sluice completion fish > ~/.config/fish/completions/sluice.fish", "for fish"],
    ],
    load: async () => {
      const { run } = await import("../completion.js");
      return (invocation, terminal) => run(COMMANDS, invocation, terminal);
    },
  },
  {
    name: "config",
    summary: "list every configuration key with its effect",
    operands: "",
    maxOperands: 0,
    about: [
      "Prints paragraphs on a terminal, tab-separated lines in a pipe (key, type, default as JSON, effect), and with --json the JSON Schema of a configuration file.",
    ],
    options: [{ ...JSON_OUT, help: "print the JSON Schema (draft 2020-12)" }],
    examples: [
      ["sluice config", "every key"],
      ["sluice config --json > config.schema.json", "for an editor that checks configuration files"],
    ],
    load: async () => (await import("../config.js")).run,
  },
];

/** The commands whose name begins with `group`, e.g. the verbs of `artifacts`. */
export function listVerbs(group: string): readonly CommandSpec[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${group} `));
}
