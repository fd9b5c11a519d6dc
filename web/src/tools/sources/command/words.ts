/**
 * Commands as lists of words: split once, before any value is put into them, and never given to a shell.
 * @module
 */
import { wordsIn } from "../../config/connection.js";
import { unsupported, wrong } from "../../problem.js";

const MAX_WORDS = 1000;
/** What only a shell understands, as a word of its own. */
const OPERATOR = /^(?:[|&;]+|\d?(?:>{1,2}|<{1,3})(?:&\d)?)$/;
const SUBSTITUTION = /\$\(/;
/** What a word may hold in place of values. */
const OPEN = /UTCP_ARG_[A-Za-z0-9_]+?_UTCP_END|\$\{?CMD_\d+_OUTPUT\}?/;
/** Programs that run what a word says, and the options in front of such a word. */
const INTERPRETER =
  /^(?:(?:ba|da|z|k|a|c|tc|fi)?sh|busybox|cmd|powershell|pwsh|node|nodejs|deno|bun|python[\d.]*|perl|ruby|php|lua|osascript|awk|gawk|eval|ssh)(?:\.exe)?$/i;
const CODE = /^(?:-[a-z]*[cepr]|--(?:eval|print|command|execute)|-(?:Encoded)?Command|\/[ckr])$/i;
/** Programs whose first word is code. */
const CODE_FIRST = /^(?:awk|gawk|eval|ssh)$/i;

/**
 * A command's words: split at white space, quotes keep together, a backslash is itself.
 *
 * @param subject begins the sentences of errors.
 * @throws ToolNodeError E_TOOL_CONFIG for what is no command; E_TOOL_UNSUPPORTED for what only a shell could do, and
 * where a value would become a program, or a part of one.
 */
export function wordsOf(command: string, subject: string): readonly string[] {
  const words = wordsIn(command.trim());
  if (words === undefined) throw wrong(`${subject} has a command with a quote that is not closed.`);
  if (command.includes("\0")) throw wrong(`${subject} has a command with a NUL character.`);
  if (words.length === 0) throw wrong(`${subject} has an empty command.`);
  if (words.length > MAX_WORDS) throw wrong(`${subject} has a command of more than ${MAX_WORDS} words.`);
  if (words.some((word) => OPERATOR.test(word) || SUBSTITUTION.test(word))) {
    throw unsupported(
      `${subject} has a command with pipes, redirections or "$(…)", which only a shell understands: put it into a script, and name that.`,
    );
  }
  if (OPEN.test(words[0] as string)) throw unsupported(`${subject} lets an argument choose its program: name one.`);
  if (words.some((word, at) => OPEN.test(word) && isCode(words, at))) {
    throw unsupported(
      `${subject} puts an argument into code that an interpreter runs: put the code into a script, and give it the argument.`,
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
