/**
 * JSON-RPC 2.0 as MCP uses it: ids, and messages of our own.
 * @module
 */

/** Codes of errors that Sluice answers with (JSON-RPC 2.0 §5.1; MCP 2026-07-28, Errors). */
export const RpcCode = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** A resource that is not there, up to revision 2025-11-25; later it is `invalidParams`. */
  resourceNotFound: -32002,
  /** The server ended, or its answer could not be passed on. */
  serverError: -32000,
} as const;

/** The member of `_meta` by which requests since revision 2026-07-28 say theirs. */
export const PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";

/**
 * One spelling of an id's JSON text, so that `"a"` and `"\u0061"`, `1` and `1.0` are the same; undefined for what is no
 * id. Digits are kept: two ids may differ in more of them than a number holds.
 */
export function idKey(json: string | undefined): string | undefined {
  const text = json?.trim() ?? "";
  if (text === "") return undefined;
  if (/^(?:0|-?[1-9]\d*)$/.test(text)) return text;
  const id = parsedOr(text);
  return typeof id === "string" || typeof id === "number" ? JSON.stringify(id) : undefined;
}

/** The value that a text is as JSON; undefined for what is none. */
export function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON text of a response. `id` is JSON text. */
export function resultMessage(id: string, result: object): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result)}}`;
}

/** JSON text of an error response. `id` is JSON text. */
export function errorMessage(id: string, code: number, message: string, data?: object): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message, ...(data !== undefined && { data }) })}}`;
}

/** The object that a value is, else an empty one. */
export function objectOr(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** The string that a value is. */
export function stringOr(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
