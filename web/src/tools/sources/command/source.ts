/**
 * Tools that are commands of this machine, for Node. Arguments become words of commands, and their output becomes the
 * result.
 * @module
 */
import { MAGIC } from "../../../core/sluice.js";
import type { Sluice, TransformOptions } from "../../../core/types.js";
import type { ServerProcess } from "../../../mcp/stdio/server-process.js";
import { adaptError } from "../../adapt-error.js";
import { getCredential } from "../../auth/credentials.js";
import { toSubject, ToolClientError } from "../../errors.js";
import type { OpenOptions, SourceCall, SourceConnection, SourceResult, ToolSource } from "../../source.js";
import type { JsonSchema } from "../../source-features.js";
import { block, gateBody, HeldBytes, textIn } from "../body.js";
import { through } from "../gated.js";
import {
  readArgument,
  asText,
  checkArguments,
  type Discover,
  DocumentConnection,
  documentVariables,
  fillDocument,
  fillPlaceholders,
  getProperty,
  type SourceDeps,
  unknownArgument,
} from "../document-source.js";
import { CommandRun, environment, type Outcome } from "./run.js";
import { type ArgumentStyle, discoverCommands, type FoundCommands } from "./tools.js";
import { isObject } from "../../../errors/arguments.js";

/**
 * Creates a source for the transport `cli`. Its connection is a UTCP manual with `cli` call templates, as text or as
 * a path; with `utcp_mode: "manual_url"` a command that prints one; otherwise a command, which becomes one tool.
 * Credentials are passed in the environment variable that `auth_config.env` names.
 *
 * Commands run without a shell and with closed standard input. Their environment has a few harmless variables of this
 * process and `env`. Their output passes the gate while it is printed, as JSON, text or bytes. The result of a failed command
 * says so, with the end of its standard error.
 */
export function commandSource(deps: SourceDeps): ToolSource {
  const credential = getCredential(deps);
  return {
    async open({ authorize, signal: opening }: OpenOptions): Promise<SourceConnection> {
      const processes = new Set<ServerProcess>();
      const env = async (): Promise<Environment> => ({ ...deps.env, ...(await credential?.(authorize)) });
      const discover = async (signal: AbortSignal): Promise<FoundCommands> =>
        discoverCommands({ ...deps, env: await env() }, { signal, processes });
      return new CommandConnection(deps, discover, await discover(opening), env, processes);
    },
  };
}

type Environment = Readonly<Record<string, string>>;

class CommandConnection extends DocumentConnection<SourceDeps, FoundCommands> {
  /** Returns the environment of commands with current credentials. */
  readonly #env: () => Promise<Environment>;
  readonly #processes: Set<ServerProcess>;

  constructor(
    deps: SourceDeps,
    discover: Discover<FoundCommands>,
    found: FoundCommands,
    env: () => Promise<Environment>,
    processes: Set<ServerProcess>,
  ) {
    super(deps, discover, found);
    this.#env = env;
    this.#processes = processes;
  }

  async call({ tool: name, args, dialect, keepOriginal, scope, signal }: SourceCall): Promise<SourceResult> {
    const { name: source, sluice, command } = this.deps;
    const place = { source, tool: name };
    const { template, input_schema: schema } = this.tool(name);
    const subject = toSubject(place);
    checkArguments(args, schema, subject, true);
    const variables = documentVariables(this.deps);
    const fill = (text: string): string => fillDocument(text, variables, source);
    const steps = template.steps.map(({ words, isShown }) => ({
      isShown,
      words: (outputs: readonly string[]) => fillWords(words, template.style, { args, schema, outputs, fill, subject }),
    }));
    const own = Object.fromEntries(Object.entries(template.env).map(([key, value]) => [key, fill(value)]));
    const folder = template.folder === null ? null : fill(template.folder);
    const around = {
      env: environment(template.inherited, await this.#env(), own),
      folder,
      signal,
      processes: this.#processes,
      subject,
      ...(command !== undefined && { command: (words: readonly string[]) => command(words, scope) }),
    };
    try {
      return await gateRun(new CommandRun(steps, around), sluice, {
        tool: name,
        namespace: source,
        scope,
        dialect,
        keepOriginal,
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw adaptError(error, place);
    }
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await Promise.all([...this.#processes].map((one) => one.stop()));
  }
}

/** Maximum bytes of output in memory. */
const MAX_HELD = 1024 * 1024;
/** Maximum characters of a last line that is repeated. */
const MAX_TOLD = 300;

/** Runs the commands and passes their output through the gate. If one fails, the result says so. */
async function gateRun(run: CommandRun, sluice: Sluice, options: TransformOptions): Promise<SourceResult> {
  await using held = new HeldBytes(run.output());
  const head = await held.hold(MAX_HELD);
  if (held.isWhole && run.isSuccess) {
    const body = { bytes: held.all(), claim: "unknown", mimeType: null, filename: null } as const;
    return { gated: await gateBody(body, sluice, options), isError: false };
  }
  const gated = await through(sluice, options, document(held, head, run, sluice));
  return { gated, isError: !run.isSuccess };
}

/** A CallToolResult as text. The gate reads a single block of JSON in it as JSON. */
async function* document(
  held: HeldBytes,
  head: Uint8Array,
  run: CommandRun,
  sluice: Sluice,
): AsyncGenerator<Uint8Array | string> {
  const end = (): string => (run.isSuccess ? "]}" : `,${failure(run.outcome)}],"isError":true}`);
  if (held.isWhole && head.length === 0) {
    yield `{"content":[${failure(run.outcome)}],"isError":true}`;
  } else if (held.isWhole ? textIn(head) !== undefined : isJson(head)) {
    yield '{"content":[{"type":"text","text":"';
    const decoder = new TextDecoder();
    for await (const piece of held.all()) yield JSON.stringify(decoder.decode(piece, { stream: true })).slice(1, -1);
    yield `${JSON.stringify(decoder.decode()).slice(1, -1)}"}${end()}`;
  } else {
    const { mime_type } = await sluice.sniff(head.subarray(0, MAGIC));
    yield* block(held.all(), mime_type, null, end);
  }
}

/** How the command ended, with its last line, and then its standard error, which the gate may store. */
function failure({ code, signal, errors }: Outcome): string {
  const how = code === null ? `was ended by ${signal ?? "a signal"}` : `ended with exit code ${code}`;
  const written = errors.trimEnd();
  const last = written.slice(written.lastIndexOf("\n") + 1).trim();
  const isTold = last !== "" && last.length <= MAX_TOLD && last !== written;
  const told = { type: "text", text: isTold ? `The command ${how}: ${last}` : `The command ${how}.` };
  const blocks = written === "" ? [told] : [told, { type: "text", text: written }];
  return JSON.stringify(blocks).slice(1, -1);
}

/** Whether long output starts like JSON. Other long text is kept as bytes. */
function isJson(head: Uint8Array): boolean {
  const first = head.find((byte) => byte > 0x20);
  return first === 0x7b || first === 0x5b;
}

/** Values for commands. */
export interface Values {
  readonly args: Readonly<Record<string, unknown>>;
  /** The tool's schema, for names and defaults. */
  readonly schema: JsonSchema;
  /** Output of the earlier commands, without trailing line breaks. */
  readonly outputs: readonly string[];
  /** Replaces variables. Called only with words of the template. */
  readonly fill: (text: string) => string;
  /** The start of error messages. */
  readonly subject: string;
}

/** Maximum bytes of a word: Linux's limit. */
const MAX_WORD = 131_071;
/** Maximum bytes of all words. */
const MAX_WORDS = 1024 * 1024;
const OPEN = /UTCP_ARG_([A-Za-z0-9_]+?)_UTCP_END|\$\{CMD_(\d+)_OUTPUT\}|\$CMD_(\d+)_OUTPUT/g;
const ALONE = new RegExp(`^(?:${OPEN.source})$`);
const LEADING = new RegExp(`^(?:${OPEN.source})`);
/** Argument names that may become options. */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/**
 * Returns the words of a command. A value is a word or part of one, and never an option.
 *
 * Strings are used as they are, other values as JSON. An array in place of a whole word becomes a word for each item.
 * Missing values have the default of the schema.
 *
 * @throws ToolClientError for missing, unknown or too long arguments, and for those that the program would take for
 *   options.
 */
export function fillWords(words: readonly string[], style: ArgumentStyle, values: Values): readonly string[] {
  const all =
    style === "placeholders" ? placeValues(words, values) : [...words.map(values.fill), ...addArguments(style, values)];
  const encoder = new TextEncoder();
  const sizes = all.map((word) => encoder.encode(word).length);
  if (sizes.some((size) => size > MAX_WORD) || sizes.reduce((sum, size) => sum + size, 0) > MAX_WORDS) {
    throw new ToolClientError(
      `${values.subject} got an argument that is too long for a command: pass the name of a file.`,
    );
  }
  if (all.some((word) => word.includes("\0"))) {
    throw new ToolClientError(`${values.subject} got a NUL character, which no command accepts: leave it out.`);
  }
  return all;
}

function placeValues(words: readonly string[], values: Values): readonly string[] {
  const end = words.indexOf("--");
  return words.flatMap((word, at) => {
    const mayBeOption = end >= 0 && end < at;
    const single = ALONE.exec(word);
    const value = single === null ? undefined : readValue(single, values);
    const made = Array.isArray(value)
      ? (value as unknown[])
      : [
          single === null
            ? fillPlaceholders(word, OPEN, values.fill, (match) => asText(readValue(match, values)))
            : value,
        ];
    if (!mayBeOption && LEADING.test(word)) made.forEach((one) => refuseOption(one, values.subject));
    return made.map(asText);
  });
}

function readValue([, name, braced, bare]: readonly (string | undefined)[], values: Values): unknown {
  return name === undefined ? (values.outputs[Number(braced ?? bare)] ?? "") : readArgument(name, values);
}

function addArguments(style: ArgumentStyle, { args, schema, subject }: Values): readonly string[] {
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

/**
 * `--name value`, or `--name` for true. Arrays repeat the option. Values that look like options are written as
 * `--name=value`.
 */
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
  return getProperty(schema, name) !== undefined || others === true || isObject(others);
}

// A negative number is no option; a string that starts with "-" may be one.
function refuseOption(value: unknown, subject: string): void {
  if (typeof value === "number" || !asText(value).startsWith("-")) return;
  throw new ToolClientError(
    `${subject} got an argument that begins with "-", which its command would read as an option: write ./ before a file name, or put "--" before it in the template.`,
  );
}
