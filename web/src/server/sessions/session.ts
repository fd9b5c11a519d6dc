/**
 * A session: whose everything is that one client sees.
 * @module
 */
import { MAX_SCOPE_FIELD, type FullScope } from "../../artifacts/scope.js";
import { SluiceError } from "../../errors/error.js";
import { inTime } from "../http/time-limit.js";
import type { ServeDeps } from "../deps.js";
import { MAX_TRACES } from "./session-register.js";

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

/** What a session sees and stores: with a trace, one of its runs. */
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

/** The sentence. */
export const OVER = "The session is over: begin another one.";

/** E_SESSION. */
export function sessionOver(): SluiceError {
  return new SluiceError("E_SESSION", OVER);
}

/** Whether an error says that. */
export function isSessionOver(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "E_SESSION";
}

/** Milliseconds that a host's own authentication may take. */
const AUTHENTICATION = 30_000;

/**
 * Who sends a request, as the host says; null for nobody. Whoever is asked may fail, or hang: that is no reason to let anybody in.
 *
 * @throws SluiceError E_STORE_READ where it cannot be found out.
 */
export async function identityOf(
  request: Request,
  { authenticate }: Pick<ServeDeps, "authenticate">,
): Promise<Identity | null> {
  const asked = async (): Promise<Identity | null> => authenticate(request);
  try {
    const identity = await inTime(asked(), AUTHENTICATION, () => new Error("authenticate does not answer."));
    if (identity === null || isIdentity(identity)) return identity;
    throw new TypeError("authenticate must give an identity with a user_id of 1 to 1,024 characters, or null.");
  } catch (error) {
    const message = "Who you are cannot be found out at the moment: try again.";
    throw new SluiceError("E_STORE_READ", message, {}, { cause: error });
  }
}

function isIdentity({ user_id, tenant_id }: Identity): boolean {
  return isName(user_id) && user_id !== "" && ((tenant_id ?? null) === null || isName(tenant_id));
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value.length <= MAX_SCOPE_FIELD;
}

/** Notes a trace that something may be stored under; null is none. Throws SluiceError E_STORE_FULL where there are too many. */
export async function noteTrace(
  { id }: ServedSession,
  trace: string | null,
  { state }: Pick<ServeDeps, "state">,
): Promise<void> {
  if (trace === null || (await state.sessions.addTrace(id, trace))) return;
  const sentence = `A session has at most ${MAX_TRACES} traces: begin another session.`;
  throw new SluiceError("E_STORE_FULL", sentence, { path: "trace" });
}
