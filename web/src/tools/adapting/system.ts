/**
 * What operating systems, `fetch` and HTTP clients say by their codes, as errors.
 * @module
 */
import { ToolConnectionError, ToolNodeError, ToolTimeoutError, type ToolErrorDetails } from "../errors.js";
import { bareCause, codesOf, type CodedError } from "./cause.js";
import { remediesOf, subjectOf, type ToolPlace } from "./place.js";

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
export function fromCodes(error: unknown, place: ToolPlace): ToolNodeError | undefined {
  for (const coded of codesOf(error)) {
    if (coded.syscall.startsWith("spawn")) return notStarted(coded, error, place);
    const kind = KIND_OF.get(coded.code) ?? kindOfPrefix(coded.code);
    if (kind !== undefined) return connectionError(kind, coded, error, place);
  }
  return undefined;
}

/** What to say where a connection failed and nothing tells why: browsers do not. */
export function unexplained(error: unknown, place: ToolPlace): ToolConnectionError {
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
