/**
 * Requests to OAuth providers: they end in time, their answers are bounded, and what goes wrong is told without what was
 * answered: that may hold codes and tokens.
 * @module
 */
import * as oauth from "oauth4webapi";
import { joined } from "../../transports/bytes.js";
import { fromStatus } from "../adapt-error.js";
import {
  ToolAuthError,
  ToolConnectionError,
  ToolNodeError,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
} from "../errors.js";
import { chunksIn } from "../../core/value.js";

/** How long one question may take, in milliseconds. */
const MAX_WAIT = 30_000;

/**
 * Asks. Throws the reason of the caller's signal, a ToolTimeoutError when it takes too long, else what `failure` makes of
 * what was thrown.
 */
export async function asked<T>(
  provider: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
  failure: (error: unknown, provider: string) => Error = failureOf,
): Promise<T> {
  signal?.throwIfAborted();
  const late = AbortSignal.timeout(MAX_WAIT);
  try {
    return await work(signal === undefined ? late : AbortSignal.any([signal, late]));
  } catch (error) {
    signal?.throwIfAborted();
    if (!late.aborted) throw failure(error, provider);
    const sentence = `The OAuth provider of ${provider} did not answer within ${MAX_WAIT / 1000} s: try again later.`;
    throw new ToolTimeoutError(sentence, { neverSent: true });
  }
}

/** Most bytes of one answer. */
const MAX_ANSWER = 256 * 1024;

/** What of a token answer is read. Not the ID token: who the user is, the host knows. */
const TOKEN_MEMBERS = ["access_token", "token_type", "expires_in", "refresh_token", "scope", "error"] as const;

/** As the global one. */
export type Fetch = typeof globalThis.fetch;

/** A `fetch` whose answers have arrived whole and are short. Throws a TypeError for longer ones, as for broken ones. */
export function shortFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const bytes = await shortBody(response);
    // In browsers a redirect that is not followed has no status; nothing that we ask for is redirected.
    if (response.status < 200 || [204, 205, 304].includes(response.status)) return new Response(null, { status: 502 });
    return new Response(bytes, { status: response.status, headers: response.headers });
  };
}

/** A `fetch` for the token endpoint: keeps only what is read, and errors have the status of errors. */
export function tokenFetch(fetch: Fetch): Fetch {
  const short = shortFetch(fetch);
  return async (input, init) => {
    const response = await short(input, init);
    const body: unknown = await response.json().catch(() => null);
    if (typeof body !== "object" || body === null) return new Response("", response);
    const members = body as Record<string, unknown>;
    // Null says the same as nothing, and some providers say it.
    const read = Object.fromEntries(
      TOKEN_MEMBERS.map((name) => [name, members[name]]).filter(
        ([, value]) => typeof value === "string" || typeof value === "number",
      ),
    );
    // Some providers answer 200 and say in the body that it was an error.
    const isWrong = typeof read["error"] === "string" && response.status < 300;
    const status = isWrong ? 400 : response.status;
    return new Response(JSON.stringify(read), { status, headers: response.headers });
  };
}

async function shortBody(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunksIn(response)) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER) throw new TypeError("the answer is too long");
    chunks.push(chunk);
  }
  return joined(chunks) as Uint8Array<ArrayBuffer>;
}

/** The errors that RFC 6749 and its companions name; others are not repeated. */
const KNOWN_ERRORS = new Set(
  (
    "access_denied invalid_client invalid_grant invalid_request invalid_scope invalid_target server_error " +
    "temporarily_unavailable unauthorized_client unsupported_grant_type unsupported_response_type " +
    "consent_required interaction_required login_required"
  ).split(" "),
);

/** How providers say that a refresh token is over: as RFC 6749 does, and in words of their own. */
const SPENT = new Set(["invalid_grant", "bad_refresh_token", "invalid_refresh_token"]);

/** Whether the provider says that what it gave is of no use any more: only the person can give another. */
export function isSpent(error: unknown): boolean {
  return error instanceof oauth.ResponseBodyError && SPENT.has(error.error);
}

/**
 * The error that callers see. Says that the source was not asked: without a token nothing is sent there. Has no cause, since
 * that of the library holds answers, and no status where that would be taken for the source's own refusal.
 */
export function failureOf(error: unknown, provider: string): ToolNodeError {
  if (error instanceof ToolNodeError) return error;
  if (error instanceof oauth.AuthorizationResponseError) return refusal(error.error, provider);
  if (error instanceof oauth.ResponseBodyError) return ofAnswer(error.response, provider, error.error);
  if (error instanceof oauth.WWWAuthenticateChallengeError) return ofAnswer(error.response, provider);
  if (error instanceof oauth.OperationProcessingError) {
    if (error.cause instanceof Response) return ofAnswer(error.cause, provider);
    const code = error.code ?? "no code";
    return failed(`The OAuth provider ${provider} answered in a way that the specification forbids (${code}).`);
  }
  if (error instanceof oauth.UnsupportedOperationError) {
    return failed(`The OAuth provider ${provider} gives tokens of a kind that is not supported: bearer tokens are.`);
  }
  return new ToolConnectionError(`The OAuth provider ${provider} cannot be reached: try again later.`, UNSENT);
}

const UNSENT = { neverSent: true } as const;

function refusal(reason: string, provider: string): ToolAuthError {
  if (reason === "access_denied")
    return failed(`The request for access to ${provider} was declined: nothing was stored.`);
  return failed(`The OAuth provider ${provider} refused the request${named(reason)}.`);
}

function ofAnswer({ status, headers }: Response, provider: string, reason?: string): ToolNodeError {
  const said = named(reason);
  const { retryAfterSeconds } = fromStatus(status, headers, { source: provider });
  const details = { ...UNSENT, status, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  if (status === 429) return new ToolRateLimitError(`The OAuth provider ${provider} wants fewer requests.`, details);
  if (status >= 500)
    return new ToolServerError(`The OAuth provider ${provider} failed${said}: try again later.`, details);
  if (reason === "invalid_grant") {
    return failed(`The OAuth provider ${provider} does not take the code any more: ask the user for consent again.`);
  }
  const remedy = "check its addresses, client_id, client_secret and redirect_uri";
  return failed(`The OAuth provider ${provider} refused us${said}: ${remedy}.`);
}

function failed(sentence: string): ToolAuthError {
  return new ToolAuthError(sentence, UNSENT);
}

function named(reason: string | undefined): string {
  return reason !== undefined && KNOWN_ERRORS.has(reason) ? ` (${reason})` : "";
}
