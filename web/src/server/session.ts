/**
 * Sessions: who a client is, and which artifacts it sees.
 * @module
 */
import type { FullScope } from "../artifacts/scope.js";
import { SluiceError } from "../errors/error.js";

/** A user, as the host's authentication identifies them. */
export interface Identity {
  /** The user's id, 1 to 1,024 characters. */
  readonly user_id: string;
  /** The organisation, if there are several. */
  readonly tenant_id?: string | null;
}

/** Identifies the sender of a request, or returns null. If it throws, the request gets 503 without details. */
export type Authenticate = (request: Request) => Identity | null | Promise<Identity | null>;

/** One session. */
export interface ServedSession {
  /** Its id in addresses. Not a secret: it is useless without the token. */
  readonly id: string;
  /** The user who started it. */
  readonly identity: Identity;
  /** Milliseconds since 1970. */
  readonly begun_at: number;
  /** Milliseconds since 1970. */
  readonly expires_at: number;
}

/** The scope of a session, or of one of its traces. */
export function toScope({ id, identity }: ServedSession, trace: string | null = null): FullScope {
  return { ...toOwner(identity), session_id: id, trace_id: trace };
}

/** The scope of what outlives sessions: a user's files and tokens. */
export function toOwner({ user_id, tenant_id = null }: Identity): FullScope {
  return { tenant_id, user_id, session_id: null, trace_id: null };
}

/** Whether two identities are the same user. */
export function sameIdentity(left: Identity, right: Identity): boolean {
  return left.user_id === right.user_id && (left.tenant_id ?? null) === (right.tenant_id ?? null);
}

/** Tells that a session is over. */
export const OVER = "The session has ended: start another one.";

/** The error for a session that is over. */
export function sessionOver(): SluiceError {
  return new SluiceError("E_SESSION", OVER);
}

/** Whether an error says that the session is over. */
export function isSessionOver(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "E_SESSION";
}
