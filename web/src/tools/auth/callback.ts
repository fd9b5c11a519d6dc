/**
 * What comes back from a consent page, and what is said of it.
 * @module
 */

/** What came back from the consent page: the parameters of the query, or the whole URL. */
export type OAuthCallback =
  | URL
  | {
      /** Which request is answered. */
      readonly state: string;
      /** What tokens are given for. */
      readonly code?: string;
      /** Who answers (RFC 9207); some providers insist on it. */
      readonly iss?: string;
      /** Why there is no code. */
      readonly error?: string;
    };

/** Whose request was answered. */
export interface CallbackAnswer {
  /** The person. */
  readonly user_id: string;
  /** The tenant; null where there are none. */
  readonly tenant_id: string | null;
  /** What waits for the answer, as it was given with the question. */
  readonly trace_id: string | null;
}

/**
 * What `handleCallback` throws, as a rule a `ToolNodeError`. Where it is known whose request was answered the error says so,
 * in properties that logs do not show; else they are left out. What the caller's own signal ended says nothing of it.
 */
export type CallbackError = Error & Partial<CallbackAnswer>;

/** Has an error say whose request it answers: whoever waits for it has to be told. Logs do not show it, nor does JSON. */
export function sayWhose(error: unknown, answer: CallbackAnswer): void {
  if (!(error instanceof Error) || !Object.isExtensible(error)) return;
  for (const [name, value] of Object.entries(answer)) {
    Object.defineProperty(error, name, { value, enumerable: false, configurable: true });
  }
}

/** The parameters of an answer, however it was given. */
export function parametersOf(callback: OAuthCallback): URLSearchParams {
  if (callback instanceof URL) return new URLSearchParams(callback.searchParams);
  const { state, code, iss, error } = callback;
  const given = Object.entries({ state, code, iss, error }).filter(([, value]) => typeof value === "string");
  return new URLSearchParams(given as [string, string][]);
}
