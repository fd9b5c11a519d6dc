/**
 * What a provider's failures mean, said without what it sent: answers and addresses may hold codes and tokens.
 * @module
 */
import * as oauth from "oauth4webapi";
import { fromStatus } from "../adapt-error.js";
import { ToolAuthError, ToolConnectionError, ToolNodeError, ToolRateLimitError, ToolServerError } from "../errors.js";

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
