/**
 * What answers are that are none, as errors: a server's own words stand in them defused and without the key.
 * @module
 */
import { fromStatus, type ToolPlace } from "../../../tools/adapt-error.js";
import { subjectOf } from "../../../tools/adapting/place.js";
import { ToolClientError, ToolConnectionError, ToolServerError } from "../../../tools/errors.js";
import { errorIn } from "./assembly.js";

/** Where an error is, and what it must not tell. */
export interface Failing {
  readonly place: ToolPlace;
  /** What must not be told to anybody, should the server quote it. */
  readonly secret: string | undefined;
}

/** Characters of a server's own sentence. */
const MAX_SENTENCE = 300;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Whether the server sends us on; browsers hide where. */
export function isRedirect({ type, status }: Response): boolean {
  return type === "opaqueredirect" || REDIRECTS.has(status);
}

/** A redirect, which is not followed. */
export function redirected({ status, headers, url }: Response, failing: Failing): ToolClientError {
  const known = status === 0 ? "" : ` (HTTP ${status})`;
  const remedy = "where that is right, give the address that it leads to as baseUrl";
  const sentence = `${subjectOf(failing.place)} redirects${known}, which is not followed: ${remedy}.`;
  const target = quoted(baseIn(headers.get("location"), url), failing);
  return new ToolClientError(target === "" ? sentence : `${sentence} It leads to ${target}`, {
    ...(status !== 0 && { status }),
  });
}

/** An answer that is whole, and no chat completion. */
export function noCompletion({ headers }: Response, { place }: Failing): ToolClientError {
  const [type] = /^[\w.+-]{1,40}\/[\w.+-]{1,40}/.exec(headers.get("content-type") ?? "") ?? [];
  const what = type === undefined ? "with what is no chat completion" : `with ${type} that is no chat completion`;
  const remedy = "check its address (baseUrl), which ends in /v1 at most servers";
  return new ToolClientError(`${subjectOf(place)} answered ${what}: ${remedy}.`);
}

/** An error in an answer that says that all is well: in place of it, or in the middle of its stream. */
export function told(
  { message, status }: NonNullable<ReturnType<typeof errorIn>>,
  failing: Failing,
  isWhole: boolean,
): Error {
  const subject = subjectOf(failing.place);
  const error = ((): Error => {
    if (status !== undefined) return fromStatus(status, undefined, failing.place);
    if (!isWhole) return new ToolServerError(`${subject} failed in the middle of its answer: try again later.`);
    return new ToolClientError(`${subject} answered with an error: check its name and its address (baseUrl).`);
  })();
  error.message += said(message, failing);
  return error;
}

/** A server's sentence behind ours; nothing where it has none. */
export function said(sentence: string, failing: Failing): string {
  const line = quoted(sentence, failing);
  return line === "" ? "" : ` It says: ${line}`;
}

/** The server's sentence in the answer to a request that it refuses; empty where there is none. */
export function reasonOf(text: string): string {
  try {
    const answer: unknown = JSON.parse(text);
    // Some put what went wrong into a list of one.
    return errorIn(Array.isArray(answer) ? answer[0] : answer)?.message ?? "";
  } catch {
    return "";
  }
}

/** A stream in which something is that is no JSON. */
export function noJson({ place }: Failing): ToolServerError {
  return new ToolServerError(`${subjectOf(place)} wrote what is no JSON in the middle of its answer: try again later.`);
}

/** A stream that ended before its end. */
export function brokenOff({ place }: Failing): ToolConnectionError {
  return new ToolConnectionError(
    `${subjectOf(place)} ended the connection before its answer was complete: try again later.`,
  );
}

/** A text that is nobody's but the server's. */
function quoted(text: string, { secret }: Failing): string {
  const hidden = secret === undefined || secret === "" ? text : text.replaceAll(secret, "***");
  const line = hidden.replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  if (line === "") return "";
  return JSON.stringify(line.length > MAX_SENTENCE ? `${line.slice(0, MAX_SENTENCE)}…` : line);
}

/** The base URL that an address stands for, without what may be a secret; empty where there is none. */
function baseIn(location: string | null, asked: string): string {
  const base = asked === "" ? undefined : asked;
  if (location === null || !URL.canParse(location, base)) return "";
  const { protocol, origin, pathname } = new URL(location, base);
  return /^https?:$/.test(protocol) ? `${origin}${pathname.replace(/\/chat\/completions\/?$/, "")}` : "";
}
