/**
 * `sluice completion`: scripts that let a shell complete commands, options and their values, written from the table of commands.
 *
 * The operands and options are in `commands/commands.ts`.
 * @module
 */
import { GLOBAL_OPTIONS, type CommandSpec, type Invocation, type OptionSpec } from "./command.js";
import { Exit } from "./exit.js";
import type { Terminal } from "./terminal/terminal.js";

/** A word after `sluice`: a command, or a group of commands. */
interface TopWord {
  readonly word: string;
  readonly summary: string;
  /** The command, or those of the group. */
  readonly specs: readonly CommandSpec[];
  readonly isGroup: boolean;
}

const SHELLS: Readonly<Record<string, (words: readonly TopWord[]) => string>> = { bash, zsh, fish };

/** Prints the script that completes these commands in a shell. */
export async function run(
  commands: readonly CommandSpec[],
  { operands: [shell = ""] }: Invocation,
  { output }: Terminal,
): Promise<number> {
  await output.write(SHELLS[shell]?.(topWords(commands)) ?? "");
  return Exit.ok;
}

function topWords(commands: readonly CommandSpec[]): readonly TopWord[] {
  const words = new Set(commands.map(({ name }) => firstWord(name)));
  return [...words].map((word) => {
    const verbs = commands.filter(({ name }) => name.startsWith(`${word} `));
    const isGroup = verbs.length > 0;
    const specs = isGroup ? verbs : commands.filter(({ name }) => name === word);
    return { word, summary: isGroup ? verbs.map(getVerb).join(", ") : (specs[0]?.summary ?? ""), specs, isGroup };
  });
}

const firstWord = (name: string): string => name.split(" ", 1)[0] ?? name;
const getVerb = ({ name }: CommandSpec): string => name.split(" ")[1] ?? "";
const listOptions = ({ options }: CommandSpec): readonly OptionSpec[] => [...options, ...GLOBAL_OPTIONS.slice(0, 1)];

/** What completes an option's value, or an operand. */
function detectKind(value: string): "files" | "folders" | "none" {
  if (/FILE/.test(value)) return "files";
  return /\bDIR\b/.test(value) ? "folders" : "none";
}

/** A text as one word of a shell. */
const quoteWord = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

function bash(words: readonly TopWord[]): string {
  const cases = words.flatMap(({ word, specs }) =>
    specs.map((spec) => `    ${quoteWord(`${word} ${getVerb(spec)}`)}) ${bashCommand(spec)} ;;`),
  );
  const verbs = words
    .filter(({ isGroup }) => isGroup)
    .map(
      ({ word, specs }) =>
        `    ${word}) if ((at == 2)); then words=${quoteWord(specs.map(getVerb).join(" "))}; else verb=\${COMP_WORDS[2]}; fi ;;`,
    );
  return `# For bash: source <(sluice completion bash)
_sluice() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} at=$COMP_CWORD
  local words='' options='' operand='' choices='' verb='' i
  COMPREPLY=()
  # Behind -- stands another program.
  for ((i = 1; i < at; i++)); do
    if [[ \${COMP_WORDS[i]} == -- ]]; then COMPREPLY=($(compgen -c -f -- "$cur")); return; fi
  done
  if ((at == 1)); then words=${quoteWord(words.map(({ word }) => word).join(" "))}; fi
  case \${COMP_WORDS[1]} in
${verbs.join("\n")}
  esac
  if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); return; fi
  case "\${COMP_WORDS[1]} $verb" in
${cases.join("\n")}
    *) return ;;
  esac
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$cur")); return; fi
  if [[ -n $choices ]]; then COMPREPLY=($(compgen -W "$choices" -- "$cur")); fi
  if [[ $operand == files ]]; then compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); fi
}
complete -F _sluice sluice
`;
}

function bashCommand(spec: CommandSpec): string {
  const values = listOptions(spec).flatMap((option) => {
    if (option.value === undefined) return [];
    const names = [`--${option.name}`, ...(option.short === undefined ? [] : [`-${option.short}`])].join(" | ");
    const kind = detectKind(option.value);
    const filenames = "compopt -o filenames 2>/dev/null; ";
    const gives =
      option.choices !== undefined
        ? `COMPREPLY=($(compgen -W ${quoteWord(option.choices.join(" "))} -- "$cur")); `
        : kind === "none"
          ? ""
          : `${filenames}COMPREPLY=($(compgen ${kind === "files" ? "-f" : "-d"} -- "$cur")); `;
    return [`${names}) ${gives}return ;;`];
  });
  const options = listOptions(spec).map(({ name }) => `--${name}`);
  const { choices = [] } = spec;
  const cases = values.length === 0 ? "" : `case $prev in ${values.join(" ")} esac; `;
  return `${cases}options=${quoteWord(options.join(" "))}; operand=${detectKind(spec.operands)}; choices=${quoteWord(choices.join(" "))}`;
}

function zsh(words: readonly TopWord[]): string {
  const cases = words.map(({ word, specs, isGroup }) => {
    if (!isGroup) return `    ${word}) ${specs.map(zshArguments).join("")} ;;`;
    const listed = specs.map((spec) => quoteWord(`${getVerb(spec)}:${spec.summary}`)).join(" ");
    const each = specs.map((spec) => `        ${getVerb(spec)}) ${zshArguments(spec)} ;;`).join("\n");
    return `    ${word})
      if (( CURRENT == 2 )); then words_of=(${listed}); _describe verb words_of; return; fi
      shift words; (( CURRENT-- ))
      case $words[1] in
${each}
      esac ;;`;
  });
  const listed = words.map(({ word, summary }) => quoteWord(`${word}:${summary}`));
  return `#compdef sluice
# For zsh: sluice completion zsh > a folder of $fpath, as _sluice; or source <(sluice completion zsh)
_sluice() {
  local -a words_of
  # Behind -- stands another program.
  if (( \${words[(I)--]} && \${words[(I)--]} < CURRENT )); then
    shift "\${words[(I)--]}" words; (( CURRENT = \${#words} )); _normal; return
  fi
  if (( CURRENT == 2 )); then words_of=(${listed.join(" ")}); _describe command words_of; return; fi
  shift words; (( CURRENT-- ))
  case $words[1] in
${cases.join("\n")}
  esac
}
# Loaded from a folder of $fpath this file is the function itself.
if [[ $funcstack[1] == _sluice ]]; then _sluice "$@"; else compdef _sluice sluice; fi
`;
}

function zshArguments(spec: CommandSpec): string {
  const options = listOptions(spec).map(({ name, value, multiple, choices, help }) => {
    const shown = `${multiple === true ? "*" : ""}--${name}[${escapeForZsh(help)}]`;
    if (value === undefined) return quoteWord(shown);
    const action =
      choices !== undefined
        ? `(${choices.join(" ")})`
        : { files: "_files", folders: "_directories", none: " " }[detectKind(value)];
    return quoteWord(`${shown}:${escapeForZsh(value)}:${action}`);
  });
  const { choices, maxOperands } = spec;
  const files = detectKind(spec.operands) === "files" ? [quoteWord("*:file:_files")] : [];
  const place = maxOperands === 1 ? "1" : "*";
  const operands =
    choices === undefined ? files : [quoteWord(`${place}:${escapeForZsh(spec.operands)}:(${choices.join(" ")})`)];
  return ["_arguments", ...options, ...operands].join(" ");
}

/** Brackets and colons end a description. */
const escapeForZsh = (text: string): string => text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);

function fish(words: readonly TopWord[]): string {
  const lines = words.flatMap(({ word, summary, specs, isGroup }) => {
    const first = [`complete -c sluice -n '__fish_use_subcommand' -a ${word} -d ${quoteForFish(summary)}`];
    const seen = `__fish_seen_subcommand_from ${word}`;
    if (!isGroup) return [...first, ...specs.flatMap((spec) => fishOptions(spec, seen))];
    const names = specs.map(getVerb).join(" ");
    return [
      ...first,
      ...specs.map(
        (spec) =>
          `complete -c sluice -n '${seen}; and not __fish_seen_subcommand_from ${names}' -a ${getVerb(spec)} -d ${quoteForFish(spec.summary)}`,
      ),
      ...specs.flatMap((spec) => fishOptions(spec, `${seen}; and __fish_seen_subcommand_from ${getVerb(spec)}`)),
    ];
  });
  return `# For fish: sluice completion fish > ~/.config/fish/completions/sluice.fish\ncomplete -c sluice -f\n${lines.join("\n")}\n`;
}

function fishOptions(spec: CommandSpec, when: string): string[] {
  const lines = listOptions(spec).map(({ name, short, value, choices, help }) => {
    const named = `complete -c sluice -n '${when}' -l ${name}${short === undefined ? "" : ` -s ${short}`}`;
    const given =
      value === undefined
        ? ""
        : choices !== undefined
          ? ` -x -a ${quoteForFish(choices.join(" "))}`
          : { files: " -r -F", folders: " -x -a '(__fish_complete_directories)'", none: " -x" }[detectKind(value)];
    return `${named}${given} -d ${quoteForFish(help)}`;
  });
  const { choices } = spec;
  if (choices !== undefined) {
    return [...lines, `complete -c sluice -n '${when}' -a ${quoteForFish(choices.join(" "))}`];
  }
  return detectKind(spec.operands) === "files" ? [...lines, `complete -c sluice -n '${when}' -F`] : lines;
}

/** In single quotes fish knows two escapes. */
const quoteForFish = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
