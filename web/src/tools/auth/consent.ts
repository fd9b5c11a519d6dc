/**
 * A user's consent, asked for through the host: once, however many of the user's calls need it.
 * @module
 */
import { fullScope } from "../../artifacts/scope.js";
import type { ToolContext } from "../context.js";
import { ToolAuthError, ToolNodeError, ToolRateLimitError, ToolTimeoutError } from "../errors.js";
import { untilAborted } from "../../core/abort.js";
import type { OAuthManager } from "./oauth-manager.js";
import { ownerKey, tokenOwner } from "./owner.js";
import { MAX_WAIT, Questions } from "./questions.js";
import { tokenKey } from "./token-store.js";

/** What users are being asked, by whoever keeps their tokens. */
const asked = new WeakMap<OAuthManager, Questions<string>>();

/**
 * Asks the user of a call for consent through the host, waits for the answer, and gives the token. Where another call of
 * the same user asks for the same provider already, waits for its answer, ten minutes at most, and asks only when that call
 * gives up: when its signal is aborted, or its `pause` throws what is no ToolNodeError.
 *
 * @throws ToolAuthError when nobody can ask, or there is no token afterwards; ToolTimeoutError when another call's question
 * stays unanswered; what `pause` throws; the signal's reason.
 */
export async function askUser(manager: OAuthManager, provider: string, context: ToolContext): Promise<string> {
  const { pause, signal } = context;
  const key = tokenKey(ownerKey(tokenOwner(fullScope(context.scope))), provider);
  return questionsOf(manager).answer(key, {
    ...(pause !== undefined && { ask: () => consented(manager, provider, pause, context) }),
    isAnswer: (error) => error instanceof ToolNodeError && signal?.aborted !== true,
    unable: () => cannotAsk(provider),
    late: () => unanswered(provider),
    crowded: () => crowded(provider),
    signal,
  });
}

function questionsOf(manager: OAuthManager): Questions<string> {
  const questions = asked.get(manager) ?? new Questions<string>();
  asked.set(manager, questions);
  return questions;
}

async function consented(
  manager: OAuthManager,
  provider: string,
  pause: NonNullable<ToolContext["pause"]>,
  { signal, scope: written }: ToolContext,
): Promise<string> {
  const scope = fullScope(written);
  const owner = tokenOwner(scope);
  const options = signal === undefined ? {} : { signal };
  // Whoever asked before may have been answered after it was looked for.
  const given = await manager.getToken(owner, provider, options);
  if (given !== null) return given;
  const request = await manager.getAuthRequest({ provider, ...owner, trace_id: scope.trace_id }, options);
  signal?.throwIfAborted();
  await untilAborted(pause("external_event", { pause_type: "oauth", provider, ...request }), signal);
  const token = await manager.getToken(owner, provider, options);
  if (token !== null) return token;
  throw new ToolAuthError(`The user did not give access to ${provider}: call again to ask once more.`);
}

function cannotAsk(provider: string): ToolAuthError {
  return new ToolAuthError(
    `The user has not given access to ${provider}, and cannot be asked here: give the call's context a pause, or get ` +
      "consent before through the OAuthManager.",
  );
}

function unanswered(provider: string): ToolTimeoutError {
  const sentence = `The user did not answer the request for access to ${provider} within ${MAX_WAIT / 60_000} minutes`;
  return new ToolTimeoutError(`${sentence}: call again to ask once more.`, { neverSent: true });
}

function crowded(provider: string): ToolRateLimitError {
  const sentence = `Too many calls wait for the user's access to ${provider}: call again when it was given.`;
  return new ToolRateLimitError(sentence, { category: "non_retryable", neverSent: true });
}
