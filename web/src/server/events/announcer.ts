/**
 * Tells sessions what happened: refs and sizes, never bytes, and no scope.
 * @module
 */
import type { ArtifactRef } from "../../artifacts/store.js";
import { isTruncated } from "../../artifacts/reference.js";
import type { AnswerRef } from "../../core/sluice.js";
import type { ServedSession } from "../sessions/session.js";
import type { ServeDeps } from "../deps.js";
import type { EventLog } from "./event-log.js";

/** What a session is told of. */
export type SessionEvent =
  | {
      readonly kind: "artifact_stored";
      readonly artifact: PublicRef;
      /** What it was stored under; left out where under none. */
      readonly trace?: string;
    }
  | {
      readonly kind: "observation_clamped";
      /** Whose result it is. */
      readonly tool: string;
      /** Characters before and after. */
      readonly original_size: number;
      readonly clamped_size: number;
      readonly method: string;
    }
  | { readonly kind: "resource_updated"; readonly namespace: string; readonly uri: string }
  | { readonly kind: "resources_changed"; readonly namespace: string }
  | { readonly kind: "files_changed" }
  /** A person came back from a provider that was asked for consent: what waits for it can go on. */
  | { readonly kind: "consent_answered"; readonly provider: string; readonly given: boolean }
  | { readonly kind: "session_ended" };

/** Appends to sessions' channels. What cannot be told is reported, and stops nothing: what it is about has happened. */
export class Announcer {
  readonly #events: EventLog;
  readonly #report: (error: unknown) => void;

  constructor(events: EventLog, report: (error: unknown) => void) {
    this.#events = events;
    this.#report = report;
  }

  /** Tells one session. Never throws. */
  async tell(session: string, event: SessionEvent): Promise<void> {
    try {
      await this.#events.append(sessionChannel(session), event);
    } catch (error) {
      this.#report(error);
    }
  }

  /** That something was stored. */
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

/** The reference, and what else stands beside it, without the scope. */
export function publicRef<T extends Pick<ArtifactRef, "scope">>({ scope: _, ...said }: T): Omit<T, "scope"> {
  return said;
}

/** What announcing works with. */
export type AnnouncingDeps = Pick<ServeDeps, "state" | "store" | "announcer">;

/**
 * Tells a session what was stored for it. False where it is over, in whichever process it ended: what was not there to be deleted
 * then is deleted now. Throws SluiceError E_STORE_….
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
  // The user's files outlive the session.
  if (own.length < kept.length) await announcer.tell(id, { kind: "files_changed" });
  return true;
}
