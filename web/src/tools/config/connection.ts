/**
 * Connection strings: a command to start, or an address.
 * @module
 */
import { parseArgsStringToArgv } from "string-argv";
import { ToolConfigError, wrongValue } from "../errors.js";
import { WRITTEN } from "./variables.js";

/** Where an MCP server is. */
export type McpEndpoint =
  /** A command with its arguments, started without a shell. */
  | { readonly kind: "stdio"; readonly argv: readonly [command: string, ...args: string[]] }
  /** Streamable HTTP, or the older transport if the server does not support it. */
  | { readonly kind: "http"; readonly url: string }
  /** HTTP with server-sent events, the transport of 2024-11-05. */
  | { readonly kind: "sse"; readonly url: string };

const MAX_ARGUMENTS = 1000;
const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;
/** A key that YAML documents of tools have. */
const DOCUMENT_KEY = /^[ \t]*["']?(?:openapi|swagger|utcp_version|manual_version|tools)["']?[ \t]*:[^\n]*\n/m;
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * Parses a connection string. Commands are split at white space; single or double quotes keep text together. A
 * backslash has no special meaning, so Windows paths need quotes only around spaces.
 *
 * @param replace substitutes variables. It gets one argument at a time, so a value never becomes several arguments.
 * @param path the key, for errors.
 * @throws ToolConfigError E_TOOL_CONFIG if it is neither, E_TOOL_UNSUPPORTED for WebSockets. The text is never
 *   quoted.
 */
export function parseConnection(
  connection: string,
  replace: (text: string) => string = (text) => text,
  path: string = "connection",
): McpEndpoint {
  const [command = "", ...args] = split(connection.trim(), path).map(replace);
  if (command.trim() === "") throw wrongValue(path, 'a command, such as "npx -y some-server", or an http(s) URL');
  if (SCHEME.test(command)) {
    if (args.length > 0) throw wrongValue(path, "a URL and nothing else, or a command that begins with a program");
    const url = parseAddress(command, path);
    return { kind: /\/sse\/?$/.test(url.pathname) ? "sse" : "http", url: url.href };
  }
  if ([command, ...args].some((word) => word.includes("\0"))) throw wrongValue(path, "free of NUL characters");
  return { kind: "stdio", argv: [command, ...args] };
}

/** Whether a text starts like a URL rather than a command, a path or a manual. */
export function isAddress(text: string): boolean {
  return SCHEME.test(text.trimStart());
}

/** Whether a text is itself a UTCP manual or an OpenAPI description, in JSON or YAML. */
export function isInline(text: string): boolean {
  return text.trimStart().startsWith("{") || (!isAddress(text) && DOCUMENT_KEY.test(text));
}

/**
 * Parses the URL of a source.
 *
 * @throws ToolConfigError like {@link parseConnection}.
 */
function parseAddress(text: string, path: string = "connection"): URL {
  const scheme = SCHEME.exec(text.trim())?.[1]?.toLowerCase();
  if (scheme === "ws" || scheme === "wss") {
    const sentence = `${JSON.stringify(path)} is a WebSocket, which is not supported: give an http(s) URL or a command.`;
    throw new ToolConfigError(path, sentence, "E_TOOL_UNSUPPORTED");
  }
  // The URL parser silently drops line breaks and tabs.
  const isUrl = (scheme === "http" || scheme === "https") && !CONTROL.test(text.trim()) && URL.canParse(text);
  if (!isUrl) throw wrongValue(path, "an http(s) URL, such as https://example.com/mcp");
  const url = new URL(text);
  // `fetch` refuses such URLs, with an error that contains the password.
  if (url.username !== "" || url.password !== "") {
    throw wrongValue(path, "a URL without user and password; use auth_type and auth_config for credentials");
  }
  return url;
}

/** How a source is reached. */
interface SourceAddress {
  readonly transport: string;
  readonly connection: string;
}

/** Checks that a connection without variables fits its transport. Throws ToolConfigError. */
export function checkConnection({ transport, connection }: SourceAddress, path: string = "connection"): void {
  if (transport === "mcp") parseConnection(connection, undefined, path);
  else if (isAddress(connection) || (transport === "http" && !isInline(connection))) parseAddress(connection, path);
}

function split(text: string, path: string): readonly string[] {
  if (CONTROL.test(text)) throw wrongValue(path, "free of control characters; write a command on one line");
  const argv = wordsIn(text);
  if (argv === undefined) {
    throw wrongValue(path, `a command whose quotes are closed; put an apostrophe between double quotes, as in "it's"`);
  }
  if (argv.length > MAX_ARGUMENTS) throw wrongValue(path, `a command of at most ${MAX_ARGUMENTS} arguments`);
  return argv;
}

/** A variable, or a NUL that a command itself has. */
const KEPT = new RegExp(`${WRITTEN.source}|\\0`, "g");

/**
 * Splits a command at white space. Single or double quotes keep text together, and so do the braces of a variable; a
 * backslash has no special meaning. Undefined if a quote is not closed.
 */
export function wordsIn(command: string): readonly string[] | undefined {
  const kept = command.match(KEPT) ?? [];
  const bare = command.replace(KEPT, "\0");
  if (hasOpenQuote(bare)) return undefined;
  let at = 0;
  return parseArgsStringToArgv(bare).map((word) => word.replaceAll("\0", () => kept[at++] ?? ""));
}

/** Whether a quote is left open. string-argv would close it silently. */
function hasOpenQuote(text: string): boolean {
  let open = "";
  for (const char of text) {
    if (open !== "") open = char === open ? "" : open;
    else if (char === '"' || char === "'") open = char;
  }
  return open !== "";
}
