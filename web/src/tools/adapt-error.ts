/**
 * Whatever sources and their libraries throw, as ToolNodeErrors: told by class and by code, never by a name or a sentence.
 * Nothing that was thrown is quoted, and no fields of it are kept, since both may hold secrets.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { MAX_MESSAGE } from "../transports/limits.js";
import { bareCause, type CodedError, codesOf } from "./adapting/cause.js";
import { remediesOf, subjectOf, type ToolPlace } from "./adapting/place.js";
import {
  ToolAuthError,
  ToolClientError,
  ToolConnectionError,
  type ToolErrorDetails,
  ToolNodeError,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
} from "./errors.js";

/** The error that `error` stands for at this place. One that is a ToolNodeError already is given back as it is. */
export function adaptError(error: unknown, place: ToolPlace): ToolNodeError {
  if (error instanceof ToolNodeError) return error;
  if (error instanceof SluiceError) return ofOurs(error, place);
  return fromMcp(error, place) ?? fromAxios(error, place) ?? fromAbort(error, place) ?? fromRest(error, place);
}

/** As `adaptError`, for what `fetch` itself rejected with: what it does not explain is a failed connection. */
export function adaptFetchError(error: unknown, place: ToolPlace): ToolNodeError {
  if (error instanceof TypeError) return fromCodes(error, place) ?? unexplained(error, place);
  return adaptError(error, place);
}

// Our own sentences hold no secrets: that of the gate says where in the answer it is at fault.
function ofOurs(error: SluiceError, place: ToolPlace): ToolNodeError {
  return new ToolNodeError(`${subjectOf(place)} gave a result that could not be taken. ${error.message}`, {
    cause: error,
    category: "non_retryable",
  });
}

/** What axios throws has the whole request in it, headers too. */
interface AxiosFailure {
  readonly isAxiosError: true;
  readonly code?: unknown;
  readonly response?: { readonly status?: unknown; readonly headers?: unknown };
}

function fromAxios(error: unknown, place: ToolPlace): ToolNodeError | undefined {
  if (typeof error !== "object" || error === null || (error as Partial<AxiosFailure>).isAxiosError !== true) {
    return undefined;
  }
  const { code, response } = error as AxiosFailure;
  if (typeof response?.status === "number") return fromStatus(response.status, headersOf(response.headers), place);
  if (code === "ERR_CANCELED") return ended(error, place);
  // Its own name for a time limit of its own, unless it is told to say ETIMEDOUT.
  if (code === "ECONNABORTED") return tooSlow(error, place);
  return fromCodes(error, place) ?? unexplained(error, place);
}

function headersOf(headers: unknown): AnswerHeaders | undefined {
  if (typeof headers !== "object" || headers === null) return undefined;
  if ("get" in headers && typeof headers.get === "function") return headers as AnswerHeaders;
  return { get: (name) => Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] };
}

// A DOMException's code is a number: 20 for what was aborted, 23 for what took too long.
function fromAbort(error: unknown, place: ToolPlace): ToolNodeError | undefined {
  if (!(error instanceof DOMException)) return undefined;
  if (error.code === DOMException.TIMEOUT_ERR) return tooSlow(error, place);
  return error.code === DOMException.ABORT_ERR ? ended(error, place) : undefined;
}

function fromRest(error: unknown, place: ToolPlace): ToolNodeError {
  if (error instanceof Error && "code" in error && error.code === "ABORT_ERR") return ended(error, place);
  const remedy = "try again later, and see the source's own log";
  return (
    fromCodes(error, place) ??
    new ToolNodeError(`${subjectOf(place)} failed in a way that is not known: ${remedy}.`, { cause: bareCause(error) })
  );
}

function tooSlow(error: unknown, place: ToolPlace): ToolTimeoutError {
  const remedy = `try again later, or ${remediesOf(place).moreTime}`;
  return new ToolTimeoutError(`${subjectOf(place)} did not answer in time: ${remedy}.`, { cause: bareCause(error) });
}

function ended(error: unknown, place: ToolPlace): ToolNodeError {
  return new ToolNodeError(`${subjectOf(place)} was given up before it answered: call it again.`, {
    category: "cancelled",
    cause: bareCause(error),
  });
}

const BRANDS = Symbol.for("mcp.sdk.errorBrands");

/**
 * The error that one of `@modelcontextprotocol/client` stands for; undefined where it is none of the SDK's. Told by the brands that
 * its classes leave on them: so nothing here imports a client that a host without MCP does not need, and errors of another copy
 * of it are known too.
 */
function fromMcp(error: unknown, place: ToolPlace): ToolNodeError | undefined {
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

/** Headers of an answer: `Headers`, or what axios has. */
export interface AnswerHeaders {
  get(name: string): unknown;
}

/**
 * The error that an HTTP status stands for. Nothing of the answer's body is needed, since none of it may be quoted.
 *
 * @returns 429 a ToolRateLimitError, 500 to 504 a ToolServerError, 401 and 403 a ToolAuthError, any other 4xx a
 * ToolClientError, else a ToolNodeError; each with `status`, and with `retryAfterSeconds` where the answer says so.
 */
export function fromStatus(status: number, headers: AnswerHeaders | undefined, place: ToolPlace): ToolNodeError {
  const retryAfterSeconds = retryAfter(headers);
  const details = { status, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  const subject = subjectOf(place);
  const remedies = remediesOf(place);
  const later = retryAfterSeconds === undefined ? "try again later" : `try again in ${Math.ceil(retryAfterSeconds)} s`;
  if (status === 429) {
    const remedy = `${later}, or ${remedies.fewer}`;
    return new ToolRateLimitError(`${subject} asks for fewer requests (HTTP 429): ${remedy}.`, details);
  }
  if (status >= 500 && status <= 504) {
    return new ToolServerError(`${subject} failed (HTTP ${status}): ${later}.`, details);
  }
  if (status === 401) {
    return new ToolAuthError(`${subject} does not know who asks (HTTP 401): ${remedies.unknown}.`, details);
  }
  if (status === 403) {
    return new ToolAuthError(`${subject} refuses access (HTTP 403): check what the account may do.`, details);
  }
  if (status >= 400 && status < 500) {
    return new ToolClientError(`${subject} refuses the request (HTTP ${status}): ${remedies.refused}.`, details);
  }
  return new ToolNodeError(`${subject} gave no result (HTTP ${status}): ${later}, or check its address.`, details);
}

// `Date.parse` takes nearly anything for a date: only what looks like one of HTTP's three forms is tried.
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? [A-Za-z0-9 :-]{11,30}$/;
const SECONDS = /^\d{1,9}$/;

/** Seconds that `Retry-After` asks for, as a number or an HTTP date; undefined where it says nothing that is understood. */
function retryAfter(headers: AnswerHeaders | undefined): number | undefined {
  const value = text(headers, "retry-after");
  if (value === undefined) return undefined;
  if (SECONDS.test(value)) return Number(value);
  const until = httpDate(value);
  if (until === undefined) return undefined;
  // By the source's clock, where it tells the time: ours may be another.
  return Math.max(0, (until - (httpDate(text(headers, "date")) ?? Date.now())) / 1000);
}

function text(headers: AnswerHeaders | undefined, name: string): string | undefined {
  const value = headers?.get(name);
  return typeof value === "string" ? value.trim() : undefined;
}

function httpDate(value: string | undefined): number | undefined {
  if (value === undefined || !HTTP_DATE.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}

type Kind = "refused" | "unknown_host" | "unreachable" | "slow" | "lost" | "certificate" | "no_http" | "address";

const CODES: Readonly<Record<Kind, string>> = {
  refused: "ECONNREFUSED",
  unknown_host: "ENOTFOUND EAI_AGAIN EAI_NODATA EAI_NONAME",
  unreachable: "EHOSTUNREACH ENETUNREACH EHOSTDOWN ENETDOWN EADDRNOTAVAIL UND_ERR_CONNECT_TIMEOUT",
  slow: "ETIMEDOUT ESOCKETTIMEDOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT",
  lost:
    "ECONNRESET ECONNABORTED ENETRESET ENOTCONN EPIPE ERR_SOCKET_CLOSED ERR_STREAM_PREMATURE_CLOSE ERR_STREAM_DESTROYED " +
    "ERR_NETWORK UND_ERR_SOCKET UND_ERR_CLOSED UND_ERR_DESTROYED UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  certificate:
    "CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_UNTRUSTED CERT_REVOKED DEPTH_ZERO_SELF_SIGNED_CERT " +
    "SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY " +
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE EPROTO",
  no_http: "UND_ERR_HEADERS_OVERFLOW ERR_FR_TOO_MANY_REDIRECTS",
  address: "ERR_INVALID_URL",
};

const KIND_OF: ReadonlyMap<string, Kind> = new Map(
  Object.entries(CODES).flatMap(([kind, codes]) => codes.split(" ").map((code) => [code, kind as Kind])),
);

const SAYS: Readonly<Record<Kind, string>> = {
  refused: "refuses the connection: check that it runs, and its address",
  unknown_host: "has a host name that is not known: check its address, and the network",
  unreachable: "cannot be reached: check its address, and the network",
  slow: "did not answer in time: try again later",
  lost: "ended the connection before its answer was complete: try again later",
  certificate: "could not be connected to safely: check its certificate, and that its address is right to say https",
  no_http: "does not answer as an HTTP server does: check its address",
  address: "has an address that cannot be one: check its connection in the configuration",
};

/** Kinds that trying again does not change. */
const LASTING: ReadonlySet<Kind> = new Set(["certificate", "no_http", "address"]);

/** The error that the first known code of an error or its causes stands for; undefined where none is known. */
function fromCodes(error: unknown, place: ToolPlace): ToolNodeError | undefined {
  for (const coded of codesOf(error)) {
    if (coded.syscall.startsWith("spawn")) return notStarted(coded, error, place);
    const kind = KIND_OF.get(coded.code) ?? kindOfPrefix(coded.code);
    if (kind !== undefined) return connectionError(kind, coded, error, place);
  }
  return undefined;
}

/** What to say where a connection failed and nothing tells why: browsers do not. */
function unexplained(error: unknown, place: ToolPlace): ToolConnectionError {
  // Nobody else asks a server whether a page may read its answers.
  const allowed = isPage() ? ", and that it allows this page (CORS)" : "";
  const remedy = `check its address and the network${allowed}`;
  return new ToolConnectionError(`${subjectOf(place)} cannot be reached: ${remedy}.`, { cause: bareCause(error) });
}

/** Pages, and workers of pages. */
function isPage(): boolean {
  return (globalThis as { readonly location?: unknown }).location !== undefined;
}

function kindOfPrefix(code: string): Kind | undefined {
  if (code.startsWith("HPE_")) return "no_http";
  return code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_") ? "certificate" : undefined;
}

function connectionError(kind: Kind, coded: CodedError, error: unknown, place: ToolPlace): ToolNodeError {
  const neverSent = isBeforeSending(kind, coded);
  const details: ToolErrorDetails = {
    cause: bareCause(error),
    ...(neverSent && { neverSent }),
    ...(LASTING.has(kind) && { category: "non_retryable" }),
    ...(kind === "address" && { code: "E_TOOL_CONFIG" }),
  };
  const Class = kind === "slow" && !neverSent ? ToolTimeoutError : ToolConnectionError;
  const more = kind === "slow" ? `, or ${remediesOf(place).moreTime}` : "";
  return new Class(`${subjectOf(place)} ${SAYS[kind]}${more}.`, details);
}

// A host can become unreachable behind a request as well: then it is not `connect` that says so.
function isBeforeSending(kind: Kind, { code, syscall }: CodedError): boolean {
  if (syscall === "connect" || syscall === "getaddrinfo" || code === "UND_ERR_CONNECT_TIMEOUT") return true;
  return kind === "refused" || kind === "unknown_host" || kind === "address";
}

function notStarted({ code }: CodedError, error: unknown, place: ToolPlace): ToolNodeError {
  const details: ToolErrorDetails = { cause: bareCause(error), neverSent: true, category: "non_retryable" };
  const subject = subjectOf(place);
  if (code === "E2BIG") {
    return new ToolNodeError(`${subject} cannot be started with arguments that long: give it a file instead.`, {
      ...details,
      code: "E_TOOL_CLIENT",
    });
  }
  const remedy = "check that its command is installed, is on the PATH, and may be run";
  return new ToolConnectionError(`${subject} cannot be started: ${remedy}.`, details);
}

export type { ToolPlace } from "./adapting/place.js";
