/**
 * A tool's arguments as words of its commands: a value is one word, or a part of one, and never an option.
 *
 * Strings stand as they are, numbers and booleans as JSON writes them, objects as JSON. An array in place of a whole word
 * is a word for each item, inside a word it is JSON. What is missing has the default of its schema, or is refused.
 * @module
 */
import { ToolClientError } from "../../errors.js";
import type { JsonSchema } from "../../source.js";
import { asText, missingArgument, propertyOf, unknownArgument } from "../arguments.js";
import { isObject } from "../utcp/document.js";
import type { ArgumentStyle } from "./tools.js";

/** What is put into commands. */
export interface Values {
  readonly args: Readonly<Record<string, unknown>>;
  /** The tool's, for names and defaults. */
  readonly schema: JsonSchema;
  /** What the commands before printed, without line breaks at the end. */
  readonly outputs: readonly string[];
  /** Puts values in place of variables; it is given words of the template alone. */
  readonly fill: (text: string) => string;
  /** Begins the sentences of errors. */
  readonly subject: string;
}

/** Bytes of one word; more is refused by Linux. */
const MAX_WORD = 131_071;
/** Bytes of all of them. */
const MAX_WORDS = 1024 * 1024;
const OPEN = /UTCP_ARG_([A-Za-z0-9_]+?)_UTCP_END|\$\{CMD_(\d+)_OUTPUT\}|\$CMD_(\d+)_OUTPUT/g;
const ALONE = new RegExp(`^(?:${OPEN.source})$`);
const LEADING = new RegExp(`^(?:${OPEN.source})`);
/** Names that may become options. */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/**
 * The words of one command.
 *
 * @throws ToolClientError for arguments that are missing, unknown, too long, or that the program would take for options.
 */
export function wordsWith(words: readonly string[], style: ArgumentStyle, values: Values): readonly string[] {
  const all = style === "placeholders" ? placed(words, values) : [...words.map(values.fill), ...added(style, values)];
  const encoder = new TextEncoder();
  const sizes = all.map((word) => encoder.encode(word).length);
  if (sizes.some((size) => size > MAX_WORD) || sizes.reduce((sum, size) => sum + size, 0) > MAX_WORDS) {
    throw new ToolClientError(
      `${values.subject} was given an argument that is too long for a command: give a file's name.`,
    );
  }
  if (all.some((word) => word.includes("\0"))) {
    throw new ToolClientError(`${values.subject} was given a NUL character, which no command takes: leave it out.`);
  }
  return all;
}

function placed(words: readonly string[], values: Values): readonly string[] {
  const end = words.indexOf("--");
  return words.flatMap((word, at) => {
    const mayBeOption = end >= 0 && end < at;
    const single = ALONE.exec(word);
    const value = single === null ? undefined : valueOf(single, values);
    const made = Array.isArray(value) ? (value as unknown[]) : [single === null ? filled(word, values) : value];
    if (!mayBeOption && LEADING.test(word)) made.forEach((one) => refuseOption(one, values.subject));
    return made.map(asText);
  });
}

/** Everything in one pass: what a value holds is not looked at again. */
function filled(word: string, values: Values): string {
  let text = "";
  let from = 0;
  for (const match of word.matchAll(OPEN)) {
    text += values.fill(word.slice(from, match.index)) + asText(valueOf(match, values));
    from = match.index + match[0].length;
  }
  return text + values.fill(word.slice(from));
}

function valueOf([, name, braced, bare]: readonly (string | undefined)[], values: Values): unknown {
  if (name === undefined) return values.outputs[Number(braced ?? bare)] ?? "";
  const given = Object.hasOwn(values.args, name) ? values.args[name] : undefined;
  const value = given ?? propertyOf(values.schema, name)?.["default"];
  if (value !== undefined && value !== null) return value;
  throw missingArgument(name, values.schema, values.subject);
}

function added(style: ArgumentStyle, { args, schema, subject }: Values): readonly string[] {
  if (style === "words") {
    const words = args["args"] ?? [];
    if (Array.isArray(words) && words.every((word) => typeof word === "string")) return words;
    throw new ToolClientError(`${subject} takes its arguments as "args", an array of strings.`);
  }
  return Object.entries(args).flatMap(([name, value]) => {
    if (!isKnown(schema, name)) throw unknownArgument(name, schema, subject);
    return flags(name, value);
  });
}

/** `--name value`; `--name` for true; once for each item; in one word where the value would look like an option. */
function flags(name: string, value: unknown): readonly string[] {
  if (value === undefined || value === null || value === false) return [];
  if (value === true) return [`--${name}`];
  return (Array.isArray(value) ? (value as unknown[]) : [value]).flatMap((one) => {
    const text = asText(one);
    return text.startsWith("-") ? [`--${name}=${text}`] : [`--${name}`, text];
  });
}

function isKnown(schema: JsonSchema, name: string): boolean {
  if (!NAME.test(name)) return false;
  const others = schema["additionalProperties"];
  return propertyOf(schema, name) !== undefined || others === true || isObject(others);
}

// A negative number is what it is; a text that begins like an option may be one.
function refuseOption(value: unknown, subject: string): void {
  if (typeof value === "number" || !asText(value).startsWith("-")) return;
  throw new ToolClientError(
    `${subject} was given an argument that begins with "-", which its command would take for an option: write ./ before a file's name, or let the template have "--" in front of it.`,
  );
}
