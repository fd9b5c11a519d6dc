/**
 * Whatever sources and their libraries throw, as ToolNodeErrors: told by class and by code, never by a name or a sentence.
 * Nothing that was thrown is quoted, and no fields of it are kept, since both may hold secrets.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { bareCause } from "./adapting/cause.js";
import { fromMcp } from "./adapting/mcp.js";
import { remediesOf, subjectOf, type ToolPlace } from "./adapting/place.js";
import { fromStatus, type AnswerHeaders } from "./adapting/status.js";
import { fromCodes, unexplained } from "./adapting/system.js";
import { ToolNodeError, ToolTimeoutError } from "./errors.js";

export { fromStatus } from "./adapting/status.js";
export type { AnswerHeaders } from "./adapting/status.js";
export type { ToolPlace } from "./adapting/place.js";

/**
 * Whether the signal's owner ended the call: then `signal.reason` is to be thrown, whatever came of the call, and nothing
 * is adapted or tried again.
 */
export function isCancellation(_error: unknown, signal: AbortSignal | undefined): signal is AbortSignal {
  // Libraries turn a reason into errors of their own, timeouts even: what was thrown does not tell.
  return signal?.aborted === true;
}

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
