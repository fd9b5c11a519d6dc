/**
 * Parses a command line by the table in `commands/commands.ts`.
 * @module
 */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { COMMANDS, listVerbs } from "./commands/commands.js";
import { GLOBAL_OPTIONS, type CommandSpec, type Invocation, type OptionSpec } from "./command.js";
import { UsageError } from "./exit.js";
import { alternatives, nearest } from "../errors/arguments.js";

/** What a command line asks for. `topic` is a command, a group of commands, or empty for the program. */
export type Request =
  | { readonly kind: "run"; readonly spec: CommandSpec; readonly invocation: Invocation }
  | { readonly kind: "help"; readonly topic: string }
  | { readonly kind: "version" };

/** Parses the arguments after the program's name. Throws UsageError. */
export function parse(argv: readonly string[]): Request {
  const [first = "--help", ...rest] = argv;
  if (first === "--version" || first === "-V") return { kind: "version" };
  if (first === "--help" || first === "-h") return { kind: "help", topic: "" };
  if (first === "help") return helpRequest(rest);
  if (first.startsWith("-")) throw new UsageError(`options come after the command: sluice COMMAND ${first}`);
  const { spec, args } = findCommand(first, rest);
  return spec === undefined ? { kind: "help", topic: first } : parseOptions(spec, args);
}

function topWords(): string[] {
  return [...new Set(COMMANDS.map(({ name }) => name.split(" ", 1)[0] ?? name))];
}

function helpRequest(words: readonly string[]): Request {
  const topic = words.join(" ");
  const known = topic === "" || topWords().includes(topic) || COMMANDS.some(({ name }) => name === topic);
  if (!known) throw unknownWord("there is no command", topic, [...topWords(), ...COMMANDS.map(({ name }) => name)], "");
  return { kind: "help", topic };
}

/** The command that a line names; undefined for a group with `--help` and no verb. */
function findCommand(
  first: string,
  rest: readonly string[],
): { spec: CommandSpec | undefined; args: readonly string[] } {
  const verbs = listVerbs(first);
  if (verbs.length === 0) {
    const spec = COMMANDS.find(({ name }) => name === first);
    if (spec === undefined) throw unknownWord("there is no command", first, topWords(), "");
    return { spec, args: rest };
  }
  const words = verbs.map(({ name }) => name.slice(first.length + 1));
  const place = verbPlace(
    rest,
    verbs.flatMap(({ options }) => options),
  );
  const verb = place === undefined ? undefined : rest[place];
  if (place === undefined || verb === undefined) {
    if (rest.includes("--help") || rest.includes("-h")) return { spec: undefined, args: rest };
    throw new UsageError(`${first} needs a command: ${words.join(", ")}`, first);
  }
  const spec = verbs.find(({ name }) => name === `${first} ${verb}`);
  if (spec === undefined) throw unknownWord(`${first} has no command`, verb, words, first);
  return { spec, args: rest.filter((_, index) => index !== place) };
}

/** The index of the verb among the arguments. Options may come before it. */
function verbPlace(args: readonly string[], options: readonly OptionSpec[]): number | undefined {
  return parseTokens(args, options).find((token) => token.kind === "positional")?.index;
}

function unknownWord(what: string, word: string, known: readonly string[], command: string): UsageError {
  const meant = nearest(word, known);
  const hint = meant === undefined ? `use one of ${known.join(", ")}` : `did you mean ${meant}?`;
  return new UsageError(`${what} ${JSON.stringify(word)}; ${hint}`, command);
}

function parseTokens(args: readonly string[], options: readonly OptionSpec[]) {
  const config: NonNullable<ParseArgsConfig["options"]> = {};
  for (const { name, short, value } of [...GLOBAL_OPTIONS, ...options]) {
    config[name] = {
      type: value === undefined ? "boolean" : "string",
      multiple: true,
      ...(short !== undefined && { short }),
    };
  }
  return parseArgs({ args: [...args], options: config, strict: false, allowPositionals: true, tokens: true }).tokens;
}

function parseOptions(spec: CommandSpec, args: readonly string[]): Request {
  const given = new Map<string, string[]>();
  const operands: string[] = [];
  // If the command is optional, a word before `--` is more likely the value of a forgotten option.
  let isBehind = !spec.operands.startsWith("[--");
  for (const token of parseTokens(args, spec.options)) {
    if (token.kind === "option-terminator") isBehind = true;
    if (token.kind === "positional" && !isBehind) throw strayWord(spec, token.value);
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    if (token.name === "help") return { kind: "help", topic: spec.name };
    if (token.name === "version") return { kind: "version" };
    const option = spec.options.find(({ name }) => name === token.name);
    if (option === undefined) throw unknownOption(spec, token.rawName);
    const values = given.get(option.name) ?? [];
    if (values.length > 0 && option.multiple !== true)
      throw new UsageError(`${token.rawName} is given twice`, spec.name);
    given.set(option.name, [...values, checkValue(spec, option, token.rawName, token.value, token.inlineValue)]);
  }
  checkOperands(spec, operands);
  return { kind: "run", spec, invocation: invocation(spec.name, operands, given) };
}

function strayWord({ name, operands }: CommandSpec, word: string): UsageError {
  const usage = `sluice ${name} ${operands.replace(/[[\]]/g, "")}`;
  return new UsageError(`put the command after --, as in ${usage}; ${JSON.stringify(word)} comes before it`, name);
}

function unknownOption(spec: CommandSpec, written: string): UsageError {
  return new UsageError(`${spec.name} has no option ${written}${optionHint(spec, written)}`, spec.name);
}

/** What to write in place of an unknown option; empty if that is unknown. */
function optionHint(spec: CommandSpec, written: string): string {
  const other = spec.options.find(({ otherNames }) => otherNames?.includes(written) === true);
  if (other !== undefined) return `; use --${other.name} ${other.value ?? ""}`.trimEnd();
  const known = [...spec.options, ...GLOBAL_OPTIONS].map(({ name }) => `--${name}`);
  const meant = nearest(written, known);
  if (meant !== undefined) return `; did you mean ${meant}?`;
  if (spec.operands.startsWith("--")) return "; put options of the command after --";
  const group = listVerbs(spec.name.split(" ", 1)[0] ?? spec.name);
  const sibling = group.find(({ options }) => options.some(({ name }) => `--${name}` === written));
  return sibling === undefined ? "" : `; ${sibling.name} has it`;
}

/** The checked value; the empty string for a switch. */
function checkValue(
  spec: CommandSpec,
  option: OptionSpec,
  written: string,
  value: string | undefined,
  inline: boolean | undefined,
): string {
  if (option.value === undefined) {
    if (value !== undefined) throw new UsageError(`${written} takes no value`, spec.name);
    return "";
  }
  if (value === undefined || value === "")
    throw new UsageError(`${written} needs a value: ${written} ${option.value}`, spec.name);
  // `-50` is a range. Anything else with a dash is more likely the next option.
  if (inline !== true && /^-(?!\d*$)/.test(value)) {
    throw new UsageError(
      `${written} needs a value: ${written} ${option.value}; write a value that begins with a dash as ${written}=${value}`,
      spec.name,
    );
  }
  if (option.choices !== undefined && !option.choices.includes(value)) {
    throw new UsageError(`${written} must be ${alternatives(option.choices)}; got ${JSON.stringify(value)}`, spec.name);
  }
  return value;
}

function checkOperands(spec: CommandSpec, operands: readonly string[]): void {
  if (operands.length < (spec.minOperands ?? 0))
    throw new UsageError(`${spec.name} needs ${inWords(spec.operands)}`, spec.name);
  if (operands.length > spec.maxOperands) {
    const extra = operands.slice(spec.maxOperands).map((word) => JSON.stringify(word));
    const [word = "", ...others] = splitOperands(spec.operands);
    const takes = word === "" ? "no arguments" : others.length === 0 ? `one ${word}` : inWords(spec.operands);
    const remedy = spec.further ?? `leave out ${extra.join(", ")}`;
    throw new UsageError(`${spec.name} takes ${takes}; ${remedy}`, spec.name);
  }
  const stray = operands.find((word) => spec.choices?.includes(word) === false);
  if (stray !== undefined) throw unknownWord(`${spec.name} does not support`, stray, spec.choices ?? [], spec.name);
}

/** `NAME` and `NEW` of `[NAME NEW]`. */
function splitOperands(operands: string): readonly string[] {
  return operands
    .replace(/[[\]]/g, "")
    .split(" ")
    .filter((word) => word !== "");
}

/** `SOURCE URI` is "a SOURCE and a URI", `ID…` is "one or more IDs", `bash|zsh` is "one of bash, zsh". */
function inWords(operands: string): string {
  return splitOperands(operands)
    .map((word) => {
      if (word.endsWith("…")) return `one or more ${word.slice(0, -1)}s`;
      if (word.includes("|")) return `one of ${word.replaceAll("|", ", ")}`;
      return `${/^[AEIO]/.test(word) ? "an" : "a"} ${word}`;
    })
    .join(" and ");
}

function invocation(
  command: string,
  operands: readonly string[],
  given: ReadonlyMap<string, readonly string[]>,
): Invocation {
  return {
    command,
    operands,
    value: (name) => given.get(name)?.[0],
    values: (name) => given.get(name) ?? [],
    has: (name) => given.has(name),
  };
}
