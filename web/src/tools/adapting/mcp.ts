/**
 * Errors of `@modelcontextprotocol/client`, told by the brands that its classes leave on them: so nothing here imports a
 * client that a host without MCP does not need, and errors of another copy of it are known too.
 * @module
 */
import { ToolAuthError, ToolClientError, ToolConnectionError, ToolServerError, ToolTimeoutError } from "../errors.js";
import type { ToolNodeError } from "../errors.js";
import { MAX_MESSAGE } from "../../transports/limits.js";
import { bareCause } from "./cause.js";
import { subjectOf, type ToolPlace } from "./place.js";
import { fromStatus } from "./status.js";
import { fromCodes } from "./system.js";

const BRANDS = Symbol.for("mcp.sdk.errorBrands");

/** The error that an SDK's error stands for; undefined where it is none of the SDK's. */
export function fromMcp(error: unknown, place: ToolPlace): ToolNodeError | undefined {
  const brands = brandsOf(error);
  if (brands === undefined) return undefined;
  const { code, status, cause, data } = error as Readonly<Record<"code" | "status" | "cause" | "data", unknown>>;
  if (brands.has("mcp.SdkHttpError") && typeof status === "number") return fromStatus(status, undefined, place);
  if (brands.has("mcp.SseError")) return fromStream(error, code, place);
  if (brands.has("mcp.SdkError")) return fromSdk(error, String(code), cause, place);
  if (brands.has("mcp.ProtocolError") && isTooLarge(data)) {
    const what = `${subjectOf(place)} answered with more than ${MAX_MESSAGE / 1024 / 1024} MiB of what cannot be stored`;
    return new ToolServerError(`${what}, and that is not taken: it must answer in smaller pages.`, NON_RETRYABLE);
  }
  if (brands.has("mcp.ProtocolError")) return fromProtocol(typeof code === "number" ? code : undefined, place);
  if (AUTH.some((brand) => brands.has(brand))) {
    const remedy = "check auth_type and auth_config, or connect the account again";
    return new ToolAuthError(`${subjectOf(place)} does not know who asks: ${remedy}.`, { cause: bareCause(error) });
  }
  return undefined;
}

const NON_RETRYABLE = { category: "non_retryable" } as const;

/** What a door says in place of a message that it did not take. */
function isTooLarge(data: unknown): boolean {
  return (data as { readonly code?: unknown } | null | undefined)?.code === "E_TOO_LARGE";
}

const AUTH = ["mcp.UnauthorizedError", "mcp.OAuthClientFlowError", "mcp.OAuthError"];

/** JSON-RPC's own codes, and MCP's, that say that the request is at fault. */
const FAULTS: ReadonlyMap<number, string> = new Map([
  [-32600, "takes the request for malformed"],
  [-32601, "does not know the method"],
  [-32602, "refuses the arguments"],
  [-32002, "does not know the resource"],
  [-32021, "wants a client that can do more"],
  [-32022, "wants another revision of the protocol"],
  [-32042, "wants a person to open a page first"],
]);

// What a server answered stands: the same request would get the same answer, or be done twice.
function fromProtocol(code: number | undefined, place: ToolPlace): ToolNodeError {
  const subject = subjectOf(place);
  if (code === -32603 || code === -32700) {
    const remedy = "see the source's own log";
    return new ToolServerError(`${subject} failed (JSON-RPC ${code}): ${remedy}.`, NON_RETRYABLE);
  }
  const fault = (code === undefined ? undefined : FAULTS.get(code)) ?? "refuses the request";
  const remedy = "check the tool's name and arguments, and the source's own log";
  return new ToolClientError(`${subject} ${fault} (JSON-RPC ${code ?? "error"}): ${remedy}.`);
}

function fromSdk(error: unknown, code: string, cause: unknown, place: ToolPlace): ToolNodeError {
  const subject = subjectOf(place);
  const details = { cause: bareCause(error) };
  switch (code) {
    case "REQUEST_TIMEOUT":
      return new ToolTimeoutError(`${subject} did not answer in time: allow it more time (timeout_s).`, details);
    case "NOT_CONNECTED":
    case "NOT_INITIALIZED":
      return new ToolConnectionError(`${subject} is not connected: connect first.`, { ...details, neverSent: true });
    case "CONNECTION_CLOSED":
    case "SEND_FAILED":
      return new ToolConnectionError(`${subject} ended the connection: check that it still runs.`, details);
    case "ERA_NEGOTIATION_FAILED":
      return (
        fromCodes(cause, place) ??
        new ToolConnectionError(`${subject} does not answer as an MCP server does: check its address.`, details)
      );
    case "CAPABILITY_NOT_SUPPORTED":
    case "METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION":
      return new ToolClientError(`${subject} does not offer what was asked for: see what it says it can do.`, details);
    default:
      return new ToolServerError(`${subject} answered what MCP does not allow: see the source's own log.`, {
        ...details,
        category: "non_retryable",
      });
  }
}

// An event stream's `code` is the status that was answered, where anything was.
function fromStream(error: unknown, code: unknown, place: ToolPlace): ToolNodeError {
  if (typeof code === "number" && code >= 300) return fromStatus(code, undefined, place);
  const subject = subjectOf(place);
  return new ToolConnectionError(`${subject} does not send events: check its address, and that it still runs.`, {
    cause: bareCause(error),
  });
}

function brandsOf(error: unknown): ReadonlySet<unknown> | undefined {
  if (typeof error !== "object" || error === null || !Object.hasOwn(error, BRANDS)) return undefined;
  const brands = (error as Record<symbol, unknown>)[BRANDS];
  return brands instanceof Set ? brands : undefined;
}
