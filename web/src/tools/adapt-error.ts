/**
 * Turns whatever sources and their libraries throw into a ToolNodeError. Errors are recognised by class and code, never by name or
 * sentence. No field of the thrown error is kept, since it may hold secrets; only a server's reason for a refusal is quoted.
 * @module
 */
import { isThrownFailure } from "../core/store-access.js";
import { SluiceError } from "../errors/error.js";
import { MAX_MESSAGE } from "../jsonrpc/limits.js";
import { refusalBody } from "../mcp/http/refusal.js";
import { objectOr, tryParse, stringOr } from "../jsonrpc/rpc.js";
import {
  badAnswer,
  toRemedies,
  toSubject,
  ToolAuthError,
  ToolClientError,
  ToolConnectionError,
  type ToolErrorDetails,
  ToolNodeError,
  type ToolPlace,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
} from "./errors.js";

/**
 * The ToolNodeError for `error` at this place. A ToolNodeError is returned unchanged.
 *
 * @throws SluiceError the failure of the store, where a host asked for it.
 * @param quoting secrets that a quoted reason must not contain. If left out, no reason is quoted.
 */
export function adaptError(error: unknown, place: ToolPlace, quoting?: Quoting): ToolNodeError {
  if (error instanceof ToolNodeError) return error;
  if (isThrownFailure(error)) throw error;
  if (error instanceof SluiceError) return ofOurs(error, place);
  return fromMcp(error, place, quoting) ?? fromAbort(error, place) ?? fromRest(error, place);
}

/** Like `adaptError`, for what `fetch` rejects with. A TypeError without a known code is a failed connection. */
export function adaptFetchError(error: unknown, place: ToolPlace): ToolNodeError {
  if (error instanceof TypeError) return fromCodes(error, place) ?? toUnexplainedError(error, place);
  return adaptError(error, place);
}

// Our own messages hold no secrets: the gate's says where the answer is wrong.
function ofOurs(error: SluiceError, place: ToolPlace): ToolNodeError {
  return new ToolNodeError(`${toSubject(place)} gave a result that could not be read. ${error.message}`, {
    cause: error,
    category: "non_retryable",
  });
}

// DOMException codes: 20 is AbortError, 23 is TimeoutError.
function fromAbort(error: unknown, place: ToolPlace): ToolNodeError | undefined {
  if (!(error instanceof DOMException)) return undefined;
  if (error.code === DOMException.TIMEOUT_ERR) return tooSlow(error, place);
  return error.code === DOMException.ABORT_ERR ? toCancelledError(error, place) : undefined;
}

function fromRest(error: unknown, place: ToolPlace): ToolNodeError {
  if (error instanceof Error && "code" in error && error.code === "ABORT_ERR") return toCancelledError(error, place);
  const remedy = "try again later, and see the source's own log";
  return (
    fromCodes(error, place) ??
    new ToolNodeError(`${toSubject(place)} failed for an unknown reason: ${remedy}.`, { cause: bareCause(error) })
  );
}

function tooSlow(error: unknown, place: ToolPlace): ToolTimeoutError {
  const remedy = `try again later, or ${toRemedies(place).moreTime}`;
  return new ToolTimeoutError(`${toSubject(place)} did not answer in time: ${remedy}.`, { cause: bareCause(error) });
}

function toCancelledError(error: unknown, place: ToolPlace): ToolNodeError {
  return new ToolNodeError(`${toSubject(place)} was cancelled before it answered: call it again.`, {
    category: "cancelled",
    cause: bareCause(error),
  });
}

const BRANDS = Symbol.for("mcp.sdk.errorBrands");

/**
 * The error for an error of `@modelcontextprotocol/client`; undefined for any other. Recognised by the brands that
 * its classes carry, so that this module does not import the client, and errors of a second copy of it are recognised
 * too.
 */
function fromMcp(error: unknown, place: ToolPlace, quoting?: Quoting): ToolNodeError | undefined {
  const brands = readBrands(error);
  if (brands === undefined) return undefined;
  const { code, status, cause, data, message } = error as Readonly<Record<Field, unknown>>;
  if (brands.has("mcp.SdkHttpError") && typeof status === "number") {
    return because(
      fromStatus(status, undefined, place),
      () => reasonIn(stringOr(objectOr(data)["text"]) ?? ""),
      quoting,
    );
  }
  if (brands.has("mcp.SseError")) return fromStream(error, code, place);
  if (brands.has("mcp.SdkError")) return fromSdk(error, String(code), cause, place);
  if (brands.has("mcp.ProtocolError") && isTooLarge(data)) {
    const what = `answered with more than ${MAX_MESSAGE / 1024 / 1024} MiB that cannot be stored, which is too much`;
    return badAnswer(place, what, "it must answer in smaller pages");
  }
  if (brands.has("mcp.ProtocolError")) {
    const rpc = typeof code === "number" ? code : undefined;
    // With -32603 the SDKs' servers report what a tool threw. Elsewhere the server itself failed.
    const isSaid = !isInternal(rpc) || place.tool !== undefined;
    return because(fromProtocol(rpc, place), () => (isSaid ? (stringOr(message) ?? "") : ""), quoting);
  }
  if (AUTH.some((brand) => brands.has(brand))) {
    const remedy = "check auth_type and auth_config, or connect the account again";
    return new ToolAuthError(`${toSubject(place)} did not accept the credentials: ${remedy}.`, {
      cause: bareCause(error),
    });
  }
  return undefined;
}

/** The fields that are read from an SDK error. */
type Field = "code" | "status" | "cause" | "data" | "message";

/**
 * Appends the server's reason. Not for 401, 403 and 407, whose reasons are about credentials, for 429, or for 5xx,
 * whose reasons are for the operator: other arguments would not help with any of these.
 */
function because(error: ToolNodeError, words: () => string, quoting: Quoting | undefined): ToolNodeError {
  if (quoting !== undefined && saysWhy(error.status)) error.message += quoteReason(words(), quoting);
  return error;
}

/** Whether the reason of an answer with this status is quoted. True without a status. */
function saysWhy(status: number | undefined): boolean {
  if (status === undefined) return true;
  return status >= 400 && status < 500 && !SILENT.has(status);
}

const SILENT: ReadonlySet<number> = new Set([401, 403, 407, 429]);

/**
 * The error for an HTTP answer, with the reason from its body.
 *
 * @param quoting secrets that the reason must not contain.
 */
export async function adaptRefusal(response: Response, place: ToolPlace, quoting: Quoting): Promise<ToolNodeError> {
  const { status, headers } = response;
  const error = fromStatus(status, headers, place);
  if (!saysWhy(status)) {
    await response.body?.cancel().catch(() => undefined);
    return error;
  }
  const body = await refusalBody(response);
  return because(error, () => reasonIn(body.text), quoting);
}

/** The answer of an interceptor to a message that is too large. */
function isTooLarge(data: unknown): boolean {
  return (data as { readonly code?: unknown } | null | undefined)?.code === "E_TOO_LARGE";
}

const AUTH = ["mcp.UnauthorizedError", "mcp.OAuthClientFlowError", "mcp.OAuthError"];

/** Codes of JSON-RPC and MCP that blame the request. */
const FAULTS: ReadonlyMap<number, string> = new Map([
  [-32600, "says that the request is malformed"],
  [-32601, "does not know the method"],
  [-32602, "refuses the arguments"],
  [-32002, "does not know the resource"],
  [-32021, "needs a client with more capabilities"],
  [-32022, "needs another revision of the protocol"],
  [-32042, "needs a person to open a page first"],
]);

function isInternal(code: number | undefined): boolean {
  return code === -32603 || code === -32700;
}

// Not retryable: the same request would get the same answer, or act twice.
function fromProtocol(code: number | undefined, place: ToolPlace): ToolNodeError {
  if (isInternal(code)) return badAnswer(place, `failed (JSON-RPC ${code})`);
  const fault = (code === undefined ? undefined : FAULTS.get(code)) ?? "refuses the request";
  const remedy = "check the tool's name and arguments, and the source's own log";
  const sentence = `${toSubject(place)} ${fault} (JSON-RPC ${code ?? "error"}): ${remedy}.`;
  return new ToolClientError(sentence, code === undefined ? {} : { rpcCode: code });
}

function fromSdk(error: unknown, code: string, cause: unknown, place: ToolPlace): ToolNodeError {
  const subject = toSubject(place);
  const details = { cause: bareCause(error) };
  switch (code) {
    case "REQUEST_TIMEOUT":
      return new ToolTimeoutError(`${subject} did not answer in time: allow it more time (timeout_s).`, details);
    case "NOT_CONNECTED":
    case "NOT_INITIALIZED":
      return new ToolConnectionError(`${subject} is not connected: connect first.`, { ...details, neverSent: true });
    case "CONNECTION_CLOSED":
    case "SEND_FAILED":
      return new ToolConnectionError(`${subject} ended the connection: check that it is still running.`, details);
    case "ERA_NEGOTIATION_FAILED":
      return (
        fromCodes(cause, place) ??
        new ToolConnectionError(`${subject} does not answer like an MCP server: check its address.`, details)
      );
    case "CAPABILITY_NOT_SUPPORTED":
    case "METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION":
      return new ToolClientError(`${subject} does not support this request: check its capabilities.`, details);
    default:
      return new ToolServerError(`${subject} gave an answer that MCP does not allow: see the source's own log.`, {
        ...details,
        category: "non_retryable",
      });
  }
}

// The code of an event stream's error is the HTTP status, if there is one.
function fromStream(error: unknown, code: unknown, place: ToolPlace): ToolNodeError {
  if (typeof code === "number" && code >= 300) return fromStatus(code, undefined, place);
  const subject = toSubject(place);
  return new ToolConnectionError(`${subject} sends no events: check its address, and that it is still running.`, {
    cause: bareCause(error),
  });
}

function readBrands(error: unknown): ReadonlySet<unknown> | undefined {
  if (typeof error !== "object" || error === null || !Object.hasOwn(error, BRANDS)) return undefined;
  const brands = (error as Record<symbol, unknown>)[BRANDS];
  return brands instanceof Set ? brands : undefined;
}

/** The headers of an answer. */
export interface AnswerHeaders {
  get(name: string): unknown;
}

/**
 * The error for an HTTP status. `adaptRefusal` adds the reason from the body.
 *
 * @returns ToolRateLimitError for 429, ToolServerError for 500 to 504, ToolAuthError for 401 and 403, ToolClientError
 *   for other 4xx, else ToolNodeError; with `status`, and with `retryAfterSeconds` if the answer has it.
 */
export function fromStatus(status: number, headers: AnswerHeaders | undefined, place: ToolPlace): ToolNodeError {
  const retryAfterSeconds = retryAfter(headers);
  const details = { status, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  const subject = toSubject(place);
  const remedies = toRemedies(place);
  const later = retryAfterSeconds === undefined ? "try again later" : `try again in ${Math.ceil(retryAfterSeconds)} s`;
  if (status === 429) {
    const remedy = `${later}, or ${remedies.fewer}`;
    return new ToolRateLimitError(`${subject} asks for fewer requests (HTTP 429): ${remedy}.`, details);
  }
  if (status >= 500 && status <= 504) {
    return new ToolServerError(`${subject} failed (HTTP ${status}): ${later}.`, details);
  }
  if (status === 401) {
    return new ToolAuthError(`${subject} did not accept the credentials (HTTP 401): ${remedies.unknown}.`, details);
  }
  if (status === 403) {
    return new ToolAuthError(`${subject} refuses access (HTTP 403): check what the account may do.`, details);
  }
  if (status >= 400 && status < 500) {
    return new ToolClientError(`${subject} refuses the request (HTTP ${status}): ${remedies.refused}.`, details);
  }
  return new ToolNodeError(`${subject} gave no result (HTTP ${status}): ${later}, or check its address.`, details);
}

// `Date.parse` accepts almost anything, so only the three HTTP date formats are passed to it.
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? [A-Za-z0-9 :-]{11,30}$/;
const SECONDS = /^\d{1,9}$/;

/** Seconds of `Retry-After`, given as a number or an HTTP date. Undefined if it is missing or malformed. */
function retryAfter(headers: AnswerHeaders | undefined): number | undefined {
  const value = headerText(headers, "retry-after");
  if (value === undefined) return undefined;
  if (SECONDS.test(value)) return Number(value);
  const until = httpDate(value);
  if (until === undefined) return undefined;
  // Compared with the source's own clock if it sends a date, since ours may differ.
  return Math.max(0, (until - (httpDate(headerText(headers, "date")) ?? Date.now())) / 1000);
}

function headerText(headers: AnswerHeaders | undefined, name: string): string | undefined {
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
  refused: "refused the connection: check that it is running, and its address",
  unknown_host: "has an unknown host name: check its address and the network",
  unreachable: "cannot be reached: check its address, and the network",
  slow: "did not answer in time: try again later",
  lost: "ended the connection before its answer was complete: try again later",
  certificate: "has no valid certificate: check the certificate, and whether the address should say https",
  no_http: "does not answer like an HTTP server: check its address",
  address: "has an invalid address: check its connection in the configuration",
};

/** Failures that a retry does not fix. */
const LASTING: ReadonlySet<Kind> = new Set(["certificate", "no_http", "address"]);

/** The error for the first known code among an error and its causes. Undefined if none is known. */
function fromCodes(error: unknown, place: ToolPlace): ToolNodeError | undefined {
  for (const coded of walkCodes(error)) {
    if (coded.syscall.startsWith("spawn")) return notStarted(coded, error, place);
    const kind = KIND_OF.get(coded.code) ?? kindOfPrefix(coded.code);
    if (kind !== undefined) return connectionError(kind, coded, error, place);
  }
  return undefined;
}

/** The error for a failed connection without a known cause. Browsers never give one. */
function toUnexplainedError(error: unknown, place: ToolPlace): ToolConnectionError {
  // CORS only applies to pages.
  const allowed = isPage() ? ", and that it allows this page (CORS)" : "";
  const remedy = `check its address and the network${allowed}`;
  return new ToolConnectionError(`${toSubject(place)} cannot be reached: ${remedy}.`, { cause: bareCause(error) });
}

/** True in pages and their workers. */
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
  const more = kind === "slow" ? `, or ${toRemedies(place).moreTime}` : "";
  return new Class(`${toSubject(place)} ${SAYS[kind]}${more}.`, details);
}

// A host can also become unreachable after a request was sent; then the system call is not `connect`.
function isBeforeSending(kind: Kind, { code, syscall }: CodedError): boolean {
  if (syscall === "connect" || syscall === "getaddrinfo" || code === "UND_ERR_CONNECT_TIMEOUT") return true;
  return kind === "refused" || kind === "unknown_host" || kind === "address";
}

function notStarted({ code }: CodedError, error: unknown, place: ToolPlace): ToolNodeError {
  const details: ToolErrorDetails = { cause: bareCause(error), neverSent: true, category: "non_retryable" };
  const subject = toSubject(place);
  if (code === "E2BIG") {
    return new ToolNodeError(`${subject} cannot be started with such long arguments: pass a file instead.`, {
      ...details,
      code: "E_TOOL_CLIENT",
    });
  }
  const remedy = "check that its command is installed, is on the PATH, and may be run";
  return new ToolConnectionError(`${subject} cannot be started: ${remedy}.`, details);
}

/** Maximum number of errors to inspect, including causes and members of an AggregateError. */
const MOST_ERRORS = 32;

/** An error's `code` and `syscall`. `syscall` may be empty. */
interface CodedError {
  readonly code: string;
  readonly syscall: string;
}

/** The codes of an error, its causes and the errors it aggregates, outermost first. */
export function* walkCodes(error: unknown): Generator<CodedError, void> {
  const waiting: unknown[] = [error];
  for (let seen = 0; seen < MOST_ERRORS && waiting.length > 0; seen += 1) {
    const next = waiting.shift();
    if (typeof next !== "object" || next === null) continue;
    const { code, syscall, errors, cause } = next as Record<string, unknown>;
    if (typeof code === "string") yield { code, syscall: typeof syscall === "string" ? syscall : "" };
    if (Array.isArray(errors)) waiting.push(...(errors as unknown[]).slice(0, MOST_ERRORS));
    waiting.push(cause);
  }
}

/**
 * A copy of an error without its message and fields, which in HTTP clients hold headers, addresses and bodies and
 * would be logged with the cause. Keeps the class, the code and the stack frames.
 */
function bareCause(error: unknown): Error {
  const bare = new Error("its own message is left out because it may contain secrets");
  const code = [...walkCodes(error)].map((coded) => coded.code).find((one) => WORD.test(one));
  bare.name = code === undefined ? nameClass(error) : `${nameClass(error)} ${code}`;
  bare.stack = [`${bare.name}: ${bare.message}`, ...readFrames(error)].join("\n");
  return bare;
}

const WORD = /^\w{1,60}$/;
/** A frame of V8. Spaces stand in the path of a file alone, as in `C:\Program Files`. */
const FRAME = /^ {4}at [\w$.<> [\]]{0,200} ?\(?(?:[^()\s]{1,300}|(?:\/|[A-Z]:\\)[^()\n]{1,300}):\d+:\d+\)?$/;
const MOST_FRAMES = 10;

function nameClass(error: unknown): string {
  if (!(error instanceof Error)) return "Error";
  const name = Object.getPrototypeOf(error)?.constructor?.name as unknown;
  return typeof name === "string" && WORD.test(name) ? name : "Error";
}

/** The stack frames after the message. The message itself may contain lines that look like frames. */
function readFrames(error: unknown): readonly string[] {
  if (!(error instanceof Error) || typeof error.stack !== "string") return [];
  const { message, stack } = error;
  const at = stack.indexOf(message);
  // The message changed after the stack was captured, so its end in the stack is unknown.
  if (at < 0) return [];
  const lines = stack.slice(at + message.length, at + message.length + 8000).split("\n");
  return lines.filter((line) => FRAME.test(line)).slice(0, MOST_FRAMES);
}

/** How a server's words are quoted. */
export interface Quoting {
  /** Values to remove, in case the server repeats them. */
  readonly secrets: readonly string[];
}

/** Maximum characters of a quotation. */
const MAX_QUOTED = 300;

/** Maximum characters that are inspected. */
const MAX_WORDS = 4096;

/** Longer runs of letters and digits are encoded bytes rather than words. Only their beginning is kept. */
const MAX_RUN = 60;
const RUN_LEFT = 24;

const ENCODED = String.raw`[\w+/=%\\-]{${MAX_RUN + 1},}`;
const RUNS = new RegExp(`${ENCODED}(?: ${ENCODED})*`, "g");

/** Shorter values occur in ordinary text and are not treated as secrets. */
const LEAST_SECRET = 6;

/**
 * Quotes a server's words, as ` It says: "…"`: one line of at most 300 characters, as a JSON string, without
 * invisible characters and secrets. Empty if there is nothing to quote.
 */
export function quoteReason(words: string, { secrets }: Quoting, lead: string = "It says:"): string {
  // Secrets are removed before the text is cut, so that no part of one is left.
  const line = withoutSecrets(words.slice(0, 2 * MAX_WORDS), secrets)
    .slice(0, MAX_WORDS)
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  // Again, since invisible characters inside a secret are gone now.
  const shown = withoutSecrets(line, secrets)
    .replaceAll(RUNS, (run) => `${run.slice(0, RUN_LEFT)}…`)
    // `[sluice` marks our own notes in observations.
    .replaceAll(/\[(?=\s*sluice\b)/gi, "(");
  if (shown === "") return "";
  const points = Array.from(shown);
  return ` ${lead} ${JSON.stringify(points.length > MAX_QUOTED ? `${points.slice(0, MAX_QUOTED).join("")}…` : shown)}`;
}

/** Replaces secrets with `***`, in all the forms that servers repeat them in. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let left = text;
  for (const secret of secrets.flatMap(listForms).toSorted((a, b) => b.length - a.length)) {
    left = left.replaceAll(secret, "***");
  }
  return left;
}

/** The forms of a secret: with and without its scheme, decoded, and percent-encoded. */
function listForms(secret: string): readonly string[] {
  const bare = secret.replace(/^(?:Bearer|Basic|Token)\s+/i, "");
  const forms = [secret, bare, ...pairIn(secret), encodeOrKeep(bare)];
  return [...new Set(forms.map((form) => form.trim()))].filter(({ length }) => length >= LEAST_SECRET);
}

/** Basic credentials, decoded (RFC 7617). */
function pairIn(secret: string): readonly string[] {
  const encoded = /^Basic\s+([A-Za-z0-9+/=]+)$/i.exec(secret)?.[1];
  if (encoded === undefined) return [];
  try {
    const pair = atob(encoded);
    return [pair, pair.slice(pair.indexOf(":") + 1)];
  } catch {
    return [];
  }
}

function encodeOrKeep(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Limits for searching a body. */
const MAX_DEPTH = 5;
const MAX_ENTRIES = 5;

/**
 * Members in which APIs explain errors, in the order in which they are quoted (RFC 9457 §3.1 for `title` and
 * `detail`).
 */
const SAYING: readonly string[] = [
  "title",
  "error",
  "message",
  "msg",
  "detail",
  "details",
  "error_description",
  "reason",
  "description",
  "errors",
];

/** Members that name the wrong field. */
const NAMING: readonly string[] = ["loc", "field", "path", "pointer", "parameter", "param", "property"];

/** The reason in the body of a refusal. Empty if there is none to quote. */
export function reasonIn(body: string): string {
  const text = body.trim();
  // HTML pages and binary data are not quoted.
  if (text.startsWith("<") || /[\0\ufffd]/.test(text)) return "";
  const value = tryParse(text);
  if (value === undefined) return /^[{[]/.test(text) ? "" : text;
  return [...new Set(sayings(value, 0))].join("; ").slice(0, MAX_WORDS);
}

function sayings(value: unknown, depth: number): readonly string[] {
  if (typeof value === "string") return value.trim() === "" ? [] : [value.trim()];
  if (typeof value !== "object" || value === null || depth >= MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).flatMap((each) => sayings(each, depth + 1));
  const members = objectOr(value);
  const said = SAYING.flatMap((name) => {
    const own = Object.hasOwn(members, name) ? members[name] : undefined;
    return name === "errors" && !Array.isArray(own) ? byName(own, depth + 1) : sayings(own, depth + 1);
  });
  const where = findName(members);
  return where === "" ? said : said.map((each) => `${where}: ${each}`);
}

/** Errors grouped by field name, as several frameworks write them. */
function byName(value: unknown, depth: number): readonly string[] {
  if (typeof value === "string") return sayings(value, depth);
  return Object.entries(objectOr(value))
    .slice(0, MAX_ENTRIES)
    .flatMap(([name, each]) => sayings(each, depth).map((said) => `${name}: ${said}`));
}

function findName(members: Readonly<Record<string, unknown>>): string {
  for (const name of NAMING) {
    const own = Object.hasOwn(members, name) ? members[name] : undefined;
    const path = Array.isArray(own) ? own.filter((part) => typeof part === "string" || typeof part === "number") : own;
    const text = Array.isArray(path) ? path.slice(0, MAX_ENTRIES * 2).join(".") : (stringOr(path) ?? "");
    if (text !== "") return text;
  }
  return "";
}
