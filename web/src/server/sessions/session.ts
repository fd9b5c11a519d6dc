/**
 * A session: whose everything is that one client sees.
 * @module
 */
import type { FullScope } from "../../artifacts/scope.js";

/** Who somebody is, as the host's own authentication says. */
export interface Identity {
  /** The person, or whoever stands for one: 1 to 1,024 characters. */
  readonly user_id: string;
  /** The organisation, where there are several. */
  readonly tenant_id?: string | null;
}

/** Says who sends a request; null for nobody. What it throws is answered with 503, and told to nobody. */
export type Authenticate = (request: Request) => Identity | null | Promise<Identity | null>;

/** One session, from its beginning until it ends or its time is over. */
export interface ServedSession {
  /** Its name in addresses: no secret, and no use without its token. */
  readonly id: string;
  /** Who began it. */
  readonly identity: Identity;
  /** Milliseconds since 1970. */
  readonly begun_at: number;
  /** Milliseconds since 1970. */
  readonly expires_at: number;
}

/** What a session sees and stores: with a trace, one of its runs (RFC 0.3 §7.2). */
export function scopeOf({ id, identity }: ServedSession, trace: string | null = null): FullScope {
  return { ...ownerOf(identity), session_id: id, trace_id: trace };
}

/** What outlives sessions: a user's files and tokens. */
export function ownerOf({ user_id, tenant_id = null }: Identity): FullScope {
  return { tenant_id, user_id, session_id: null, trace_id: null };
}

/** Whether two are the same one. */
export function sameIdentity(left: Identity, right: Identity): boolean {
  return left.user_id === right.user_id && (left.tenant_id ?? null) === (right.tenant_id ?? null);
}
