/**
 * HTTP answers that are none, as errors (ToolNode 2.1 `_from_status`).
 * @module
 */
import { ToolAuthError, ToolClientError, ToolNodeError, ToolRateLimitError, ToolServerError } from "../errors.js";
import { remediesOf, subjectOf, type ToolPlace } from "./place.js";

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
