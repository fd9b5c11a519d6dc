/**
 * JSON-RPC 2.0 as MCP uses it: ids, error codes, and the messages that Sluice sends.
 * @module
 */
import { isObject } from "../errors/arguments.js";

/** Error codes that Sluice sends (JSON-RPC 2.0 §5.1; MCP 2026-07-28, Errors). */
export const RpcCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Resource not found, up to revision 2025-11-25; later revisions use `invalidParams`. */
  resourceNotFound: -32002,
  /** The server ended, or its answer could not be forwarded. */
  serverError: -32000,
} as const;

/** The `_meta` key that carries the protocol version since revision 2026-07-28. */
export const PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";

/**
 * Normalises an id's JSON text, so that `"a"` and `"\u0061"`, `1` and `1.0` are equal. Undefined for anything but an
 * id. Keeps all digits: ids may differ in more of them than a number holds.
 */
export function idKey(json: string | undefined): string | undefined {
  const text = json?.trim() ?? "";
  if (text === "") return undefined;
  if (/^(?:0|-?[1-9]\d*)$/.test(text)) return text;
  const id = tryParse(text);
  return typeof id === "string" || typeof id === "number" ? JSON.stringify(id) : undefined;
}

/** Parses JSON. Undefined if the text is not JSON. */
export function tryParse(text: string): unknown {
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

/** The value if it is an object, else an empty object. */
export function objectOr(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

/** The value if it is a string. */
export function stringOr(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
