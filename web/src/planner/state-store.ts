/**
 * What outlives a run that waits, and where another process finds it (ToolNode 2.1 "StateStore for Distributed Deployments").
 * @module
 */
import type { BasicArtifactStore } from "../artifacts/basic-store.js";
import type { ArtifactStore } from "../artifacts/store.js";
import type { OAuthStateStore } from "../tools/auth/oauth-state-store.js";

/** Something that happened: a `PlannerEvent`, or an event of the host's own. JSON. */
export interface StateEvent {
  /** What it was. */
  readonly kind: string;
}

/** An event, and when it was saved. */
export interface StoredEvent {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** As it was saved. */
  readonly event: StateEvent;
}

/** Which task of a remote agent works for a trace. */
export interface RemoteBinding {
  /** The trace. */
  readonly trace_id: string;
  /** The conversation, as the remote agent calls it; null where there is none. */
  readonly context_id: string | null;
  /** The task, as the remote agent calls it. */
  readonly task_id: string;
  /** Where the remote agent is. */
  readonly agent_url: string;
}

/** What becomes of a run that is released: it waits again, or there is no more of it. */
export type Released = "wait" | "forget";

/**
 * Keeps runs that wait for a person or go on, requests for consent, what happened in traces, and tasks of remote agents.
 *
 * A run that waits goes on once, though many may want to go on with it and any process may die at any time. Whoever goes on
 * claims it first, under a name that no other has, for some seconds, and claims it again before they are over. One who
 * died does not, and then others may.
 *
 * ```
 *          save ──▶ waits ──claim──▶ claimed ──release "forget"──▶ gone
 *                     ▲                 │  ▲│ claim again or update, by the same owner
 *                     └─release "wait", or the lease is over
 * ```
 *
 * What a store keeps is bounded in number, size and age, see {@link StateStoreOptions}: the oldest make room, those that are
 * claimed last. Tokens, states, owners and ids are strings of 1 to 1,024 UTF-16 units, anything in them. All of what is kept
 * may be secret, and whoever knows a token, a state or an id gets it: whose it is, is the caller's to check.
 *
 * Every method throws SluiceError: E_INVALID_ARGUMENT for what is no such string, or no JSON; E_TOO_LARGE; E_STORE_….
 */
export interface StateStore extends OAuthStateStore {
  /**
   * Keeps a run, in place of what was kept by this token, and claimed by nobody. `payload` is JSON; null: there is nothing to
   * keep any more.
   */
  savePlannerState(token: string, payload: unknown): Promise<void>;
  /** What is kept, claimed or not; null where there is nothing. */
  loadPlannerState(token: string): Promise<unknown>;
  /**
   * Claims a run for so many seconds from now; again, by the same owner, for so many from then on. It is kept at least until
   * they are over. Of claims by several owners at once, over all processes, one is true.
   *
   * @returns false where there is nothing, or another owner's claim still holds.
   */
  claimPlannerState(token: string, owner: string, leaseSeconds: number): Promise<boolean>;
  /**
   * Keeps a claimed run as it is now, in place of what was kept by this token: as long as one that is saved, and claimed as
   * before. `payload` is JSON, and not null.
   *
   * @returns false, and nothing is changed, where this owner's claim does not hold, or not any more.
   */
  updatePlannerState(token: string, owner: string, payload: unknown): Promise<boolean>;
  /**
   * Ends a claim.
   *
   * @returns false, and nothing is changed, where this owner's claim does not hold, or not any more.
   */
  releasePlannerState(token: string, owner: string, then: Released): Promise<boolean>;
  /**
   * Keeps an event, behind those of this trace that were saved before. Those that are too many or too large together for a trace
   * go, the oldest first.
   */
  saveEvent(traceId: string, event: StateEvent): Promise<void>;
  /**
   * The events of a trace, oldest first; none where nothing is kept. One that a store with a larger `maxBytes` saved is left
   * out, and hides no other.
   */
  loadHistory(traceId: string): Promise<readonly StoredEvent[]>;
  /** Keeps a binding, in place of that of the same trace and task. */
  saveRemoteBinding(binding: RemoteBinding): Promise<void>;
  /** The binding of a trace and a task; null where there is none. */
  loadRemoteBinding(traceId: string, taskId: string): Promise<RemoteBinding | null>;
}

/**
 * A store of the host's own, which may lack what it has no use for: without `savePlannerState` and `loadPlannerState`, runs
 * that wait are kept in this process. With these two and no claims, a run goes on once as long as one process asks for it, and
 * one whose process dies is lost.
 */
export interface HostStateStore {
  /** See {@link StateStore}. */
  readonly savePlannerState?: StateStore["savePlannerState"];
  /** See {@link StateStore}. */
  readonly loadPlannerState?: StateStore["loadPlannerState"];
  /** See {@link StateStore}. */
  readonly claimPlannerState?: StateStore["claimPlannerState"];
  /** See {@link StateStore}. Left out: runs are kept where they pause alone, and `RunOptions.token` is refused. */
  readonly updatePlannerState?: StateStore["updatePlannerState"];
  /** See {@link StateStore}. */
  readonly releasePlannerState?: StateStore["releasePlannerState"];
  /** Given what happens in runs whose scope has a trace; see {@link StateStore}. Left out: it is only told. */
  readonly saveEvent?: StateStore["saveEvent"];
  /** Where bytes and large texts go, unless another store is named; see `discoverArtifactStore`. */
  readonly artifactStore?: ArtifactStore | BasicArtifactStore;
}
