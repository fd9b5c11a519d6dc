/**
 * A request as an operation of telemetry: its span, its duration, and the trace context in its `_meta`.
 * @module
 */
import { appendEdit, applyEdits, mapMembers, parseJson, removeEdits } from "../json/text.js";
import { JsonRpcScanner } from "../jsonrpc/json-rpc-scanner.js";
import { decodePieces } from "../jsonrpc/bytes.js";
import { stringOr } from "../jsonrpc/rpc.js";
import { methodAttribute, OTHER, toolAttributes } from "../telemetry/names.js";
import { type Operation, startOperation, type OperationEnd } from "../telemetry/operation.js";
import { contextIn, traceFields } from "../telemetry/trace-context.js";
import type { ClientRequest } from "./client-request.js";

/** Whether Sluice answers the client, or is a part of it. */
export type TelemetrySide = "server" | "client";

/** Starts the operation of a request, below the span that its `_meta` names. Undefined without telemetry. */
export function requestOperation(
  { method, params, id }: ClientRequest,
  namespace: string,
  side: TelemetrySide = "server",
): Operation | undefined {
  return startOperation(() => {
    const name = methodAttribute(method);
    const tool = method === "tools/call" ? toolAttributes(namespace, stringOr(params["name"])) : {};
    const { "gen_ai.tool.name": target } = tool;
    return {
      kind: side,
      name: target === undefined ? name : `${name} ${target}`,
      durations: [side === "server" ? "mcp.server.operation.duration" : "mcp.client.operation.duration"],
      attributes: {
        "mcp.method.name": name,
        ...tool,
        ...(target !== undefined && { "gen_ai.operation.name": "execute_tool" }),
      },
      // Other ids could be anything.
      ...(/^\d{1,15}$/.test(id) && { spanAttributes: { "jsonrpc.request.id": id } }),
      parent: contextIn(params["_meta"]),
    };
  });
}

/** How an operation ends with a message that Sluice made itself. */
export function endOfAnswer(answer: string, { id }: ClientRequest): OperationEnd {
  if (answer.startsWith(`{"jsonrpc":"2.0","id":${id},"error":`)) {
    const [, code = "_OTHER"] = /"code":(-?\d+)/.exec(answer) ?? [];
    return toFailedEnd(code);
  }
  // In a text its quotes would be escaped.
  return answer.includes('"isError":true') ? { error: "tool_error" } : {};
}

/** Codes of JSON-RPC 2.0 §5.1 and of MCP, of all revisions. */
const CODES: ReadonlySet<string> = new Set(
  "-32700 -32600 -32601 -32602 -32603 -32000 -32001 -32002 -32003 -32020 -32021 -32022 -32042".split(" "),
);

/** How an operation ends with a JSON-RPC error. `code` is JSON text. A server may make up others without end. */
export function toFailedEnd(code: string): OperationEnd {
  if (!CODES.has(code)) return { error: OTHER };
  return { error: code, attributes: { "rpc.response.status_code": code } };
}

/** The message with the operation's trace context in `params._meta`. Unchanged unless the operation is traced. */
export function withTraceContext(message: Uint8Array, operation: Operation | undefined): Uint8Array {
  if (operation?.isTraced !== true) return message;
  const carrier = Object.entries(operation.carrier());
  if (carrier.length === 0) return message;
  const added = carrier.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",");
  return withMeta(message, added, traceFields());
}

/** The message with members, as JSON text, added to `params._meta`, in place of those named. Unchanged if it cannot be edited. */
export function withMeta(message: Uint8Array, added: string, replaced: readonly string[]): Uint8Array {
  const scanner = new JsonRpcScanner();
  scanner.push(message);
  const meta = findRange(scanner, "params._meta");
  if (meta !== undefined) {
    const [start, end] = meta;
    const edited = withMembers(decodePieces([message.subarray(start, end)]), added, replaced);
    return edited === undefined ? message : spliceText(message, start, end, edited);
  }
  const params = findRange(scanner, "params");
  if (params === undefined) {
    if (scanner.fault !== undefined || scanner.member("params") !== undefined) return message;
    const last = message.lastIndexOf(CLOSE);
    return spliceText(message, last, last, `,"params":{"_meta":{${added}}}`);
  }
  const [start, end] = params;
  if (message[start] !== OPEN) return message;
  const isEmpty = message.subarray(start + 1, end).find((byte) => byte > 0x20) === CLOSE;
  return spliceText(message, start + 1, start + 1, `"_meta":{${added}}${isEmpty ? "" : ","}`);
}

const OPEN = 0x7b;
const CLOSE = 0x7d;

/** The bytes of a member's value. Undefined if it has none, or the message is not whole. */
function findRange(scanner: JsonRpcScanner, path: string): readonly [number, number] | undefined {
  const member = scanner.fault === undefined ? scanner.member(path) : undefined;
  return member?.end === undefined ? undefined : [member.start, member.end];
}

/** An object's text with members added, in place of those named. Undefined for anything but an object. */
function withMembers(text: string, added: string, replaced: readonly string[]): string | undefined {
  try {
    const object = parseJson(text);
    if (object.type !== "Object") return undefined;
    if (![...mapMembers(object).keys()].some((name) => replaced.includes(name))) {
      return applyEdits(text, [appendEdit(object, added)]);
    }
    return withMembers(
      applyEdits(
        text,
        removeEdits(object, (name) => replaced.includes(name)),
      ),
      added,
      replaced,
    );
  } catch {
    return undefined;
  }
}

function spliceText(message: Uint8Array, start: number, end: number, text: string): Uint8Array {
  const insert = new TextEncoder().encode(text);
  const result = new Uint8Array(message.length - (end - start) + insert.length);
  result.set(message.subarray(0, start));
  result.set(insert, start);
  result.set(message.subarray(end), start + insert.length);
  return result;
}
