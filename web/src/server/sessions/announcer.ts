/**
 * Events for sessions: refs and sizes, never bytes or scopes.
 * @module
 */
import type { ArtifactRef } from "../../artifacts/store.js";
import { isTruncated } from "../../artifacts/reference.js";
import type { AnswerRef } from "../../core/sluice.js";
import type { ServedSession } from "./session.js";
import type { ServeDeps } from "../deps.js";
import type { EventLog } from "./event-log.js";

/** An event for a session. */
export type SessionEvent =
  | {
      readonly kind: "artifact_stored";
      readonly artifact: PublicRef;
      /** The trace that it was stored under, if any. */
      readonly trace?: string;
    }
  | {
      readonly kind: "observation_clamped";
      /** The tool whose result was clamped. */
      readonly tool: string;
      /** Characters before and after. */
      readonly original_size: number;
      readonly clamped_size: number;
      readonly method: string;
    }
  | { readonly kind: "resource_updated"; readonly namespace: string; readonly uri: string }
  | { readonly kind: "resources_changed"; readonly namespace: string }
  | { readonly kind: "files_changed" }
  /** A person came back from an OAuth provider: what waits for it can continue. */
  | { readonly kind: "consent_answered"; readonly provider: string; readonly given: boolean }
  /** The user has used 80 % of a limit. */
  | (ToldLimit & { readonly kind: "limit_near" })
  /** The user has used all of a limit, or was refused something because of it. */
  | (ToldLimit & { readonly kind: "limit_reached" })
  | { readonly kind: "session_ended" };

interface ToldLimit {
  /** The limit's name, as in `GET usage`. */
  readonly limit: string;
  readonly used: number;
  readonly most: number;
  /** Milliseconds since 1970 when it begins anew, where it does. */
  readonly resets_at?: number;
}

/** Appends events to sessions' channels. Failures are reported and stop nothing, since the event has happened. */
export class Announcer {
  readonly #events: EventLog;
  readonly #report: (error: unknown) => void;

  constructor(events: EventLog, report: (error: unknown) => void) {
    this.#events = events;
    this.#report = report;
  }

  /** Sends an event to a session. Never throws. */
  async tell(session: string, event: SessionEvent): Promise<void> {
    try {
      await this.#events.append(sessionChannel(session), event);
    } catch (error) {
      this.#report(error);
    }
  }

  /** Sends an event for each stored artifact. */
  async stored(session: string, artifacts: readonly ArtifactRef[]): Promise<void> {
    for (const ref of artifacts) {
      const trace = ref.scope.trace_id ?? undefined;
      await this.tell(session, {
        kind: "artifact_stored",
        artifact: publicRef(ref),
        ...(trace !== undefined && { trace }),
      });
    }
  }
}

/** The channel that `GET /events` follows. */
export function sessionChannel(session: string): string {
  return `session ${session}`;
}

/** A reference without its scope. */
export type PublicRef = Omit<ArtifactRef, "scope">;

/** Removes the scope from a reference. */
export function publicRef<T extends Pick<ArtifactRef, "scope">>({ scope: _, ...said }: T): Omit<T, "scope"> {
  return said;
}

export type AnnouncingDeps = Pick<ServeDeps, "state" | "store" | "announcer">;

/**
 * Tells a session what was stored for it. Returns false if the session is over, and deletes what was stored since
 * then. Throws SluiceError E_STORE_….
 */
export async function announced(
  deps: AnnouncingDeps,
  { id }: ServedSession,
  refs: readonly AnswerRef[],
): Promise<boolean> {
  const { state, store, announcer } = deps;
  const kept = refs.filter((ref): ref is ArtifactRef => !isTruncated(ref));
  const own = kept.filter(({ scope }) => scope.session_id === id);
  if ((await state.sessions.find(id)) === null) {
    for (const { id: artifact, scope } of own) await store.delete(artifact, scope);
    return false;
  }
  await announcer.stored(id, own);
  // Artifacts outside of the session are the user's files.
  if (own.length < kept.length) await announcer.tell(id, { kind: "files_changed" });
  return true;
}
