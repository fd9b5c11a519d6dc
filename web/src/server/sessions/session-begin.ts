/**
 * Begins sessions, whatever their users come with.
 * @module
 */
import { userKey } from "../../tools/auth/token-store.js";
import { rateRefused } from "../http/refusals.js";
import { toOwner, type Identity, type ServedSession } from "../session.js";
import type { Readiness } from "../http/readiness.js";
import type { RateLimit } from "../http/rate-limit.js";
import type { SessionRegister } from "./session-register.js";

/** What is needed to begin a session. */
export interface BeginDeps {
  readonly state: { readonly rates: RateLimit; readonly sessions: Pick<SessionRegister, "begin" | "find"> };
  readonly limits: { readonly sessionsPerMinute: number };
  readonly readiness: Pick<Readiness, "unlessAway">;
  /** Holds users to their limits. */
  readonly usage: {
    readonly limits: { readonly sessions?: number };
    sessionsReached(identity: Identity): Promise<Error>;
    sessionBegun(identity: Identity, isRefused: boolean): Promise<void>;
  };
}

const MINUTE = 60;

/** Counts a session that is to begin. The response, if its user begins too many in a minute. */
export async function beginRefusal(identity: Identity, { state, limits }: BeginDeps): Promise<Response | null> {
  const key = `begin ${userKey({ scope: toOwner(identity) })}`;
  const rate = await state.rates.take(key, limits.sessionsPerMinute, MINUTE);
  return rate.ok ? null : rateRefused(rate.retryAfterSeconds);
}

/**
 * Stores a session, or the new end of one that lives.
 *
 * @throws UserLimitReached if its user has too many; SluiceError E_STORE_….
 */
export async function beginSession(session: ServedSession, { state, readiness, usage }: BeginDeps): Promise<void> {
  const begun = state.sessions.begin(session, usage.limits.sessions);
  if (!(await readiness.unlessAway("state", begun))) throw await usage.sessionsReached(session.identity);
  await usage.sessionBegun(session.identity, false);
}
