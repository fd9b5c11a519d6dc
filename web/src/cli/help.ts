/**
 * `--help`, written from the table of commands.
 * @module
 */
import { COMMANDS, listVerbs } from "./commands/commands.js";
import { GLOBAL_OPTIONS, type CommandSpec, type OptionSpec } from "./command.js";
import { EXIT_MEANINGS } from "./exit.js";
import { textWidth, wrap, type Output } from "./terminal/terminal.js";

const ABOUT =
  "Sluice keeps the bytes of MCP tool results out of a model's context: they go to an artifact store, and the model gets a compact reference and a sentence that says what it is.";
const STORE_FOLDER =
  "Without --store, artifacts are kept in $XDG_CACHE_HOME/sluice or ~/.cache/sluice, on macOS in ~/Library/Caches/sluice, on Windows in %LOCALAPPDATA%\\sluice.";

/** Help for the whole program. */
export function programHelp(output: Output): string {
  const names = COMMANDS.map((command): Row => [`${command.name} ${command.operands}`.trim(), command.summary]);
  return sections(output, [
    ["", [...wrap(ABOUT, textWidth(output)), "", "Usage: sluice COMMAND [options]"]],
    ["Commands", rows(names, output)],
    ["Options", rows(GLOBAL_OPTIONS.map(optionRow), output)],
    [
      "Examples",
      [
        "  sluice transform result.json --pretty        what a model would see of a result",
        "  sluice artifacts list                        what is stored",
        "  sluice artifacts get ID -o report.pdf        the bytes",
        "  sluice COMMAND --help                        more about a command",
      ],
    ],
    ["Exit codes", rows(exitRows(), output)],
    ["The store", wrap(STORE_FOLDER, textWidth(output) - 2).map((line) => `  ${line}`)],
  ]);
}

/** Help for `artifacts` without a verb. */
export function groupHelp(group: string, output: Output): string {
  const names = listVerbs(group).map((command): Row => [`${command.name} ${command.operands}`.trim(), command.summary]);
  return sections(output, [
    ["", [`Usage: sluice ${group} COMMAND [options]`]],
    ["Commands", rows(names, output)],
    ["", [`  sluice ${group} COMMAND --help shows more about each.`]],
    ["The store", wrap(STORE_FOLDER, textWidth(output) - 2).map((line) => `  ${line}`)],
  ]);
}

/** Help for one command. */
export function commandHelp(command: CommandSpec, output: Output): string {
  // Options after `--` belong to another program.
  const { name, operands } = command;
  const words = /^\[?--/.test(operands) ? [name, "[options]", operands] : [name, operands, "[options]"];
  const usage = ["Usage: sluice", ...words].filter((word) => word !== "").join(" ");
  const about = command.about.flatMap((paragraph) => [...wrap(paragraph, textWidth(output)), ""]);
  const examples = command.examples.flatMap(([line, what]) => [`  $ ${line}`, `    ${output.dim(what)}`]);
  return sections(output, [
    ["", [usage, "", ...about.slice(0, -1)]],
    ["Options", rows([...command.options, ...GLOBAL_OPTIONS.slice(0, 1)].map(optionRow), output)],
    ["Examples", examples],
    ["Exit codes", rows(exitRows(), output)],
  ]);
}

type Row = readonly [left: string, right: string];

function exitRows(): Row[] {
  return EXIT_MEANINGS.map(([code, meaning]): Row => [String(code).padStart(3), meaning]);
}

function optionRow({ name, short, value, multiple, help }: OptionSpec): Row {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return [`${short === undefined ? "    " : `-${short}, `}${long}${multiple === true ? " …" : ""}`, help];
}

function sections(output: Output, parts: readonly (readonly [title: string, lines: readonly string[]])[]): string {
  return parts
    .map(([title, lines]) => `${title === "" ? "" : `${output.bold(title)}\n`}${lines.join("\n")}\n`)
    .join("\n");
}

function rows(pairs: readonly Row[], output: Output): string[] {
  const left = Math.min(34, Math.max(...pairs.map(([name]) => name.length)));
  return pairs.flatMap(([name, text]) => {
    const [first = "", ...more] = wrap(text, textWidth(output) - left - 4);
    return [`  ${name.padEnd(left)}  ${first}`, ...more.map((line) => " ".repeat(left + 4) + line)];
  });
}
