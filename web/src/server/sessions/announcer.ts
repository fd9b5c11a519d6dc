/**
 * Events for sessions: refs and sizes, never bytes or scopes.
 * @module
 */
import { z } from "zod";
import type { ArtifactRef, ArtifactStore } from "../../artifacts/store.js";
import { isTruncated } from "../../artifacts/reference.js";
import type { AnswerRef } from "../../core/types.js";
import type { ServedSession } from "../session.js";
import { CLAMPED, CLOSING, defineEvent, nameSchema, REFERENCE, TIME } from "../schemas.js";
import { EVENTS_LOST, type EventLog } from "./event-log.js";
import type { SessionRegister } from "./session-register.js";

const NAMESPACE = z.string().describe("The source.");

const TOLD_LIMIT = {
  limit: z.string().describe("The limit's name, as in `GET usage`."),
  used: z.number(),
  most: z.number().describe("The limit."),
  resets_at: TIME.optional().describe("When it resets, if it does."),
};

/** What happens in a session, as the document describes it. */
export const SESSION_EVENT = nameSchema(
  "SessionEvent",
  z.discriminatedUnion("kind", [
    defineEvent("artifact_stored", "Something was stored.", {
      artifact: REFERENCE,
      trace: z.string().optional().describe("The trace that it was stored under."),
    }),
    defineEvent("observation_clamped", "A result was cut.", {
      tool: z.string().describe("Whose result it was."),
      ...CLAMPED,
    }),
    defineEvent("resource_updated", "A resource that was subscribed to has changed.", {
      namespace: NAMESPACE,
      uri: z.string(),
    }),
    defineEvent("resources_changed", "A source has other resources now.", { namespace: NAMESPACE }),
    defineEvent("files_changed", "The user's files are others now.", {}),
    defineEvent("consent_answered", "A person came back from an OAuth provider: what waits for it can continue.", {
      provider: z.string(),
      given: z.boolean().describe("Whether access was given."),
    }),
    defineEvent("limit_near", "The user has used 80 % of a limit.", TOLD_LIMIT),
    defineEvent(
      "limit_reached",
      "The user has used all of a limit, or was refused something because of it.",
      TOLD_LIMIT,
    ),
    defineEvent("session_ended", "The last one.", {}),
    CLOSING,
    defineEvent(
      EVENTS_LOST.kind,
      "The first one: some missed events are no longer kept. Fetch again what you need.",
      {},
    ),
  ]),
);

/** An event for a session. */
export type SessionEvent = Exclude<z.output<typeof SESSION_EVENT>, typeof EVENTS_LOST>;

/** Appends events to sessions' channels. Failures are reported and stop nothing, since the event has happened. */
export class Announcer {
  readonly #events: EventLog;
  readonly #report: (error: unknown) => void;

  constructor(events: EventLog, report: (error: unknown) => void) {
    this.#events = events;
    this.#report = report;
  }

  /** Sends an event to a session. Never throws. */
  async tell(session: string, told: SessionEvent): Promise<void> {
    try {
      await this.#events.append(sessionChannel(session), told);
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

/** What is needed to announce what was stored, and to delete it if the session is over. */
export interface AnnouncingDeps {
  readonly state: { readonly sessions: Pick<SessionRegister, "find"> };
  readonly store: Pick<ArtifactStore, "delete">;
  readonly announcer: Pick<Announcer, "stored" | "tell">;
}

/**
 * Tells a session what was stored for it. Returns false if the session is over, and deletes what was stored since
 * then. Throws SluiceError E_STORE_….
 */
export async function announceStored(
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
