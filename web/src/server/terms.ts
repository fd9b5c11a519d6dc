/**
 * What the routes of a server are made of.
 * @module
 */
import type { Context } from "hono";
import type { ArtifactStore } from "../artifacts/store.js";
import type { Announcer } from "./events/announcer.js";
import type { HostGuard } from "./http/host-guard.js";
import type { ServeLimits } from "./options.js";
import type { SeenArtifacts } from "./seen-artifacts.js";
import type { SessionTokens } from "./sessions/session-token.js";
import type { Authenticate, ServedSession } from "./sessions/session.js";
import type { ServeState } from "./state.js";

/** What all routes share. */
export interface ServeTerms {
  /** Within retention. */
  readonly store: ArtifactStore;
  readonly state: ServeState;
  readonly limits: Required<ServeLimits>;
  /** Begins and ends with `/`. */
  readonly base: string;
  readonly hosts: HostGuard;
  readonly tokens: SessionTokens;
  readonly authenticate: Authenticate;
  readonly seen: SeenArtifacts;
  /** Tells sessions what happened. */
  readonly announcer: Announcer;
  /** Told what nobody who asks is told. Never throws. */
  readonly report: (error: unknown) => void;
  /** Aborted when the server is closed. */
  readonly over: AbortSignal;
}

/** What a request brings with it. */
export interface ServeEnv {
  Variables: { session: ServedSession };
}

/** A request within a session. */
export type InSession = Context<ServeEnv>;
