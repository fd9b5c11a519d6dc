/**
 * Why a request is not answered as it would like.
 * @module
 */
import { SluiceError, type ErrorCode } from "../errors/error.js";
import { BodyRefused } from "./http/read-body.js";
import { refusal } from "./json-answer.js";

/** No session, one that is over, or a token that is not ours: in the same words. */
export function sessionRefused(): Response {
  const message = "There is no session, or it is over: begin one with POST sessions, and send its cookie or its token.";
  return refusal(401, "E_SESSION", message, { "WWW-Authenticate": 'Bearer realm="sluice"' });
}

/** Whom the host does not know. */
export function identityRefused(): Response {
  return refusal(401, "E_SESSION", "Nobody is signed in: sign in first, or send the credentials that are wanted here.");
}

/** From where it may not come. */
export function originRefused(message: string): Response {
  return refusal(403, "E_FORBIDDEN", message);
}

/** Asked for too often. */
export function rateRefused(seconds: number): Response {
  const message = `That is more than one session may ask for: try again in ${seconds} s.`;
  return refusal(429, "E_RATE_LIMIT", message, { "Retry-After": String(seconds) });
}

/** Nothing is served there. */
export function nothingThere(): Response {
  return refusal(404, "E_NOT_FOUND", "Nothing is served at this address.");
}

/** The address is right, the method is not. */
export function methodRefused(allowed: string): Response {
  return refusal(405, "E_INVALID_ARGUMENT", `Use ${allowed} here.`, { Allow: allowed });
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  E_NOT_FOUND: 404,
  E_EXPIRED: 410,
  E_INVALID_ARGUMENT: 400,
  E_INVALID_PATH: 400,
  E_TOO_LARGE: 413,
  E_FILE_TOO_LARGE: 413,
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

/** What came of an error: its own sentence where that is made for whoever asks, else one that tells nothing. */
export function failed(error: unknown, report: (error: unknown) => void): Response {
  if (error instanceof BodyRefused) return refusal(error.status, error.code, error.message);
  const status = error instanceof SluiceError ? STATUS[error.code] : undefined;
  if (status === undefined || status >= 500) report(error);
  if (status === undefined) return refusal(500, "E_INTERNAL", "That failed here: try again.");
  const { code, message } = error as SluiceError;
  return refusal(status, code, message);
}
