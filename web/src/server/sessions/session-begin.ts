/**
 * Begins sessions, whatever their users come with.
 * @module
 */
import { userKey } from "../../tools/auth/token-store.js";
import { rateRefused } from "../http/refusals.js";
import { ownerOf, type Identity, type ServedSession } from "./session.js";
import type { ServeLimits } from "../options.js";
import type { Readiness } from "../readiness.js";
import type { ServeState } from "../state.js";
import type { UserUsage } from "../usage/user-usage.js";

/** What is needed to begin a session. */
export interface BeginDeps {
  readonly state: Pick<ServeState, "rates" | "sessions">;
  readonly limits: Pick<Required<ServeLimits>, "sessionsPerMinute">;
  readonly readiness: Pick<Readiness, "unlessAway">;
  readonly usage: Pick<UserUsage, "limits" | "sessionsReached" | "sessionBegun">;
}

const MINUTE = 60;

/** Counts a session that is to begin. The response, if its user begins too many in a minute. */
export async function beginRefusal(identity: Identity, { state, limits }: BeginDeps): Promise<Response | null> {
  const key = `begin ${userKey({ scope: ownerOf(identity) })}`;
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
