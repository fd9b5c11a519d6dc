/**
 * Refusals of requests, and how errors are told to clients.
 * @module
 */
import { alternatives } from "../../errors/arguments.js";
import { SluiceError, type ErrorCode } from "../../errors/error.js";
import { ToolNodeError } from "../../tools/errors.js";
import { StoreLate } from "./time-limit.js";
import { BodyRefused } from "./request.js";
import { refusal } from "./answers.js";

/** A limit that the sender has reached: no fault of the server. */
export class LimitReached extends SluiceError {
  /** Seconds until there is room again, where time alone makes it. */
  declare readonly retryAfterSeconds?: number;

  constructor(code: ErrorCode, message: string, place: { readonly path: string }, retryAfterSeconds?: number) {
    super(code, message, place);
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** 401. The same words for no session, an expired one and a foreign token. */
export function sessionRefused(): Response {
  const message =
    "There is no session, or it has ended: start one with POST sessions, and send its cookie or its token.";
  return refusal(401, "E_SESSION", message, { "WWW-Authenticate": 'Bearer realm="sluice"' });
}

/** 401, for a user whom the host does not know. */
export function identityRefused(): Response {
  return refusal(
    401,
    "E_SESSION",
    "You are not signed in: sign in first, or send the credentials that this server expects.",
  );
}

/** The error if a user cannot be identified. */
export function signInUnknown(cause: unknown): SluiceError {
  return new SluiceError("E_STORE_READ", "Sign-in cannot be checked at the moment: try again.", {}, { cause });
}

/** 403, for a foreign host name or origin. */
export function originRefused(message: string): Response {
  return refusal(403, "E_FORBIDDEN", message);
}

/** 429, for too many requests. */
export function rateRefused(seconds: number): Response {
  const message = `Too many requests in a minute: try again in ${seconds} s.`;
  return refusal(429, "E_RATE_LIMIT", message, { "Retry-After": String(seconds) });
}

/** 429, for too many concurrent requests of a kind. */
export function busyRefused(what: "requests" | "large requests" | "listeners"): Response {
  const message = `This session has too many ${what} at the same time: wait until one ends.`;
  return refusal(429, "E_RATE_LIMIT", message, { "Retry-After": "1" });
}

/** Tells that work ended with the server. */
export const CLOSING = "The server is closing: try again in a moment.";

/** 503, while the server closes: clients try another process, or later. */
export function closingRefused(): Response {
  return refusal(503, "E_STORE_CLOSED", CLOSING, { "Retry-After": "1" });
}

/** 503, before the server has opened its stores. */
export function startingRefused(): Response {
  return refusal(503, "E_STORE_CLOSED", "The server is starting: try again in a moment.", { "Retry-After": "1" });
}

/** 503, while a store or the state cannot be reached. */
export function awayRefused({ code, message }: SluiceError): Response {
  return refusal(503, code, message);
}

/** 404, for an unknown address. */
export function nothingThere(): Response {
  return refusal(404, "E_NOT_FOUND", "Nothing is served at this address.");
}

/** 405, for a wrong method. */
export function methodRefused(allowed: string): Response {
  return refusal(405, "E_INVALID_ARGUMENT", `Use ${alternatives(allowed.split(", "))} here.`, { Allow: allowed });
}

/** What refusals there are. */
interface Refused {
  readonly status: number;
  readonly code: ErrorCode;
  /** When it is answered, as the document tells it. */
  readonly when: string;
}

const among = (status: number, codes: readonly ErrorCode[], when: string): readonly Refused[] =>
  codes.map((code) => ({ status, code, when }));

/** Every refusal, by its status. */
export const REFUSED: readonly Refused[] = [
  ...among(400, ["E_INVALID_ARGUMENT", "E_INVALID_PATH"], "Something is not valid; the message names the place."),
  ...among(400, ["E_TOOL_CLIENT"], "The source refuses it."),
  ...among(401, ["E_SESSION"], "There is no session, it is over, or no user is signed in."),
  ...among(403, ["E_FORBIDDEN"], "Requests from this host name or origin are refused."),
  ...among(
    404,
    ["E_NOT_FOUND"],
    "It is unknown, or another's: the same words. Also a resource that its source does not have.",
  ),
  ...among(404, ["E_TOOL_UNSUPPORTED"], "The source does not have it."),
  ...among(405, ["E_INVALID_ARGUMENT"], "The address has other methods: `Allow` says which."),
  ...among(408, ["E_INVALID_ARGUMENT"], "The body does not arrive."),
  ...among(410, ["E_EXPIRED"], "It was there, and is not any more."),
  ...among(412, ["E_INVALID_ARGUMENT"], "The condition names other bytes."),
  ...among(413, ["E_TOO_LARGE", "E_FILE_TOO_LARGE"], "It is larger than is taken."),
  ...among(415, ["E_INVALID_ARGUMENT"], "The body is not of the type that is wanted."),
  ...among(416, ["E_INVALID_ARGUMENT"], "The range is behind the end."),
  ...among(
    429,
    ["E_RATE_LIMIT"],
    "There are too many requests in a minute, or at once: `Retry-After` says how long to wait.",
  ),
  ...among(500, ["E_INTERNAL"], "The server has a fault, which its operator is told of."),
  ...among(502, ["E_TOOL", "E_TOOL_AUTH", "E_TOOL_CONNECTION", "E_TOOL_SERVER"], "A source failed."),
  ...among(502, ["E_LLM", "E_LLM_AUTH", "E_LLM_CONNECTION", "E_LLM_REQUEST", "E_LLM_SERVER"], "The model failed."),
  ...among(
    503,
    ["E_STORE_READ", "E_STORE_WRITE", "E_STORE_DENIED", "E_STORE_CORRUPT", "E_STORE_CLOSED"],
    "The store or the state cannot be used, or the server is closing. `Retry-After` where it may soon be back.",
  ),
  ...among(503, ["E_TOOL_RATE_LIMIT", "E_LLM_RATE_LIMIT"], "A source or the model is asked too much."),
  ...among(
    504,
    ["E_TOOL_TIMEOUT", "E_LLM_TIMEOUT", "E_PLANNER_TIME"],
    "A source or the model did not answer in time, or the run took too long.",
  ),
  ...among(504, ["E_STORE_READ"], "The store did not answer in time."),
  ...among(507, ["E_STORE_FULL"], "There is no room left."),
];

const STATUS: Partial<Record<ErrorCode, number>> = {
  E_NOT_FOUND: 404,
  E_EXPIRED: 410,
  E_INVALID_ARGUMENT: 400,
  E_INVALID_PATH: 400,
  E_TOO_LARGE: 413,
  E_FILE_TOO_LARGE: 413,
  E_RATE_LIMIT: 429,
  E_STORE_FULL: 507,
  E_STORE_READ: 503,
  E_STORE_WRITE: 503,
  E_STORE_DENIED: 503,
  E_STORE_CORRUPT: 503,
  E_STORE_CLOSED: 503,
  E_TOOL_TIMEOUT: 504,
  E_TOOL_CONNECTION: 502,
  E_TOOL_SERVER: 502,
  E_TOOL_AUTH: 502,
  E_TOOL_RATE_LIMIT: 503,
  E_TOOL_CLIENT: 400,
  E_TOOL_UNSUPPORTED: 404,
  E_TOOL: 502,
  E_LLM: 502,
  E_LLM_AUTH: 502,
  E_LLM_TIMEOUT: 504,
  E_LLM_CONNECTION: 502,
  E_LLM_RATE_LIMIT: 503,
  E_LLM_REQUEST: 502,
  E_LLM_SERVER: 502,
  E_PLANNER_TIME: 504,
};

/** An error as clients see it. */
interface SaidError {
  /** The HTTP status. */
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
}

/**
 * An error for clients: its own message if that is meant for them. Otherwise a message without details, and the error
 * is reported.
 */
export function toSaidError(error: unknown, report: (error: unknown) => void): SaidError {
  if (error instanceof BodyRefused) return { status: error.status, code: error.code, message: error.message };
  const known = error instanceof StoreLate ? 504 : error instanceof SluiceError ? STATUS[error.code] : undefined;
  if (error instanceof ToolNodeError && error.isNotFound === true) {
    return { status: 404, code: "E_NOT_FOUND", message: error.message };
  }
  // A user's own limit is no failure of the store.
  if (known === undefined || (known >= 500 && !(error instanceof LimitReached))) report(error);
  if (known === undefined) return { status: 500, code: "E_INTERNAL", message: "The server failed: try again." };
  const { code, message } = error as SluiceError;
  return { status: known, code, message };
}

/** An error as an answer, see {@link toSaidError}. */
export function refuseError(error: unknown, report: (error: unknown) => void): Response {
  const { status, code, message } = toSaidError(error, report);
  const after = error instanceof LimitReached ? error.retryAfterSeconds : undefined;
  return refusal(status, code, message, after === undefined ? {} : { "Retry-After": String(after) });
}
