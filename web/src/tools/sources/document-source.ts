/**
 * Shared by sources that a document describes, over HTTP or as commands: options, platform, variables, tools, and the
 * check of arguments.
 * @module
 */
import type { ArtifactStore } from "../../artifacts/store.js";
import type { Sluice } from "../../core/types.js";
import { nearest, isObject } from "../../errors/arguments.js";
import type { DestinationRules } from "../addresses.js";
import type { AuthType, UtcpMode } from "../config/config.js";
import { quoteName, toSubject, ToolClientError, ToolConnectionError, type ToolPlace } from "../errors.js";
import type { SourceCall, SourceConnection, SourceResult, ToolSource } from "../source.js";
import type { JsonSchema, LeftOutTool, SourceTool } from "../source-features.js";
import { fillVariables, type Variables } from "../config/variables.js";
import type { UserFileHandling } from "../user-files.js";

/** What a source needs. The fields of the configuration have its names. */
export interface SourceDeps {
  /** The source's name, for errors and for the names of variables. */
  readonly name: string;
  /** Variables are already replaced. */
  readonly connection: string;
  /** Defaults to `auto`. */
  readonly utcp_mode?: UtcpMode;
  /** Variables for documents; for commands also environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** For commands: whether they get credentials. Defaults to `none`. */
  readonly auth_type?: AuthType;
  /**
   * Variables for documents, such as `${api_key}` and `${token}`. `env` names the environment variable for
   * credentials of commands.
   */
  readonly auth_config?: Readonly<Record<string, string>>;
  /** Types of call templates that a manual may use. Defaults to those of the transport. */
  readonly allowed_communication_protocols?: readonly string[] | null;
  /**
   * The host's variables. A document only gets those that start with the source's name, such as `NAME_API_KEY` for
   * `${API_KEY}`, since its author could send any others anywhere.
   */
  readonly variables?: Variables;
  /** Values that errors must not contain. */
  readonly secrets?: readonly string[];
  /** Returns the command that starts a program for a single user, such as in a sandbox. Defaults to the command itself. */
  readonly command?: UserFileHandling["command"];
  /** The gate. */
  readonly sluice: Sluice;
}

export interface HttpDeps extends SourceDeps, DestinationRules {
  /** Defaults to the platform's. */
  readonly fetch?: typeof fetch;
  /** The sluice's store, for MCP servers of a manual. */
  readonly store?: ArtifactStore;
  /** Whether hosts answer for a model, for MCP servers of a manual. */
  readonly sampling?: boolean;
  /** What this platform can do beyond browsers. */
  readonly platform?: Platform;
}

/** Names that OpenAPI converters give to credentials, and the names in `auth_config`. */
const INVENTED: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^API_KEY_\d+$/, ["api_key", "token"]],
  [/^USERNAME_\d+$/, ["username"]],
  [/^PASSWORD_\d+$/, ["password"]],
  [/^CLIENT_ID_\d+$/, ["client_id"]],
  [/^CLIENT_SECRET_\d+$/, ["client_secret"]],
];

/** The variables of a document: the source's own, and those of the host that start with its name. */
export function documentVariables(deps: SourceDeps): Variables {
  const { name: source, env = {}, auth_config: auth = {}, variables } = deps;
  // UTCP's prefix: for `my_api`, the variable KEY is `my__api_KEY`.
  const prefix = source.replace(/\W/g, "_").replaceAll("_", "__");
  return (name) => own(env, name) ?? own(auth, name) ?? variables?.(`${prefix}_${name}`) ?? findInvented(auth, name);
}

/**
 * Replaces variables in a text of a document, in UTCP's notation.
 *
 * @throws ToolAuthError that names each `${NAME}` without a value.
 */
export function fillDocument(text: string, variables: Variables, source: string): string {
  const where = "in env, or in auth_config";
  return fillVariables(text, variables, { subject: toSubject({ source }), notation: "utcp", where });
}

function own(values: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function findInvented(auth: Readonly<Record<string, string>>, name: string): string | undefined {
  const keys = INVENTED.find(([pattern]) => pattern.test(name))?.[1] ?? [];
  return keys.map((key) => own(auth, key)).find((value) => value !== undefined);
}

/** The result of discovery: tools, each with its call template. */
export interface Found<Template> {
  readonly tools: readonly (SourceTool & { readonly template: Template })[];
  /** Tools of the document that are not offered. */
  readonly leftOut: readonly LeftOutTool[];
}

/** Discovers the tools of a document. */
export type Discover<F> = (signal: AbortSignal) => Promise<F>;

/** A connection that discovers its tools when it is opened, and again each time they are listed. */
export abstract class DocumentConnection<
  Deps extends SourceDeps,
  F extends Found<unknown>,
> implements SourceConnection {
  readonly resources = undefined;
  protected readonly deps: Deps;
  readonly #discover: Discover<F>;
  #found: F;
  /** Whether the discovered tools have not been listed yet. */
  #isFresh = true;
  #isOpen = true;

  /** @param found the result of the first `discover`. */
  constructor(deps: Deps, discover: Discover<F>, found: F) {
    this.deps = deps;
    this.#discover = discover;
    this.#found = found;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async tools(signal: AbortSignal): Promise<readonly SourceTool[]> {
    if (!this.#isFresh) this.#found = await this.#discover(signal);
    this.#isFresh = false;
    return this.#found.tools.map(({ template: _, ...tool }) => tool);
  }

  get leftOut(): readonly LeftOutTool[] {
    return this.#found.leftOut;
  }

  abstract call(call: SourceCall): Promise<SourceResult>;

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
  }

  /** The latest discovery. */
  protected get found(): F {
    return this.#found;
  }

  /**
   * The tool with this name. Throws ToolConnectionError if the connection is closed, ToolClientError for an unknown
   * tool.
   */
  protected tool(name: string): F["tools"][number] {
    const { name: source } = this.deps;
    if (!this.#isOpen) throw new ToolConnectionError(`${toSubject({ source })} was closed: connect it again.`);
    const tool = this.#found.tools.find((one) => one.name === name);
    if (tool !== undefined) return tool;
    throw new ToolClientError(
      `${toSubject({ source, tool: name })} does not exist: list the tools of the source again.`,
    );
  }
}

/** A request for a WebSocket. */
export interface SocketRequest {
  readonly url: URL;
  /** Ignored in browsers. */
  readonly headers: Headers;
  /** The subprotocol, or null. */
  readonly protocol: string | null;
  readonly signal: AbortSignal;
  readonly place: ToolPlace;
}

/** An open WebSocket. Binary messages are `ArrayBuffer`s. */
export type Socket = Pick<WebSocket, "addEventListener" | "send" | "close">;

/** A program that speaks MCP. */
interface ProgramDeps {
  readonly argv: readonly [command: string, ...args: string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string | null;
}

/** What inline manuals can use of this machine. */
export interface LocalTools {
  /** Runs the commands of a manual. */
  readonly commands: (deps: SourceDeps) => ToolSource;
  /** Starts an MCP server. */
  readonly program: (deps: ProgramDeps) => ToolSource;
  /** Reads a file. */
  readonly file: (path: string) => AsyncIterable<Uint8Array>;
}

/** What differs between platforms. */
export interface Platform extends Pick<DestinationRules, "lookup"> {
  /** Opens a WebSocket. Throws a ToolNodeError, or the signal's reason. */
  readonly openSocket: (request: SocketRequest) => Promise<Socket>;
  /** Left out in browsers. */
  readonly local?: LocalTools;
}

/** Maximum names in one message. */
const MAX_TOLD = 10;
/** Maximum characters of a name for which a similar one is suggested. */
const MAX_NAME = 64;

/**
 * Checks the names of arguments: that all are known and none is missing. null counts as missing.
 *
 * @param subject the start of error messages.
 * @param hasDefaults whether defaults of the schema replace missing arguments.
 * @throws ToolClientError that names the argument and those that the tool takes.
 */
export function checkArguments(
  args: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  subject: string,
  hasDefaults: boolean = false,
): void {
  const unknown = isOpen(schema)
    ? undefined
    : Object.keys(args).find((name) => getProperty(schema, name) === undefined);
  if (unknown !== undefined) throw unknownArgument(unknown, schema, subject);
  const { required } = schema;
  for (const name of Array.isArray(required) ? (required as unknown[]) : []) {
    if (typeof name !== "string" || (hasDefaults && getProperty(schema, name)?.["default"] !== undefined)) continue;
    if (!Object.hasOwn(args, name) || args[name] === undefined || args[name] === null) {
      throw missingArgument(name, schema, subject);
    }
  }
}

/** The schema of an argument, or undefined. */
export function getProperty({ properties }: JsonSchema, name: string): JsonSchema | undefined {
  if (!isObject(properties) || !Object.hasOwn(properties, name)) return undefined;
  const property = properties[name];
  return isObject(property) ? property : {};
}

function missingArgument(name: string, schema: JsonSchema, subject: string): ToolClientError {
  return new ToolClientError(
    `${subject} needs the argument ${quoteName(name)}, which is missing: ${describeAccepted(schema)}.`,
  );
}

/** The error for an unknown argument. */
export function unknownArgument(name: string, schema: JsonSchema, subject: string): ToolClientError {
  const likely = namesIn(schema).slice(0, 1000);
  const meant = nearest(
    name.slice(0, MAX_NAME),
    likely.filter((one) => one.length <= MAX_NAME),
  );
  const remedy = meant === undefined ? `${describeAccepted(schema)}.` : `did you mean ${quoteName(meant)}?`;
  return new ToolClientError(`${subject} takes no argument ${quoteName(name)}: ${remedy}`);
}

/** Whether unknown arguments are allowed. Regular expressions of a schema are not run. */
function isOpen({ additionalProperties, patternProperties }: JsonSchema): boolean {
  return additionalProperties !== false || (isObject(patternProperties) && Object.keys(patternProperties).length > 0);
}

function describeAccepted(schema: JsonSchema): string {
  const names = namesIn(schema);
  const told = names.slice(0, MAX_TOLD).map((name) => quoteName(name));
  if (told.length === 0) return isOpen(schema) ? "give it" : "it takes none";
  return `it takes ${told.join(", ")}${names.length > MAX_TOLD ? ", …" : ""}`;
}

function namesIn({ properties }: JsonSchema): readonly string[] {
  return isObject(properties) ? Object.keys(properties) : [];
}

/**
 * Replaces the placeholders in a text in one pass, so that values are not expanded again.
 *
 * @param fill replaces variables in the text between placeholders.
 */
export function fillPlaceholders(
  text: string,
  placeholder: RegExp,
  fill: (text: string) => string,
  valueOf: (match: RegExpExecArray) => string,
): string {
  let made = "";
  let from = 0;
  for (const match of text.matchAll(placeholder)) {
    made += fill(text.slice(from, match.index)) + valueOf(match);
    from = match.index + match[0].length;
  }
  return made + fill(text.slice(from));
}

/** An argument, or the default of its schema. Throws ToolClientError if there is neither. */
export function readArgument(
  name: string,
  {
    args,
    schema,
    subject,
  }: { readonly args: SourceCall["args"]; readonly schema: JsonSchema; readonly subject: string },
): unknown {
  const given = Object.hasOwn(args, name) ? args[name] : undefined;
  const value = given ?? getProperty(schema, name)?.["default"];
  if (value === undefined || value === null) throw missingArgument(name, schema, subject);
  return value;
}

/** A value as text for an address, a header or a command: strings as they are, anything else as JSON. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
