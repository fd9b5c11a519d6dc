/**
 * HTTP headers of MCP (Streamable HTTP): their names, and those that repeat parts of a request for routing, since
 * revision 2026-07-28.
 * @module
 */
import type { ListedTool } from "../catalog.js";
import { objectOr, PROTOCOL_VERSION, stringOr } from "../../jsonrpc/rpc.js";

/** Names of headers. */
export const McpHeader = {
  session: "Mcp-Session-Id",
  version: "MCP-Protocol-Version",
  method: "Mcp-Method",
  name: "Mcp-Name",
  lastEventId: "Last-Event-ID",
} as const;

/** Headers of a request with a message. */
export const MESSAGE_HEADERS = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
} as const;

const PREFIX = "mcp-param-";

/** Methods whose subject is repeated in a header, and the parameter that holds it. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** Levels of an input schema that are searched. */
const MAX_LEVELS = 32;

/** Most headers of one request. */
const MAX_HEADERS = 64;

/** Longest value. Servers refuse longer ones, since headers are bounded. */
const MAX_VALUE = 4096;

type FindTool = (name: string) => ListedTool | undefined;

/** The headers of a message, as names and values. None for messages without a protocol version. */
export function mirrorHeaders(message: unknown, find: FindTool): readonly (readonly [string, string])[] {
  const { method, params } = objectOr(message);
  const { _meta, ...said } = objectOr(params);
  const version = stringOr(objectOr(_meta)[PROTOCOL_VERSION]);
  if (version === undefined || typeof method !== "string") return [];
  const headers: (readonly [string, string])[] = [
    [McpHeader.version, version],
    [McpHeader.method, encode(method)],
  ];
  const name = stringOr(said[NAMED.get(method) ?? ""]);
  if (name !== undefined) headers.push([McpHeader.name, encode(name)]);
  return method === "tools/call" ? [...headers, ...paramHeaders(find(name ?? ""), said["arguments"])] : headers;
}

/** The name of the first header that contradicts its request, if there is one. */
export function mismatchIn(headers: Headers, message: unknown, find: FindTool): string | undefined {
  const expected = new Headers(mirrorHeaders(message, find).map(([name, value]) => [name, value]));
  const { params } = objectOr(message);
  const declared = declarations(find(stringOr(objectOr(params)["name"]) ?? ""));
  const names = new Set([...expected.keys(), ...declared.map(({ header }) => header)]);
  return [...names].find((name) => {
    const said = headers.get(name);
    return (said === null) !== !expected.has(name) || decode(said) !== decode(expected.get(name));
  });
}

/** The headers of a client's request, for a message that is sent in its place: a call with other arguments, or a reply. */
export function replaceHeaders(old: HeadersInit | undefined, body: Uint8Array, find: FindTool): Headers {
  const headers = new Headers(old);
  for (const [name, value] of Object.entries(MESSAGE_HEADERS)) headers.set(name, value);
  headers.delete(McpHeader.lastEventId);
  if (![...headers.keys()].some((name) => name.startsWith(PREFIX))) return headers;
  const { params } = objectOr(JSON.parse(new TextDecoder().decode(body)));
  const { name, arguments: given } = objectOr(params);
  for (const [header, value] of paramHeaders(find(stringOr(name) ?? ""), given)) headers.set(header, value);
  return headers;
}

/** Whether the body is JSON. */
export function isJson(headers: Headers): boolean {
  return /^application\/json\b/i.test(headers.get("content-type") ?? "");
}

/** Whether a client asks for an event stream by name. */
export function acceptsEvents(headers: Headers): boolean {
  return /\btext\/event-stream\b/i.test(headers.get("accept") ?? "");
}

/** The headers that a tool declares by `x-mcp-header`, with the values of a call. */
function paramHeaders(tool: ListedTool | undefined, given: unknown): readonly (readonly [string, string])[] {
  return declarations(tool).flatMap(({ header, path }) => {
    const value = path.reduce<unknown>(
      (at, key) => (Object.hasOwn(objectOr(at), key) ? objectOr(at)[key] : undefined),
      given,
    );
    const text = toHeaderText(value);
    return text === undefined ? [] : [[header, text] as const];
  });
}

/** An argument that is repeated in a header. */
interface Declaration {
  readonly header: string;
  readonly path: readonly string[];
}

function declarations(tool: ListedTool | undefined): readonly Declaration[] {
  const found: Declaration[] = [];
  const walk = (schema: unknown, path: readonly string[]): void => {
    for (const [key, property] of Object.entries(objectOr(objectOr(schema)["properties"]))) {
      if (path.length >= MAX_LEVELS || found.length >= MAX_HEADERS) return;
      const header = objectOr(property)["x-mcp-header"];
      if (isToken(header)) found.push({ header: PREFIX + header.toLowerCase(), path: [...path, key] });
      walk(property, [...path, key]);
    }
  };
  walk(tool?.inputSchema, []);
  return found;
}

function isToken(header: unknown): header is string {
  return typeof header === "string" && /^[!#$%&'*+\-.^_`|~\w]{1,128}$/.test(header);
}

/** The text of a value; undefined if a header cannot hold it. */
function toHeaderText(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) return undefined;
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return undefined;
  const text = encode(String(value));
  return text.length > MAX_VALUE ? undefined : text;
}

/** Encodes a value in Base64 if a header cannot hold it as it is. */
function encode(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  if (isPlain) return text;
  const binary = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
  return `=?base64?${btoa(binary)}?=`;
}

/** Decodes a value. Undefined if it is missing or not Base64. */
function decode(value: string | null | undefined): string | undefined {
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(value ?? "") ?? [];
  if (base64 === undefined) return value ?? undefined;
  try {
    const binary = atob(base64);
    // Unpadded or non-canonical Base64 is rejected.
    if (btoa(binary) !== base64) return undefined;
    const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
